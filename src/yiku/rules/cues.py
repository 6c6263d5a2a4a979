"""
What a sentence says beside its statement: that it was so once, may be so, corrects, changes, or takes back.

Patterns over folded text, data only; rules/slots.py, rules/retract.py and the flows read with them.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re
from functools import cache

compiled = cache(re.compile)  # there are more patterns here than `re` remembers

# ------------------------------------------------------------------ when it held

_ONCE = r"(?:was|were|had|lived|worked|drove|used|played|owned|studied|ran|did|ate|drank|smoked|kept|wore|went|liked|loved|hated|spoke|taught|rented|called|named)"
# It was so, and no more. A verb of change («two years ago I moved») is none of it: what it led to holds still.
_CHANGED = r"(?!moved|joined|switched|started|changed|decided|upgraded|migrated|replaced|renamed|turned|needed|wanted|corrected|updated|confirmed|asked|noticed|finished|booked|ordered|passed|received|arrived|married)"
_DID = rf"(?:{_ONCE[3:-1]}|{_CHANGED}[a-z]{{2,}}ed)"
_THEN = r"(?:back then|in those days|at the time|as a (?:child|kid|student|teen\w*|boy|girl)|when (?:i|he|she|we|they) (?:was|were)|growing up|at school|in school|in my (?:youth|childhood|teens|twenties|thirties)|previously|formerly|in the past)"
# A state, told in the past tense; «was born», «were founded» tell of an event, and «have lived» of today.
_STATE = (
    r"(?:(?<!have )(?<!has )(?<!'ve )(?<!'s )(?<!\bnot )(?<!ly )(?:lived|worked|drove|used|played|owned|studied|ran|ate|drank|smoked|kept|wore|liked|loved|hated|spoke|taught|rented|weighed|cost|earned|rode|sang|shared|commuted|managed|slept|knew|hosted|deployed|trained|swam|coached|belonged|paid|charged|stayed|attended|shopped|cooked|traveled|travelled|cycled|sold|grew|wrote|took|went|did|served|reported|carried|lasted|called|(?:sat|stood|hung)(?= (?:in|on|at|under|behind|next)\b))"
    r"|(?:was|were)(?! (?:\w+ed|born|built|made|bought|given|told|sent|hit|cut|put|set|written|taken|going|about|n't)\b| (?:the|my|an?) \w+(?: \w+)? (?:that |who )?(?:i|we|they|he|she) [a-z]+ed\b)|had(?! (?:an? |our |my |the )?(?:\w+ )?(?:baby|child|son|daughter|kid|surgery|operation|accident|stroke|to|been|better)\b))"
)
# The time of that state, which is over.
_OVER_THEN = (
    r"(?:(?:when|while|before) (?:(?!i'm\b|we're\b)[\w']+ ){1,4}(?:was|were|had)\b|in (?:19|20)\d\d\b|in the (?:\w+ties|(?:19|20)?\d0s)\b|in (?:my|his|her|our|their) (?:\w+ties|teens|youth|childhood|(?:\w+ )?days)\b"
    r"|during (?:(?:my|the|our|his|her) )?(?:\w+ )?(?:pandemic|lockdown|covid|war|pregnancy|studies|apprenticeship|college|uni|university|school|training|phd|internship|crisis|marriage|holidays|season)\b|(?:at|in) my (?:old|last|previous|former|first) \w+"
    r"|before (?:the )?(?:merger|move|pandemic|war|kids|children|baby|twins|wedding|divorce|accident|surgery|operation|migration|rewrite|upgrade|renovation|crash|reorg|switch|lockdown|covid)\b|(?:until|till) (?:last \w+|recently|(?:19|20)\d\d|the \w+)\b|(?:years|decades|ages) ago\b|last (?:year|season|semester|term|spring|summer|autumn|winter)\b|for (?:\w+ ){0,3}(?:years|decades)\b(?! now\b))"
)
# What divides a life, or that of a system, into before and after.
_ZH_TURN = "生孩子|生娃|结婚|怀孕|毕业|搬家|搬来|搬过来|换工作|跳槽|退休|手术|减肥|生病|疫情|上大学|当妈|当爸|升级|改版|重构|迁移|上云|装修"
PAST = (
    rf"\b{_DID}\b.{{0,80}}\b{_THEN}\b|\b{_THEN}\b.{{0,80}}\b{_DID}\b|"
    rf"\b{_STATE}\b[^.;!]{{0,80}}\b{_OVER_THEN}|\b{_OVER_THEN}[^.;!]{{0,60}}\b{_STATE}\b|"
    rf"\bused to (?!it\b|that\b|this\b|the\b|him\b|her\b|them\b)|\bformerly\b|\bback (?:in|when|then)\b(?=.*\b{_ONCE}\b)|\bbefore (?:that|this|then)\b(?=.*\b{_ONCE}\b)|\b{_ONCE}\b.*\bbefore (?:that|then)\b"
    rf"|\bin (?:those days|the past|my (?:youth|childhood|twenties|thirties|teens))\b(?=.*\b{_ONCE}\b)|\b(?:as a|when i was a|when (?:i|he|she|we|they) (?:was|were)) (?:kid|child|student|teen\w*|boy|girl|little|young\w*|small|at (?:school|uni\w*|college)|in)?\b.*\b{_ONCE}\b"
    rf"|\bin (?:college|high school|school|uni|university|primary school|kindergarten)\b,? .*\b(?:was|were|had)\b|\b(?:at|in) (?:uni|university|college|(?:high|grad|art|med|law) school)\b,? (?:i|we|he|she|they|(?:my|our|his|her) \w+) (?:always |mostly |only |just )?{_DID}\b|\bonce (?:lived|worked|had|owned|was)\b|\b(?:was|were) (?:once )?\w+(?: once)? before\b"
    rf"|(?:^|[,;] ?)(?:(?:many|some|a few|several|two|three|four|five|ten|twenty|\d+) )?(?:years|decades|ages) ago,? .{{0,30}}\b{_DID}\b|\b(?:was|were|had)\b.{{0,60}}\b(?:till|until) (?:last|recently|then|\d{{4}}|(?:i|we|he|she|they) )"
    r"|\bhad been\b|\b(?:previously|at first|originally|in the early days|in the beginning|when we (?:started|began)|last year)\b,? .*\b(?:was|were|had|used)\b|\b(?:my|our|his|her|the) (?:old|former|first|previous|ex)\b.{0,40}\b(?:was|were|had)\b|^(?:in|until) (?:19|20)\d\d\b.*\b(?:was|were|lived|worked|had)\b"
    rf"|\b(?:in|during) my \w+ days\b(?=.*\b(?:{_ONCE[3:-1]}|got|woke|slept|came)\b)|\b(?:was|were|had)\b.{{0,40}}\b(?:before|until|till) (?:19|20)\d\d\b|^before (?:the|my|that|i|we)\b.*\b{_DID}\b|\b{_DID}\b.{{0,40}}\bfor .{{1,12}} (?:years|months) before\b|\b(?:was|were|had)\b.{{0,30}}\bonce\b(?! (?:a|per|every) )|^when (?:i|we|he|she|they) (?:got|bought|adopted|moved|first|started)\b.{{0,60}}\b(?:was|were) (?:called|named)\b"
    r"|(?:^|[,，])(?![^,，。]*[到至])[^,，。]{1,8}(?<![以之目提])前(?:我|他|她|我们|它)?(?:才|都|还|一直|只)|(?:那|这)几年|那阵子|(?:\d+|[一二两三四五六七八九十几]+)(?:多|来)?年前(?=.{0,2}(?:是|在|叫|卖|住|用|做|还|都|我|他|她))|头[一两三几]年|刚.{1,8}那(?:几年|会儿|时候|阵子)|之前(?=在|是)(?!.*(?:现在|如今|改))(?=.*(?:干了|做了|待了|住了))"
    r"|以前|从前|曾经?(?=在|是|住|有|用|当|做|叫|养|喜欢|学)|曾经|(?<![走跑骑开坐赶送搬拿飞转寄绕爬带抱扫挪跳])过去(?=我|他|她|的|几年|用|是|住|在)|当年(?!的合同)|小时候|童年|那会儿|那时候|早[些几]?年|前[些几]年|年轻的?时候|(?:最早|最初|一开始|起初)(?=.*(?:是|用|在|叫|写|只|才|那版))|原先|原来(?=我?们?(?:住|在|用|是|叫|公司|做))|之前(?=.{0,6}(?:在|住|用的|用|当|做|是|叫|养)(?!.*(?:记错|说错|打错|写错|弄错)))(?!.*(?:错|反了|[记搞弄看写][串混岔反]))(?!那[个条句次])"
    rf"|\bin (?:\w+'s|his|her|their|my) (?:day|time)\b(?! zone)(?=.*\b{_ONCE}\b)"
    r"|(?:^|[,;] ?)(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|a couple of|several|\d+) (?:years?|seasons?|semesters?|terms?|jobs|months?|weeks?|flats|owners) ago,? (?:.{0,40}\b(?:was|were) (?:still |only |just )?(?:an?|the|in|on|at|called|[£$€¥]? ?\d)|(?:my|our|his|her|the) [\w ]{1,25} (?:was|were) (?!born|given|stolen|sold|broken|hit|hired|fired|\w+ed\b))"
    rf"|(?:{_ZH_TURN})(?:之前|以前|前)(?!.*(?:要|得|必须|打算|记得|别|先|想|请))(?=.{{0,10}}(?:才|只|还|都|一直|是|在|叫|住|用|没))"
    rf"|(?:[一二三四五六七八九1-9]年级|[高初大研][一二三]|[小中大]班|(?:\d+|[一二三四五六七八九十]+)岁)(?:的?时候|那年|那阵|那会儿|的那时)(?!.*(?:要|会|打算|准备|就能|可以|应该|送))"
    r"|(?:小|年轻|单身|怀孕|失业|当兵|读博|实习|(?:\d+|[一二两三四五六七八九十]+)多?岁|(?:19|20)\d\d年)的?(?:时候|那会儿)(?!.*(?:要|会|打算|准备|就能|应该))|(?<![今明后每])那(?:[一两二三四五]|半)年(?=.{0,8}[是在住用叫做开跑吃养])"
    r"|(?:[五六七八九]|(?:19|20)?\d)[十0]年代(?!的)(?=.{0,10}[是在住用叫做开弹跑])|第一(?:[辆台部份家任]|[只条](?=[狗猫]))[^,，。]{0,5}(?:是|叫|在)|[吃住干当用养抽开]过.{0,6}(?:\d+|[一二两三四五六七八九十几半]+)多?(?:年|个月)"
    r"|(?:去年|前年|上个?学期|上赛季)[^，,。了]{1,9}(?<!的)(?:是|叫)(?![^,，。]*[的了](?:$|[,，。]))"
    r"|那阵(?!势|容|仗)(?=.{0,12}(?:还|才|是|在|用|住|叫|只|没))"
    r"|(?:去年.{0,6}|前年.{0,6}|上大学|读书|上学|大学|高中|初中|刚\w{1,4}?)(?:的)?(?:时候|那年|那阵|时|期间)|(?:[去前]年|年前)(?=.*还(?:在|是|用|住))|上一份工作"
)
# One of these is in every such text; to look for them costs a tenth.
PERHAPS_PAST = r"(?a:\b(?:used to|formerly|back|before|once|ago|till|until|had been|previously|originally|first|early|beginning|old|former|previous|ex|last|was|were|when|while|during|years|as a|in (?:my|his|her|our|their|the|those|19\d\d|20\d\d|college|high|school|uni\w*|primary|kindergarten)|growing up|at (?:school|uni\w*|college|the time))\b)|\b(?:days|until)\b|[以从曾过当小童那这头早前最起一原之去上读大高初刚年岁班]|\b(?:day|time)\b"
# It is so now: what stands behind such a word is no past.
NOW = r"\b(?:now|nowadays|these days|currently|at present|since then)\b|现在(?!看|想|回想|听|觉得|说起)|如今|目前|眼下|已经|改(?:成|为|到|用)|换成"

# A first clause that says how it is: what another one tells of then is beside it («I speak Cantonese, I grew up in Foshan»).
HOLDS = (
    r"^(?:i|we|(?:my|our) \w+)(?:'m| am|'re| are| is| speak| can| like| love| hate| live| work| own| drive| have (?:an?|two|three|\d+))\b(?![^,;.]*\b(?:been|was|were|had)\b)[^,;.]*(?:[,;]|\.(?= |$))"
    r"|^我(?:们|家|[妈爸哥姐弟妹])?(?:现在|目前|如今)[^,，。；;]*[,，。；;]"
    r"|^我(?:们|家|[妈爸哥姐弟妹])?(?:也|都|很|特别|最|现在)*(?:会|能|是|有|喜欢|爱|怕|对|住在|叫|姓)(?![^,，。；;]*(?:[过了]|的[,，。；;]))[^,，。；;]*[,，。；;]"
)

# ------------------------------------------------------------------ whether it is said at all

# Somewhere in the text: nothing of it is stated.
NOT_STATED = (
    r"[?？]|吗[。.]?$|^\W*if\b|, if (?!it\b)|\bunless\b|\bsuppose\b|\bimagine\b|\bpretend|\bi wish\b|\bwishes\b|\brumou?r|\bdream|\b(?:joke|joking|kidding)\b|^\W*(?:should|could|would|can|shall|do|does|did|what|where|who|when|how|which) (?:i|we|you|it)\b"
    r"|如果|要是(?!上)|假如|假设|梦见|梦到|假装|开玩笑|逗你|骗你|要不要|是不是|能不能|据说(?=.*[,，。]?.*)(?<=^据说)|听说|传言|传闻"
)
# Before or in the clause: it is not stated plainly, or not of now.
NOT_PLAIN = (
    r"\bformerly\b|\bpreviously\b|\bused to\b|\blived\b|\bworked\b|\bmaybe\b|\bperhaps\b|\bprobably\b|\bpossibly\b|\bmight\b|(?<!\d )(?<!\bin )(?<!\bof )(?<!\bby )(?<!\bon )(?<!\bto )(?<!until )(?<!since )\bmay\b(?! \d)|\bcould\b|\bwould\b|'d (?:love|like|rather)|\bwill\b|\b\w+'ll\b"
    r"|\balmost\b|\bnearly\b|\bstopped\b|\bsaid\b|\bsays\b|\btold\b|\b(?:am|is|are) moving to\b|\bgoing to\b|\bplan(?:s|ned|ning)? to\b|\bwant(?:s)? to\b|\bhop(?:e|es|ing) to\b|\bthink(?:s|ing)? (?:of|about)\b|\bconsidering\b|\bthought\b|\bi think\b|\bi guess\b|\bseems?\b|\bnext (?:week|month|year|spring|summer|autumn|winter)\b|\bsomeday\b|\bone day\b|\btemporarily\b|\bthis weekend\b|\btry(?:ing)?\b|\bif\b"
    r"|从没|从来没|暂时|临时(?![换改])|差点|希望|考虑|犹豫|觉得|说[我他她，,：:「“]|之前|原来|可能|也许|或许|好像|似乎|打算|准备(?=[去搬换买结考学]|七|.{0,6}(?:去|搬|换|买|领))|计划(?=把|在|去|搬|换|下|明|将)|想(?=要|搬|换|再|买|试|把|去|住|养)|将要|将会|将来|会搬|要搬|要换|要改|要去|会追加|(?:明年|下个?月|下半年|下周)(?!出差|.?$|[一二三四五六日天])"
)

# What a text that was handed in with its slot may say of it after all: that it is planned, wished, heard or not decided.
OPEN = (
    r"\bmight\b|\bmaybe\b|\bperhaps\b|\bthinking (?:of|about)\b|\bconsidering\b|\b(?:the )?plan(?:s|ned|ning)? (?:is |are )?to\b|\bhop(?:e|es|ing) to\b|\bwants? to\b|\bwould (?:like|love)\b|'d (?:like|love|rather)\b|\binterview (?:with|at)\b|\bappl(?:ied|ying) (?:for|to)\b"
    r"|\bi(?:'ve)? heard\b|\brumou?r|\bapparently\b|\bthey say\b|\bsupposedly\b|\b(?:haven't|hasn't|not) (?:\w+ )?(?:decided|agreed|sure)\b|\bfingers crossed\b|\bsomeday\b|\bone day\b|^\W*if\b|, if\b|\bonce the\b|\bi wish\b|\b(?:he|she|they|somebody|someone|\w+) (?:says?|said|claims?|thinks?)\b.{0,40}\b(?:will|might|should|would)\b"
    r"|打算|考虑|犹豫|(?:正在|准备|想)申请|准备(?=申请|去|搬|换|买)|也许|或许|说不定|听说|据说|传言|传闻|还没(?:有)?(?:定|决定|跟|批|说|想好|排)|没定下来|批不批|等.{1,10}再(?:说|定)|如果|要是(?!上)|想(?=换|搬|再买|去.{1,6}(?:工作|上班|住))|(?:下个?月|明年|月底|年后).{0,6}开始.{0,4}(?:一定|要|我)|roadmap"
)

# In one sentence with it: somebody said so.
REPORTED = r"\b(?:said|says|tells)\b|\btold (?!you)|说[我他她，,：:「“]|听\w{1,4}[说讲提]|告诉我"

# ------------------------------------------------------------------ what it does to what was said

# Words before a statement that say nothing of it.
LEAD = (
    r"(?:please|pls|also|and|so|well|oh|ok|okay|hey|haha|lol|btw|fyi|actually|in fact|by the way|as i said|as announced|note that|note|remember that|remember|keep in mind that|heads up|correction|sorry|wait|hang on|hmm|no(?=[,:;])|in fact|as an? \w+(?= (?:my|our|the) )|update(?= (?:my|our|the)\b)|update|for the record|small correction|just so you know|to be clear|turns out)\b[,:;]? ?(?:that )?"
    r"|(?:所以|而且|并且|然后|不过|但是|于是)(?=[我他她咱这那])|(?:请?(?:记住|注意|记一下|记得)|麻烦|其实|实际上|事实上|对了|对(?=[,，])|另外|更正一下|更正|纠正一下|纠正|顺便说一下|顺便说|重要|那个|嗯|哦|啊|等等|等一下|不对|更新一下|更新|跟你说下背景|给你交个底|准确地说|说错了|记错了|搞错了|弄错了|刚才说错了|我记错了|学校通知|照旧|(?:上个?(?:月|周|星期|礼拜)|昨天|今天|前天|最近|今年|刚刚)(?=[我他她]))[,，:： ]*"
)
# It corrects, and says so.
CORRECTS = (
    r"\bcorrection\b|\bsorry\b|\bi (?:meant|mean)\b|\bactually\b|\bmake that\b|\bscratch\b|\bstrike\b|\bnot .{1,30} but\b|\bmixed up\b|\bwrong\b|\bmistake\b|\bmisspoke\b|\bchanged my mind\b|\bno longer\b|\bany ?more\b|\binstead\b|\bupdate\b|\bi keep saying\b|[,;] not \S+|\bnot bothered\b|\bturns out\b"
    r"|更正|纠正|说错|记错|搞错|弄错|写错|打错|错了|不对|不是.{1,12}[,，].{0,4}是|其实|准确地说|改主意|那条要改|更新|不再|别再|改口|\bafter all\b|不(?:用|需|要|吃|喝|去|做|在|能|会|住).{0,12}了"
)
# It tells of a change, so that something before it may be over.
CHANGES = (
    r"\b(?:now|these days|nowadays)\b|现在|如今|\b(?:moved|moving in|left|quit|resigned|retired|graduated|switched|swapped|changed|replaced|sold|gave away|got rid of|cancelled|canceled|ended|finished|broke up|divorced|married|engaged|died|passed away|buried|adopted|arrived|was born|gave birth|fired|laid off|hired|promoted|signed|archived|migrated|upgraded|downgraded|renamed|merged|closed|shut down|turned (?:on|off)|turned .{1,24} (?:on|off)|is out|are out|unpacked|pushed|rescheduled|postponed|raised|lowered|rang|booked|first day|new job|last day|gone|got my|passed|without|since my last|took over|takes over|stepped down)\b"
    r"|搬|辞|离职|入职|跳槽|换|卖了|卖掉|分手|离婚|领证|结婚|订婚|去世|走了|生了|出生|怀孕|毕业|退休|退了|退掉|戒|断奶|注销|取消|停用|停了|下架|迁|导进|升|降到|涨到|改签|改成|改到|改发|接手|接她|接他|交接|到手|考上|录取|手术|拔了|装好|升级|转岗|调到|拆了|到货|接回来|满分|批了|定了"
)
# It takes the last thing back: a joke, or words that are to be forgotten.
JOKE = (
    r"(?a:\b(?:just |only |i was |we were |totally |obviously |i'm |im )*(?:kidding|joking|messing with you|pulling your leg|teasing)\b(?! (?:aside|around|about|with (?!you\b)))|\b(?:that|it|this) (?:was|is) (?:just |only )?(?:a )?(?:joke|prank|lie|nonsense)\b|^\W*j/?k\b(?! rowling)|\b(?:was|were|just|only) (?:just |only )?(?:kidding|joking|pulling your leg|teasing you) about (?=\w)|\bjk\b(?! (?!lol|haha|jk)[a-z])|\b(?:obviously|clearly|just|only) a joke\b|\bapril fools?\b|\bhad you (?:there|going)\b|\bgot(?:cha| you)\b[!.])"
    r"|(?a:^haha,? no\b|\bmade (?:that|it) up\b|\bnone of that (?:is|was) true\b|\bthat(?:'s| is| was) not (?:true|real|serious)\b|\bjust messing\b)"
    r"|(?a:^psych\W*$|\bwas (?:pure |total |just )?sarcasm\b|^sarcasm\b|(?:^|\s)/s\W*$|\b(?:that|it|i) wasn't (?:being )?(?:true|serious|real)\b|\b(?:was|am|i'm) (?:only |just )?testing (?:you\b|(?:if|whether) you)|\bnot really[,!] haha|\bnot really haha\b)"
    r"|^(?:刚才|那|这)?(?:是)?反话|说笑的|[瞎乱]编的|^假的(?=哈|啦|$|[,，。!！])|(?:是|在)测试你|开(?:个)?玩笑(?:的|呢|啦|而已)?|逗你(?:玩|的|呢)*|(?:哈哈)?骗你(?:的|呢)|别当真|愚人节快乐|皮一下|说着玩|随口(?:一)?说|瞎说的|胡说的|乱说的|我编的|假的啦|闹着玩"
)
# The last thing, or what it names, is to count for nothing; what follows may be earnest.
VOID = (
    r"(?a:\b(?:forget|ignore|disregard|undo|delete|scrap) (?:that|it|this|what i (?:just )?(?:said|told|wrote)|(?:that|my|the) (?:last|previous) \w+|(?:that|the) .{1,20}(?:thing|remark|bit|message|part))(?! .{0,20}\b(?:to|is|are)\b)|\bdisregard\b(?! for\b)[.!]?|\bi (?:take|took) (?:(?:that|it|this) )?back\b|\bi (?:take|took) (?:that|this)(?=\W*$)|\btake back\b|\bnever ?mind (?:that|what i said)\b|^never ?mind\b|^(?:scratch|strike) that(?:\W*$| about (?!it\b|that\b|this\b)| .{1,20}(?:thing|remark|bit|message|part)\b)|^i didn'?t mean (?:that|it)\W*$|\bpretend i (?:never|didn't) sa(?:id|y)\b|\bun-?(?:remember|save|say|learn) (?:that|this|it|what)\b|^undo\W+undo\b|^undo\W*$)"
    r"|(?a:\bwrong (?:chat|window|channel|thread|group|tab|person)(?=\W*(?:$|[,.!;:]))|\b(?:was|wasn't) meant for (?:you|here|this|another|someone|somebody|a different|my \w+)\b|\bsent (?:too early|by (?:mistake|accident)|accidentally)\b|\b(?:that|it) was (?:just )?autocorrect\b|\b(?:that|it) was (?:my|our) [\w ]{1,25}\b(?:typing|with my phone|on my (?:phone|keyboard|laptop|computer)|playing with)\b)"
    r"|(?a:\b(?:don't|do not) (?:save|remember|keep|store|record|note|write down) (?:that|this|it)(?: (?:one|last one))?\W*(?:please\W*)?$|\b(?:scratch|strike|delete|drop|remove|erase|ignore) (?:(?:that|this|the|my) )?(?:last|previous|above)(?: (?:one|line|message|bit|note|entry|part))?\W*(?:please\W*)?$|, ignore\W*$)"
    r"|(?:上面|前面|刚才|刚刚|方才)(?:那|这|说)?[一两]?(?:条|句|个|段)?(?:话|的)?(?:.{0,3}我.{1,4}发的)?.{0,8}(?:[发贴]错|不算|不作数|忽略|无视|ignore|withdraw|别信|别记|别当真|识别错)|(?:刚才|上面|前面|那|这)一?(?:条|句|个)?.{0,3}我(?:[弟妹哥姐爸妈]|老公|老婆|儿子|女儿|室友|同事|朋友|孩子|家.{1,3}?)(?:拿我手机)?(?:发|打|写|按|乱按)的|[发贴回传]错了?(?:群|人|地方|窗口|频道|对话|聊天| ?channel)|(?:别|不用|不要|甭)(?:记住?|保?存|当真|信)(?:那|这|上|刚)一?(?:条|句|个)|ignore ?(?:上|这|那|刚)|不作数|[,，](?:忽略|别记|别信|不用记)了?[。！!~]*$"
    r"|(?:刚才|上面|之前)?(?:那|这)?(?:一)?(?:条|句|个)?当我没(?:说|讲|提)|(?:上|这|那|前|刚才那|上面那)[一两]?(?:条|句|个).{0,4}(?:作废|撤回|不算|删)|作废|撤回(?:上一条)?|不算数|(?:忽略|无视|忘掉|忘了)(?:上|刚|我刚|我说|那)|收回(?:刚才|上|那|我)"
)
# It names what it takes back: where that was not told, the last thing told is not meant.
NAMED = r"\b(?:kidding|joking|pulling your leg|messing with you|(?:scratch|strike|forget) (?:that|it|what i said)) about (?!it\b|that\b|this\b|you\b)|\bwhat i (?:said|told you|wrote) about (?!it\b|that\b|this\b)|说的[^,，。条句个]{2,}作废|把[^,，。条句个]{2,}作废"
# It takes back what was told last on the day before, and names nothing else.
YESTERDAY = r"(?:昨天|昨晚)那?一?[句条个]|\b(?:what i said|my (?:last )?message|that (?:one|bit)) (?:from )?(?:yesterday|last night)\b|\byesterday's (?:message|one|note)\b"
# What was said was a mistake: it goes when what follows does not take its place by itself.
MISTAKE = (
    r"\b(?:i )?(?:got|had|have) (?:that|it|this|them) wrong\b|\bi was wrong\b|\bmy (?:mistake|bad)\b|\bi (?:misspoke|misremembered|mixed)\b|\bmixed (?:it|them|her|him)? ?up\b|\bi made a mistake\b"
    r"|(?<![别没怕会])(?<!不要)(?<!容易)(?<!不能)(?:说错|记错|搞错|弄错|写错|打错)|口误|手滑"
)
NOT_BACK = r"\bkidding aside\b|\bnot (?:kidding|joking)\b|\bno joke\b|\bi'm serious\b|不是开玩笑|没开玩笑|没有开玩笑|不开玩笑|(?:喜欢|爱|别|不要|不能|不爱)(?:跟我|和我)?开玩笑|never mind the|\?|？"
