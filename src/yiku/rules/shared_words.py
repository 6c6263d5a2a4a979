"""
Words that both languages share: attributes of which a thing has one, things with a name in either, verbs with one object.

Data only. An attribute stands under one name whatever it is called: «boss», «line manager» and 主管 are `manager`. What is
not listed is no error: it has the name it was given, and how many values it takes nobody knows.
"""

# ruff: noqa: E501  (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

import re

from yiku.rules.analyze import STOP_WORDS, tokens

# One line an attribute: its name, then what else it is called. Each holds one value at a time.
_ATTRIBUTES = """
manager: boss, line manager, supervisor, direct manager, team lead, lead, 主管, 上级, 领导, 老板, 组长, 经理, 直属领导, 直属主管
owner: person in charge, responsible, maintainer, 负责人, 对接人, 接口人, 联系人, 维护者, contact, contact person, point of contact
landlord: landlady, 房东
designer: 设计师
intern: 实习生
teacher: class teacher, form teacher, tutor, 班主任, 导师, 指导老师
doctor: gp, dentist, therapist, 家庭医生, 主治医生, 医生
interviewer: 面试官
accountant: 会计
gym: 健身房
cto
ceo
cfo
pm: project manager, product manager, 产品经理, 项目经理
conductor: 指挥
port: 端口, 端口号
host: hostname, server name, 主机名, 主机
url: endpoint, base url, 网址, 链接
domain: domain name, 域名
branch: default branch, main branch, 默认分支, 主分支, 分支
database: db, main database, primary database, primary db, 数据库, 主数据库
language: programming language, main language, 语言, 编程语言, 主力语言
framework: 框架
editor: ide, main editor, 编辑器, 主力编辑器
browser: 浏览器
handset: phone, mobile, 手机
operating system: os, 操作系统, 系统
package manager: 包管理器
cloud: cloud provider, provider, hosting provider, 云服务商, 供应商
region: 区域, 机房
image: base image, 基础镜像, 镜像
path: base path, 路径, folder, directory, 目录
code: pin, 验证码
door code: entry code, gate code, 门禁码, 门锁密码, 大门密码
wifi password: wi-fi password, wifi code, wi-fi code, wifi密码, 无线密码
password: passcode, 密码
timeout: 超时, 超时时间
interval: 间隔, 周期, 频率, frequency
limit: rate limit, quota, maximum, cap, 上限, 限额, 限流, 额度
size: 大小, 尺码, 尺寸, 规模
capacity: 容量, 容积
length: 长度
width: 宽度
height: 身高, 高度
weight: 体重, 重量, 净重
distance: 距离
depth: 深度
temperature: 温度
speed: 速度
rate: 比例, 比率, 利率, 转化率
duration: 时长
retention: retention period, 保留期, 保留时间
expiry: ttl, expiration, 过期时间, 有效期, 到期, 到期日, 缓存时间, 年检到期
budget: 预算
price: 价格, 单价, 总价, 售价
cost: 费用, 成本
rent: monthly rent, 房租, 租金, 月租
salary: pay, wage, income, 工资, 薪水, 月薪, 年薪, 收入
bonus: 年终奖, 奖金
fee: tuition, 学费, 会费, 停车费, 物业费
bill: 账单
floor: 楼层, 层数
room: 房间, 房间号, 会议室
desk: seat, 座位, 工位, 座位号
spot: parking spot, parking space, 车位, 停车位
location: venue, place, 位置, 地点, 场地
school: 学校
grade: 年级
major: 专业
class: 班级
title: job title, 职称, 头衔
number: 号码, 编号, 工号, 学号, 尾号, 手机尾号, employee id, employee number, plot number
count: headcount, team size, 人数, 数量
plan: 套餐, broadband, 宽带
model: 型号
brand: make, 品牌, 牌子
colour: color, 颜色
theme: 主题
diet: 饮食
medication: 药, 降压药, 血压药, medicine
blood type: blood group, 血型
hair: hairstyle, 发型, 头发
car: 车, 汽车, 座驾
bike: bicycle, 自行车
laptop: computer, main computer, main machine, 电脑, 笔记本, 主力机, 主力电脑
watch: 手表
camera: 相机
time: start time, hour, 时间, 几点
date: day, weekday, 日期, 日子, 时间点, 扣款日
term: 学期
goal: target, objective, 目标
score: mark, 成绩, 分数
level: 级别, 等级
rank: 排名
state: 开关状态
bedtime: 睡觉时间, 就寝时间
wake-up time: gets up at, get up time, 起床时间
commute: 通勤, 通勤时间
hotel: 酒店, 宾馆
flight: 航班, 航班号
train: 火车, 车次, 高铁
terminal: 航站楼
gate: 登机口
appointment: 预约
meeting: 会议, 例会, 周会
nickname: preferred name, 昵称, 小名, 绰号
birthplace: place of birth, 出生地, 籍贯
height limit: 限高
currency: 货币, 币种
relationship status: marital status, 婚姻状况, 感情状况
nationality: citizenship, 国籍
religion: 信仰, 宗教
release: latest release, 最新版本, 最新版
recipient: 收件人
tool: chat tool, 工具, 沟通工具
app: note-taking app, 应用
workplace: 工作地点
username: login, user name, 用户名, 账号名
password: 登录密码
motto: slogan, 座右铭, 口号, 签名
supplier: vendor, 供货商
bank: 开户行, 银行
coach: trainer, 教练
hairdresser: barber, 理发师, 发型师
principal: headmaster, headteacher, 校长
captain: 队长
treasurer: 财务
secretary: 秘书
speaker: keynote speaker, 主讲人, 主持人
insurer: insurance company, 保险公司
licence plate: license plate, number plate, 车牌, 车牌号
memory: ram, 内存
disk: storage, hard drive, 硬盘
processor: cpu, 处理器
bandwidth: 带宽, 网速
resolution: 分辨率
blood pressure: 血压
heart rate: resting heart rate, 心率
eyesight: 视力
degree: 学历, 学位
zodiac sign: star sign, 星座, 属相, 生肖
wallpaper: 壁纸
ringtone: 铃声
alarm: 闹钟
electricity bill: 电费
water bill: 水费
entry fee: registration fee, 报名费
dose: dosage, 剂量, 用量
deposit: 押金, 定金
pace: 配速
"""
ATTRIBUTES: dict[str, str] = {}
for _line in _ATTRIBUTES.strip().splitlines():
    _name, _, _others = _line.partition(": ")
    ATTRIBUTES.update(dict.fromkeys([_name, *filter(None, _others.split(", "))], _name))
