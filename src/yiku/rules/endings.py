"""
Events that end a state, in both languages: what dies, is sold or cancelled is over, and who is discharged is home.

`ENDS` are words beside which a thing is named («sold the Volvo»): what was said of that thing may be over. `STATES` are
events that end a state without naming it: how the event is told, by which words its statement is looked up, how the
state is told.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re

ENDS = re.compile(
    r"\b(?:died|passed away|put (?:him|her|it) (?:down|to sleep)|buried|(?:was|been|got) stolen|sold|gave away|got rid of|thrown? (?:out|away)|threw|scrapped|totalled|dropped out|dropped|pulled out|called off|call(?:ed)? it off|cancel(?:l?ed)?|axed|shelved|discontinued|shut (?:it |them )?down|closed (?:down|for good)|turned off|switched off|turned .{1,20} off|decommissioned|retired|resigned|fired|laid off|let go|split(?: up)?|broke up|broken up|divorced|moved out|expired|returned|handed (?:over|in|back)|stepped down|withdrew|withdrawn|quit|gave up|given up|is gone|are gone|is over|has ended|ended|bankrupt|bust|done with|for good|graduated|discharged|demolished|torn down|lapsed|folded|finished|wrapped up|deleted|uninstalled|unsubscribed|passed|swapped|traded|replaced|left|merged into|migrated off|moved off|moved away)\b"
    r"|去世|过世|病逝|没了|不在了|走丢|丢了|弄丢|被偷|卖了|卖掉|卖给|出手了|送人|送给|扔了|报废|退役|离职|辞职|辞了|被裁|解雇|开除|开了|分手|离婚|散伙|取消|砍了|砍掉|被砍|黄了|停了|停产|停用|下线|下架|关停|关门|倒闭|关了|拆了|退了|退掉|退租|退学|退休|毕业|交接|转让|出院|搬走|搬出|老家|注销|到期|过期|结束|解散|戒了|不干了|卸了|卸载|结清|撤了|换掉|淘汰|转岗|调走|去了",
    re.ASCII,
)

# The event; the words of the state that are looked up; how the state is told.
STATES: tuple[tuple[re.Pattern[str], tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (re.compile(event), tuple(words.split()), re.compile(state))
    for event, words, state in (
        (
            r"\b(?:graduated|diploma|defended my thesis|got my degree|handed in my (?:thesis|dissertation)|dropped out|hooding|convocation|commencement)\b|毕业[了证]|拿到.{0,4}(?:毕业|学位)证|退学",
            "student studi univers degre thesi dissert colleg campu dorm 大学 学生 在读 研究 宿舍 专业 大三 大四 研二 研三 博士 硕士 学的",
            r"\b(?:student|studying|study|degree|thesis|dissertation|dorm|(?:first|second|third|final)[- ]year)\b|在读|大[一二三四]|研[一二三]|学生|宿舍|念书|读博|读研|上大学",
        ),
        (
            r"\b(?:i|we)(?:'ve| have)? (?:just |finally |recently )*(?:quit|resigned|left (?:the company|my job|work)|got fired|was (?:fired|laid off|let go)|got laid off|retired|handed in my (?:notice|badge|laptop|key ?card|locker key))\b|\b(?:leaving (?:party|do|drinks)|my (?:farewell|last shift))\b|欢送会|散伙饭|交了?工牌|\bmy last day at (?:work|the)\b|\b(?:new job|first day at (?:work|my new|the new))\b|我.{0,6}(?:离职|辞职|被裁|退休|跳槽|失业|入职)",
            "work job compani employ boss offic 上班 工作 公司 任职 老板 同事",
            r"\b(?:i|i'm|my) .{0,12}(?:work(?:ing)? (?:at|for|as)|job\b|employer|boss\b)|我.{0,8}(?:上班|工作|任职|公司)",
        ),
        (
            r"\b(?:discharged|out of (?:the )?hospital|home from (?:the )?hospital|cast (?:is|came) off|cast off|stitches (?:are|came) out|recovered|healed|all clear|off (?:the )?crutches|own bed|back home from|(?:sawed|took|cut) (?:that|the|my) (?:cast|plaster) off|(?:cast|plaster) (?:is |came |finally )*off|ran (?:a|my) (?:\d|half|full)|fever(?:'s| is| has)? (?:gone|broken?))\b|出院|痊愈|康复了|病好了|感冒好了|拆线|[拆锯]石膏|石膏.{0,2}[拆锯摘卸]|自己的床|跑了.{1,4}公里|自己走|退烧",
            "hospit ward broken broke sprain flu cold ill sick cast crutch fever surgeri 住院 医院 病房 骨折 感冒 发烧 石膏 扭伤 病床 床位",
            r"\b(?:hospital|ward|broken|sprained|flu|crutches|fever|ill|sick|in a cast)\b|住院|病房|骨折|感冒|发烧|石膏|扭伤|住着|躺在",
        ),
        (
            r"\b(?:bought|closed on|got the keys to|moved into) (?:a|an|our|my)(?: own| first| new)? (?:house|home|flat|apartment|place|condo)\b|\bown (?:house|home|flat|place)\b|\bfirst mortgage payment\b|房产证|新家第一晚|\bend of the (?:lease|tenancy)\b|\b(?:moved out|gave up the lease|handed back the keys)\b|买(?:了|下)?.{0,6}房|房子买|退租|搬出|搬进.{0,4}(?:新|自己)|交房[了，]",
            "rent landlord lease tenant tenanc 房租 租房 房东 租的 租了 合租 出租",
            r"\b(?:rent|renting|landlord|landlady|lease|tenant)\b|租|房东",
        ),
        (
            r"\b(?:got married|we're married|married (?:last|on|in|at)|our wedding was|tied the knot|newlyweds|honeymoon|confetti|(?:said |say )?our vows)\b|蜜月|喜糖|领了?证|结婚证|结婚了|办了?婚礼|登记结婚",
            "boyfriend girlfriend fianc fiance engag date singl 男友 女友 男朋 女朋 朋友 单身 恋爱 对象 订婚 未婚",
            r"\b(?:boyfriend|girlfriend|fiancee?|engaged|dating|single|seeing)\b|男友|女友|男朋友|女朋友|单身|恋爱|对象|订婚|未婚",
        ),
        (
            r"\b(?:split up|broke up|broken up|we're over|divorced?|separated|called off the (?:wedding|engagement)|single again)\b|分手|离婚|分开了|掰了|恢复单身|退婚",
            "boyfriend girlfriend fianc husband wife partner marri engag date 男友 女友 男朋 女朋 老公 老婆 丈夫 妻子 恋爱 结婚 对象 订婚",
            r"\b(?:boyfriend|girlfriend|fiancee?|husband|wife|partner|married|engaged|dating|seeing)\b|男友|女友|男朋友|女朋友|老公|老婆|丈夫|妻子|恋爱|结婚|对象|订婚",
        ),
        (
            r"\b(?:gave birth|baby (?:is here|arrived|was born|came)|(?:he|she|they|our \w+) (?:was|were) born|welcomed (?:our|a) (?:baby|daughter|son))\b|\bhere\b.{0,12}\bborn\b|\bborn (?:at \d|this morning|last night|yesterday|today)|\b(?:newborn|night feeds?|breastfeed\w*|napp(?:y|ies) changes?)\b|坐月子|夜奶|喂奶|顺产|母[子女]平安|出生了|生了(?!病|气)|卸货",
            "pregnant expect due trimest 怀孕 预产 孕期 待产",
            r"\b(?:pregnant|expecting|due (?:in|on)|trimester)\b|怀孕|预产期|待产|[几个]月孕",
        ),
        (
            r"\b(?:smoke[- ]free|without a (?:single )?(?:cigarette|smoke|drink)|sober|haven't (?:smoked|had a (?:cigarette|drink|smoke))|quit smoking|stopped smoking|last cigarette|nicotine[- ]free|off the (?:booze|cigarettes))\b|戒烟|戒酒|戒了|没(?:再)?(?:碰|抽|喝)过?.{0,2}(?:烟|酒)|滴酒不沾",
            "smoke cigarett drink beer wine whiski alcohol 抽烟 吸烟 喝酒 烟瘾 包烟 香烟 一包 白酒",
            r"\b(?:smok\w+|cigarettes?|drink|beers?|wine|whisky|vape)\b|烟|酒",
        ),
        (
            r"\b(?:sold|gave (?:up|away)|handed over) (?:all )?(?:the|our|my|his|her|their) (?:herd|flock|farm|land|orchard|fields?|allotment|goats|cows|sheep|hens|bees|hives)\b|(?:园|地|田|林|塘|农场|养殖场|羊|牛|猪|鸡)[^,，。]{0,6}(?:转给|转让|包出去|流转|卖给|租出去)|[一]?[棵亩头只]没留|不种了|不养了",
            "grow keep rais farm herd flock goat cow sheep hen bee hive orchard acr 种着 种了 养着 养了 三亩 两亩 几亩 五亩 十亩 亩地 亩田",
            r"\b(?:grows?|keeps?|raises?|farms?|herd|flock|acres?)\b|[种养]|亩",
        ),
        (
            r"\b(?:adopted|got|have|brought home) an? (?:new )?(?:puppy|kitten|cat|dog|rabbit|hamster|parrot|bunny|goldfish|tortoise)\b(?! \w+ to\b)|(?:领养|养|抱|买)了?(?:一|两)?[只条]小?(?:猫|狗|兔|鸟|仓鼠|鹦鹉|乌龟)",
            "pet anim 宠物 没养 不养",
            r"\b(?:no|don't (?:have|own|keep) (?:any )?) ?(?:pets|animals)\b|[没不]养.{0,3}(?:宠物|猫|狗)|没有宠物",
        ),
        (
            r"\b(?:passed (?:my|the) (?:driving|road) test|got my (?:driving )?licen[cs]e|tore up the l[- ]plates)\b|\bdrove (?:\w+ ){0,3}(?:alone|by myself|on my own)\b|小本本|(?:一个人|自己)开车?上?高速|拿到?驾[照驶本]|驾照(?:到手|拿到|考下来)|科目四过",
            "drive learn lesson instructor provision permit 驾照 科三 科目 驾校 学车 科目 练车 教练",
            r"\b(?:learning to drive|driving lessons?|driving instructor|learner|lessons?|provisional)\b|驾校|学车|练车|科[目三]|考驾照",
        ),
        (
            r"\b(?:invoice|receipt|paid|pay|upgraded|subscribed)\b.{0,40}\b(?:pro|premium|plus|full year|annual|paid plan)\b|(?:开通|升级|买|续|充)了?.{0,8}(?:会员|专业版|年费|正式版|pro|vip)",
            "trial free 试用 免费",
            r"\bfree (?:trial|plan|tier|version|account)\b|\btrial\b|试用|免费版",
        ),
        (
            r"\b(?:passed (?:the|my) (?:\w+ ){0,2}exams?|(?:certificate|diploma) (?:came|arrived))\b|证书?.{0,2}(?:寄到|到手|下来|拿到)|考过了|上岸",
            "exam studi revis prepar 备考 考试 准备 刷题",
            r"\b(?:studying|revising|preparing|cramming) for\b|备考|准备.{0,8}考|刷题",
        ),
        (
            r"\b(?:paid off|last (?:instal+ment|payment)|debt[- ]free|mortgage[- ]free)\b|\b(?:loan|mortgage|debt|overdraft)\b.{0,30}\b(?:cleared|zero|nil|gone)\b|\bbalance on (?:the|my|our) (?:car|loan|mortgage|card|house)\b.{0,14}\b(?:zero|nil)\b|还清|还完|无债|(?:贷|欠款|借款|分期|花呗).{0,6}(?:清零|归零|为零|清了|结清)",
            "mortgag loan debt owe instal 贷款 房贷 车贷 欠款 还款 借了 信用",
            r"\b(?:mortgage|loan|debt|owe|instal+ments?)\b|贷|欠|还款|分期|借了",
        ),
        (
            r"\b(?:elected|took over|takes over|handed (?:over|the)|stepped down|new (?:chair|treasurer|captain|secretary|president|lead))\b|当选|接任|接手|卸任|交接|接班|换届",
            "chair treasur captain secretari presid lead coach head 主席 会长 队长 组长 班长 负责 会计 主任 财务",
            r"\b(?:chair\w*|treasurer|captain|secretary|president|lead\w*|coach|head of|in charge)\b|主席|会长|队长|组长|班长|负责|会计|主任|财务",
        ),
        (
            r"\b(?:first day (?:at|of) (?:school|kindergarten|primary|secondary|high school|uni\w*|college)|started (?:school|kindergarten|primary|high school|uni\w*|college)|first day at)\b|升(?:入|上|学)|上小学了|入学|开学第一天|转学",
            "school kindergarten nurseri primari grade preschool 幼儿 小学 初中 高中 年级 大班 学校",
            r"\b(?:school|kindergarten|nursery|primary|grade|preschool|year \d)\b|幼儿园|小学|初中|高中|年级|大班|中班",
        ),
        (
            r"\bmy (?:girlfriend|boyfriend|fianc[ée]e?|husband|wife)\b|我(?:男|女)(?:朋友|友)|我(?:老公|老婆|对象)|(?:有了?|谈了?个?)(?:男|女)朋友|脱单",
            "singl 单身",
            r"\bsingle\b|单身",
        ),
        (
            r"\b(?:fully remote|work(?:ing)? (?:remotely|from home)|no commute|home office)\b|居家办公|远程办公|在家办公|在家上班|不用通勤",
            "commut offic 通勤 坐班 办公 上班",
            r"\b(?:commut\w+|(?:to|in|at|from) the office)\b|通勤|坐班|办公室|公司上班",
        ),
        (
            r"\b(?:(?:am|is|are|was|were|been|got) (?:made permanent|promoted)|permanent (?:contract|position|job)|passed (?:my )?probation)\b|转正|试用期过|正式员工|升职|晋升",
            "intern probat junior traine 实习 试用 见习 学徒",
            r"\b(?:intern|probation|junior|trainee|apprentice)\b|实习|试用期|见习|学徒",
        ),
        (
            r"\bmov(?:ed|es|ing) in with\b|\blives? with (?:us|me)\b|接来|接到我|一起住|同居|搬来(?:和|跟|与)",
            "alon live 一个 独居 自己",
            r"\b(?:lives?|living) (?:alone|by (?:my|him|her)self|on (?:my|his|her) own)\b|一个人住|独居|自己住",
        ),
        (
            r"\b(?:my|our) (?:baby|son|daughter|newborn|little one)\b|\bbecame a (?:dad|mum|mom|father|mother|parent)\b|(?:我们?|我家)?(?:女儿|儿子|宝宝|孩子).{0,3}(?:满月|百天|出生)|当(?:爸|妈)",
            "kid child children 孩子 小孩 丁克 未育",
            r"\b(?:no|don't have (?:any )?) ?(?:kids|children)\b|没有?(?:孩子|小孩)|丁克|未育",
        ),
    )
)