CALLED: dict[str, list[str]] = {}  # all names of an attribute
for _other, _name in ATTRIBUTES.items():
    CALLED.setdefault(_name, []).append(_other)
# The months in English, short and long.
MONTH = r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
# Words before an attribute that do not make another of it.
LOOSE = frozenset("current present new main primary own actual latest default 直属 当前 目前 现在 新 主要 常用".split())
# Words that say that there is one, whatever follows.
ONE = ("favourite", "main", "primary", "default", "current", "latest", "preferred", "official", "最喜欢的", "主力", "默认", "当前", "常用", "首选", "最新")  # fmt: skip

# Where a sentence itself says which attribute it speaks of: verbs with one object, by their stems (English) or as written.
SINGLE_VERBS: dict[str, str] = {
    "drive": "car", "drives": "car", "runs on": "hosted on", "run on": "hosted on", "runs in": "hosted on", "is running on": "hosted on", "weigh": "weight", "weighs": "weight", "cost": "price", "costs": "price",
    "report to": "manager", "reports to": "manager", "listen on": "port", "listens on": "port", "starts at": "start", "starts on": "start",
    "start on": "start", "start at": "start", "begins on": "start", "begins at": "start", "ends on": "end", "ends at": "end", "expires on": "expiry", "expires in": "expiry",
    "closes at": "close", "opens at": "open", "is hosted on": "hosted on", "are hosted on": "hosted on", "is deployed on": "hosted on",
    "goes to": "school", "go to": "school", "is pinned to": "pinned to", "is written in": "language", "was written in": "language", "get up at": "wake-up time", "gets up at": "wake-up time", "wake up at": "wake-up time", "wakes up at": "wake-up time",
    "go to bed at": "bedtime", "goes to bed at": "bedtime", "deploy with": "deploy with", "deploys with": "deploy with", "commute by": "commute by", "meets on": "date", "takes place on": "date", "departs at": "departure", "leaves at": "departure", "leave at": "departure", "leaves from": "leaves from",
    "wear size": "size", "wears size": "size", "was born in": "born in", "were born in": "born in", "is owned by": "owner", "is maintained by": "owner", "is led by": "manager",
}  # fmt: skip
# Verbs with many objects, by their plain form; the third person is made from it.
MANY_VERBS = frozenset(
    "drink eat play speak read study learn collect cook bake watch own use like love hate need require send support grow ride sing follow know fear want teach wear write enjoy accept sell produce store log run".split()
)

_CITIES = """\
北京 beijing|上海 shanghai|深圳 shenzhen|广州 guangzhou|杭州 hangzhou|南京 nanjing|苏州 suzhou|成都 chengdu|重庆 chongqing|武汉 wuhan|西安 xian xi'an|天津 tianjin|青岛 qingdao
厦门 xiamen|长沙 changsha|大连 dalian|昆明 kunming|宁波 ningbo|合肥 hefei|郑州 zhengzhou|济南 jinan|福州 fuzhou|沈阳 shenyang|哈尔滨 harbin|香港 hongkong|台北 taipei|澳门 macau
东京 tokyo|大阪 osaka|首尔 seoul|新加坡 singapore|曼谷 bangkok|悉尼 sydney|伦敦 london|巴黎 paris|柏林 berlin|慕尼黑 munich|纽约 newyork|旧金山 sanfrancisco|西雅图 seattl seattle
多伦多 toronto|温哥华 vancouver|奥斯陆 oslo|卑尔根 bergen|斯德哥尔摩 stockholm|哥本哈根 copenhagen|赫尔辛基 helsinki|阿姆斯特丹 amsterdam|罗马 rome|马德里 madrid|巴塞罗那 barcelona|莫斯科 moscow|维也纳 vienna|日内瓦 geneva|苏黎世 zurich
"""
CITIES = frozenset(pair.split()[0] for pair in _CITIES.strip().replace("\n", "|").split("|"))

# Things with a name in each language, both under the Chinese one.
TWINS: dict[str, str] = {
    english: chinese
    for chinese, *names in (
        pair.split()
        for pair in (
            _CITIES.rstrip()
            + """
花生 peanut|牛奶 milk|鸡蛋 egg|海鲜 seafood|虾 shrimp prawn|螃蟹 crab|坚果 nut|大豆 soy|小麦 wheat|芒果 mango|花粉 pollen|青霉素 penicillin|乳糖 lactos lactose|麸质 gluten|猫毛 catfur|香菜 cilantro coriander 芫荽|腰果 cashew|核桃 walnut|芝麻 sesame|草莓 strawberri strawberry|香蕉 banana|桃子 peach 桃|牡蛎 oyster 生蚝|三文鱼 salmon|金枪鱼 tuna|乳胶 latex|阿司匹林 aspirin|布洛芬 ibuprofen|磺胺 sulfa|碘 iodin iodine
咖啡 coffe coffee|茶 tea|绿茶 greentea|酒 alcohol|啤酒 beer|红酒 wine|牛肉 beef|猪肉 pork|羊肉 lamb mutton|鸡肉 chicken|鱼 fish|米饭 rice|面条 noodl|豆腐 tofu|巧克力 chocol chocolate|肉 meat|土豆 potato 马铃薯|番茄 tomato 西红柿|茄子 eggplant aubergin aubergine|西葫芦 zucchini courgett courgette|洋葱 onion|大蒜 garlic 蒜|芹菜 celeri celery|菠菜 spinach|蘑菇 mushroom|橄榄 oliv olive|蜂蜜 honei honey|拿铁 latt latte|豆浆 soymilk
红色 red 红|蓝色 blue 蓝|绿色 green 绿|黄色 yellow 黄|黑色 black 黑|白色 white 白|紫色 purple purpl 紫|橙色 orang orange 橙|灰色 grey gray 灰|粉色 pink 粉|棕色 brown 棕|银色 silver
英语 english 英文|中文 chines chinese mandarin 汉语 普通话|日语 japanes japanese 日文|法语 french 法文|德语 german 德文|西班牙语 spanish|韩语 korean|俄语 russian|意大利语 italian|粤语 cantones cantonese
猫 cat|狗 dog|简短 short brief concis concise terse 简洁 短 简单|详细 detail detailed thorough|老师 teacher|医生 doctor|护士 nurs nurse|律师 lawyer|会计 account accountant|工程师 engin engineer|设计师 design designer|程序员 programm programmer|学生 student
素食 vegetarian|谷歌 googl google|微软 microsoft|苹果 appl apple|腾讯 tencent|阿里巴巴 alibaba|字节跳动 bytedanc bytedance|华为 huawei|亚马逊 amazon
postgres postgr postgresql|kubernetes kubernet k8s|javascript javascript js|typescript typescript ts|golang golang go|ssh ssh|docker docker"""
        )
        .replace("\n", "|")
        .strip("|")
        .split("|")
    )
    for english in names
}

# One word, spelt in two ways: the second is taken for the first.
SPELT: dict[str, str] = {
    british: american
    for american, british in (
        pair.split()
        for pair in (
            "color colour|favorite favourite|gray grey|center centre|meter metre|liter litre|theater theatre|license licence|defense defence"
            "|aluminum aluminium|celiac coeliac|anemia anaemia|diarrhea diarrhoea|edema oedema|estrogen oestrogen|pediatric paediatric"
            "|pediatrician paediatrician|orthopedic orthopaedic|gynecologist gynaecologist|leukemia leukaemia|anesthetic anaesthetic"
            "|tire tyre|plow plough|program programme|donut doughnut|yogurt yoghurt|pajamas pyjamas|mom mum|jewelry jewellery|check cheque"
            "|neighbor neighbour|harbor harbour|labor labour|catalog catalogue|dialog dialogue|curb kerb|whiskey whisky|draft draught|mold mould"
        ).split("|")
    )
}

# Words that tell nothing of what a clause is about.
LIGHT = STOP_WORDS | frozenset(
    """
    now still currently already really actually always usually mostly just only even also too well since lately finally
    here there today tonight yesterday tomorrow these days about around roughly ahead back longer more anymore instead
    get gets got getting go goes going went make makes made take takes took taken taking use uses used using
    keep keeps kept do does did done put puts set have has like want wants need needs let say says said
    new thing things way lot much many every each per one ones please pls note sorry correction update btw fyi ok okay
    mr mrs ms dr im ive id theyve theyd weve theyre youre
    """.split()
)
LIGHT_CHINESE = frozenset(
    "对的了是在我你您这那和与就都也还才又再很吗呢吧啊哦嘛呀把被给到从以及着过之其个么们已经现目前其实只每些该请都一直正在曾更最挺得地不没别要会约有"
)
# Words of everyday talk: that two statements share them says nothing of what either is about.
_EVERYDAY = """
action active add added advice ago ah amazing another anxiety anxious appreciate approach area ask back basic believe best
better big bit book bring call calm came case challenge chance change check choices clear come complete confident confused
consider continue create curious daily date day deal decided decision definitely different difficult disappointed
discuss easier easy effect end enjoy enough especially even evening every everything exactly example excited excuse
exhausted experience explore fact favorite feel find fine finish first focus follow fond forward found frustrated full fun
funny general give glad good goodbye grateful great guess guy half hand happy hard hear heard hello help hold home honestly
hope huge idea imagine immediate important impressed improve include incorporate inspired interest issues keen keep kind
know last leave left list live local long look lot love luck main major make matter maybe mean meant mention might mind
mindset minutes moment month morning motivate move name natural nervous next nice night noticed odd offer oh
old open opportunity option part particularly past people perfect perfectly person picture pieces place plan
point pressure pretty probably problem progress promised proud provide put question quick quickly reach read ready real
realized really reason recent recommend remember remind replaced result right round run sad see seem sense set share
show side similar simple simply small something soon sort sound speaks specific spend start stick stop stress struggle
stuff suggest super sure surprise switch talk tell thank thing think thought time tip tired today together told tomorrow
tool total track trust try turn type understand upset wait waste way week whole wish without wonder work worried wow yeah
year yesterday yet
"""
_EVERYDAY_CHINESE = """
一下 一个 一些 一样 一点 一直 一起 上午 下午 下来 不少 不过 不错 东西 主要 之前 之后 也许 习惯 事情 今天
今晚 从来 他们 以前 以后 价值 优化 但是 体验 信心 信息 关键 其实 具体 内容 决定 准备 出来 分享 刚刚 初步
加油 努力 压力 反而 发现 另外 只是 可以 可能 后续 听起 喜欢 回去 回来 因为 地方 处理 大家 太好 她们 好像
好多 好的 如何 如果 安排 完全 完成 尝试 就是 已经 希望 帮助 平时 平静 应该 建议 开始 开心 开朗 影响 很久
很多 心里 思考 思路 情况 想法 感受 感觉 成就 我们 或者 或许 所以 打算 执行 担心 按照 挺好 接下 提供 提醒
收获 放松 效果 效率 整理 新颖 方式 方法 方面 日常 早上 时候 明天 明白 明确 昨天 晚上 最近 有些 有时 有点
期待 本身 机会 核心 每周 每天 每次 比如 比较 注意 清晰 清楚 满意 满足 点子 焦虑 然后 特别 状态 现在 理解
甚至 目标 直接 看看 真的 知道 确保 确定 确实 确认 符合 简单 紧张 细节 终于 结合 结束 结果 继续 考虑 而且
聊了 聊得 聊聊 自己 自然 虽然 补充 表达 观察 觉得 角度 解决 解读 计划 认真 记得 试试 说到 说法 调整 谢谢
豁然 起来 踏实 轻松 过去 过来 还是 这个 这些 这样 进去 进展 追求 适合 那个 那些 部分 重点 重要 问题 难过
需要 非常 顺便 马上 高兴 差不多 每晚 每月
"""
EVERYDAY = frozenset([*tokens(_EVERYDAY).words, *_EVERYDAY_CHINESE.split()])  # the English ones by their stems
EVERYDAY_CHINESE = re.compile("|".join(_EVERYDAY_CHINESE.split()))

# Behind these stands what may be another the next time.
MARKS = frozenset(
    "is are am was be being to in on at from via by until till under near called named into onto through than over".split()
)
MARKS_CHINESE = frozenset("是在到用叫归由跟给为成找姓属于向住从走换改放发")
CHANGES = frozenset(
    """
    moved changed switched swapped pushed bumped set raised cut reduced lowered migrated transferred rescheduled extended
    postponed renamed dropped reset
    """.split()
)
CHANGED_TO = "(?:改签|改|换|挪|移|调|推迟|推|转|升级|升|降|涨|提前|延期|延|迁|定|设|变|切|约)(?:到|成|为|在|至|用|给|去)了?"  # followed by a value

# Of whom a clause tells, where it is not the speaker.
PERSONS = frozenset(
    """
    mother father sister brother wife husband son daughter partner aunt uncle cousin niece nephew grandmother grandfather
    grandma grandpa granny grandad mum mom dad boss friend colleague roommate flatmate neighbour neighbor boyfriend
    girlfriend twin
    """.split()
)
PERSONS_CHINESE = frozenset([*"爸妈爷奶哥姐弟妹婆舅姑姨叔伯他她", *"老板娘 同桌 同学 邻居 闺蜜 发小 客户 徒弟 师傅".split()])

# Short for longer words, in names of things.
SHORT = {
    "db": "database", "repo": "repositori", "repositories": "repositori", "prod": "product", "env": "environ", "config": "configur", "docs": "document", "mum": "mother", "mom": "mother",
    "dad": "father", "granny": "grandmoth", "grandma": "grandmother", "grandpa": "grandfather", "max": "maximum", "min": "minimum", "app": "applic", "kids": "child", "kid": "child", "bike": "bicycl",
}  # fmt: skip
