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

# Values of several words, where the whole value is no more than that: a line a value, its name first.
_WHOLE = """
素食: 素食者, 吃素, 吃素的, 素食主义者, veggie, no meat, meat-free, does not eat meat, doesn't eat meat, 不吃肉, 不吃荤, 不碰荤, 不沾荤
农村: 乡下, 乡村, countryside, country side
运维工程师: ops engineer, operations engineer, 运维
软件工程师: software engineer, software developer, 软件开发工程师, 软件开发
前端工程师: front-end engineer, frontend engineer, front-end developer, frontend developer, 前端开发, 前端
后端工程师: back-end engineer, backend engineer, back-end developer, backend developer, 后端开发, 后端
测试工程师: test engineer, qa engineer, tester, 测试
数据工程师: data engineer
数据分析师: data analyst
数据科学家: data scientist
产品经理: product manager
项目经理: project manager
销售经理: sales manager
客户经理: account manager
客服: customer service, customer support, 客服人员
平面设计师: graphic designer
建筑师: architect
土木工程师: civil engineer
机械工程师: mechanical engineer
电气工程师: electrical engineer
牙医: dentist, 牙科医生
兽医: vet, veterinarian
药剂师: pharmacist
小学老师: primary school teacher, primary teacher, elementary school teacher, 小学教师
中学老师: secondary school teacher, high school teacher, 中学教师
幼儿园老师: kindergarten teacher, nursery teacher, preschool teacher, 幼师
公务员: civil servant
记者: journalist, reporter
翻译: translator
厨师: chef, cook
司机: driver
卡车司机: truck driver, lorry driver, 货车司机
公交司机: bus driver, 公交车司机
出租车司机: taxi driver, cab driver
电工: electrician
水管工: plumber
木匠: carpenter, 木工
农民: farmer
消防员: firefighter, fireman
摄影师: photographer
农历正月初一: 春节, 大年初一, chinese new year, lunar new year
农历正月十五: 元宵, 元宵节, lantern festival
农历五月初五: 端午, 端午节, dragon boat festival
农历七月初七: 七夕, 七夕节
农历八月十五: 中秋, 中秋节, mid-autumn festival
农历九月初九: 重阳, 重阳节
左撇子: left-handed, left handed, lefty, left-hander, southpaw, 用左手, 惯用左手
右撇子: right-handed, right handed, right-hander, 用右手, 惯用右手
夜班: nights, work nights, works nights, working nights, night shift, night shifts, overnight, overnights, overnight shift, graveyard shift, graveyard, 上夜班, 值夜班
白班: days, work days, works days, working days, day shift, day shifts, 日班, 上白班
早班: early shift, earlies, morning shift, 上早班
晚班: late shift, lates, evening shift, 中班, 上晚班
香菜: coriander leaves, cilantro leaves, fresh coriander, fresh cilantro, 香菜叶
在家上学: homeschooled, home-schooled, home schooled, taught at home, 在家教育
纯素: vegan, plant-based, 全素, 纯素食
晕车: carsick, car sick, gets carsick, car sickness, 坐车就吐, 一坐车就吐, 坐车会吐
晕船: seasick, gets seasick, sea sickness, 坐船就吐
恐高: fear of heights, scared of heights, afraid of heights, heights, acrophobia, 怕高, 高处, 高的地方, 站在高处, 站在高的地方
怕黑: afraid of the dark, scared of the dark, fear of the dark
耳背: hard of hearing, poor hearing, hearing loss, 耳朵不好, 耳朵不好使, 耳朵背, 听力不好, 听力下降
近视: short-sighted, shortsighted, near-sighted, nearsighted, myopic, myopia
老花: far-sighted, farsighted, long-sighted, presbyopia, 老花眼
色盲: colour-blind, colour blind, color-blind, color blind
高血压: high blood pressure, hypertension, 血压高
低血压: low blood pressure, hypotension, 血压低
糖尿病: diabetes, diabetic
哮喘: asthma, asthmatic
失眠: insomnia, insomniac, can't sleep, 睡不着
偏头痛: migraine, migraines
乳糖不耐受: lactose intolerant, lactose intolerance, 乳糖不耐
已婚: married, 结婚了, 成家了
单身: single, unattached, 没对象
离异: divorced, 离婚了, 离了婚
退休: retired, in retirement, pensioner, 退休了, 领养老金, 领退休金, 拿退休金
待业: unemployed, out of work, between jobs, jobless, 失业, 没工作, 失业了
怀孕: pregnant, expecting, expecting a baby, 怀孕了, 有了身孕
自动挡: automatic, automatic gearbox, 自动
手动挡: manual, manual gearbox, stick, stick shift, 手动
不许养宠物: no pets, no pets allowed, pets not allowed, pets are not allowed, 不让养宠物, 禁止养宠物, 不能养宠物, 不准养宠物, 猫狗一概不许
禁止吸烟: no smoking, smoking not allowed, non-smoking, 禁烟, 不许抽烟, 不让抽烟, 无烟
工作日: weekdays, on weekdays, monday to friday, mon-fri, mon to fri, 周一到周五, 周一至周五, 星期一到星期五
周末: weekends, at weekends, on weekends, saturday and sunday, sat and sun, 周六日, 周六周日, 双休日
每两周: biweekly, bi-weekly, every two weeks, every other week, fortnightly, once a fortnight, every fortnight, 隔周, 两周一次, 每隔一周
免费: free, free of charge, no charge, gratis, 不要钱, 不收费
关门: closed, shut, closed down, 停业, 歇业, 关了
订满: full, fully booked, booked out, sold out, 满员, 约满, 满了
辛辣: 辣, 辣椒, 辣的, 辣味, 辣菜, 吃辣, spicy, spicy food, chilli, chili, chillies, hot food
独生子女: only child, no siblings, no brothers or sisters, neither brothers nor sisters, 独生女, 独生子, 没有兄弟姐妹, 没兄弟姐妹
麸质过敏: coeliac, celiac, coeliac disease, celiac disease, gluten intolerant, gluten intolerance, 乳糜泻, 麸质不耐受
不喝酒: does not drink alcohol, doesn't drink alcohol, don't drink alcohol, teetotal, teetotaller, 滴酒不沾, 不沾酒, 从不喝酒
双胞胎: twins, a pair of twins, 龙凤胎
在家办公: remote, remotely, work from home, works from home, working from home, wfh, home office, 居家办公, 远程办公, 远程
自由职业: freelance, freelancer, freelancing, self-employed, 自由职业者
全职妈妈: stay-at-home mum, stay-at-home mom, full-time mother, 家庭主妇, 全职太太
早起: early riser, early bird, morning person, gets up early, 起得早, 起很早
熬夜: night owl, stays up late, up late, 夜猫子, 睡得晚, 睡得很晚
个人最好成绩: personal best, personal record, best time, 最好成绩, 个人最佳
烟花: fireworks, firecrackers, rockets, 烟火, 鞭炮, 爆竹
幽闭恐惧: claustrophobic, claustrophobia, fear of small spaces, 怕密闭空间
过山车: roller coaster, rollercoaster
腰疼: bad back, back pain, sore back, 腰不好, 腰痛, 腰椎间盘突出
膝盖不好: bad knee, bad knees, knee trouble, dodgy knee, 膝盖疼, 膝盖有伤
心脏病: heart disease, heart condition, heart trouble, 心脏不好
助听器: hearing aid, hearing aids
轮椅: wheelchair
货到付款: cash on delivery
现金: cash only, only cash, only takes cash, takes cash only, no cards, 只收现金, 不能刷卡, 不收卡
自驾: by car, driving, drives to work, 开车上班, 开车去
步行: on foot, walking, walk to work, walks to work, 走路, 走路上班, 走着去
骑车: by bike, by bicycle, cycling, cycle to work, cycles to work, bikes to work, 骑自行车, 骑单车, 骑车上班
地铁: by subway, by metro, take the metro, take the subway, take the tube, 坐地铁, 坐地铁上班
母语: mother tongue, native language, first language, native tongue
急诊医生: emergency doctor, er doctor, a&e doctor, emergency physician, 急诊科医生, 急诊科大夫, 急诊大夫, 医院急诊医生
"""
WHOLE: dict[str, str] = {
    name: value for value, names in (line.split(": ") for line in _WHOLE.strip().splitlines()) for name in names.split(", ")
}

# One thing under many words, of either language: a concept a line, its name first. Statements are compared by these;
# what a key holds is stricter (TWINS, ATTRIBUTES).
_SAME = """
capacity hold seat 容纳 装得下 坐得下
price cost fee 售价 要价 收费
weight weigh heavy 重量 体重
length long 长度
width wide 宽度
height high tall 高度 身高
depth deep 深度
allergy allergic 过敏
expiry expire lapse 到期 过期 有效期
open 开门 营业 开馆
shut closed 关门 打烊 闭馆 歇业 休息
start begin kick 开始 开场 开演
finish end 结束 散场
live reside 居住 定居
work job employed profession occupation 上班 工作 职业
study student pupil 念书 读书 上学 在读
lead responsible 负责 主管
rehearse rehearsal 排练
meeting meet standup stand-up sync 开会 会议 例会 站会 周会
bill invoice 账单
child kid children 孩子 小孩 娃
grandchild grandkid grandchildren 孙子 孙女
doctor physician gp 大夫 医生
pediatrician paediatrician 儿科医生
nurse 护士
teacher 老师
firefighter fireman 消防员
driver 司机
cook chef 厨师
farmer 农民
midwife 助产士
locksmith 锁匠
electrician 电工
plumber 水管工
vegetarian veggie 素食 吃素
lefty left-handed southpaw left-hander 左撇子
coeliac celiac 麸质过敏 乳糜泻
teetotal teetotaller sober 不喝酒
insomnia insomniac 失眠
vegan plant-based 纯素 全素
spicy chili chilli 辛辣 辣椒
homeschool homeschooled home-schooled 在家上学
freelance freelancer self-employed 自由职业
pb 个人最好成绩
firework 烟花
claustrophobic claustrophobia 幽闭恐惧
diabetes diabetic 糖尿病
asthma asthmatic 哮喘
violin fiddle 小提琴
piano 钢琴
guitar 吉他
drum 鼓 架子鼓
cello 大提琴
flute 长笛
football soccer 足球
basketball 篮球
badminton 羽毛球
tennis 网球
swim swimming 游泳
jog jogging 跑步
yoga 瑜伽
chess 国际象棋
calligraphy 书法 毛笔字
photography 摄影
school 学校
university uni college 大学
kindergarten nursery preschool 幼儿园
hospital 医院
office 办公室
kitchen 厨房
bedroom 卧室
garden 花园 院子
garage 车库
library 图书馆
shop store 商店 店铺 门店 店
restaurant 餐厅 饭店 馆子
bakery 面包店
pharmacy chemist 药店
factory 工厂 厂里
warehouse depot 仓库
train 火车 高铁
bus coach 公交 公交车
subway metro underground 地铁
bicycle bike cycle 自行车 单车
car 汽车 车子
flight plane fly 飞机 航班 航班号
breakfast 早饭 早餐
lunch 午饭 午餐
dinner supper 晚饭 晚餐
bread 面包
sugar 糖
salt 盐
fruit 水果
vegetable 蔬菜
phone 手机
laptop computer 电脑
server 服务器
database db 数据库 主库
backup 备份
password passcode 密码
deploy deployment rollout 部署 上线
release 发布 发版
customer client 客户
expense reimbursement 报销
contract 合同
lease tenancy 租约 租期
birthday 生日
wedding 婚礼
bedtime 就寝 睡觉
retire retirement 退休
english 英语 英文
fever temperature 发烧
dentist 牙医 牙科
vet veterinarian 兽医
visa 签证
passport 护照
salary wage pay payroll payslip paycheck 工资 薪水 薪资
lawyer solicitor attorney barrister 律师
accountant bookkeeper 会计
police policeman cop 警察
surgery operation 手术 开刀
pain ache hurt sore
ill sick unwell 生病
vomit puke 呕吐
fire sack dismiss 解雇 裁员 开除
quit resign 辞职 离职 不干了
repair mend fix 维修 修理
buy bought purchase 购买
afraid scared terrified frightened fear panic 害怕
baby infant newborn 宝宝 婴儿 新生儿
luggage suitcase baggage 行李 行李箱
wallet purse 钱包
wardrobe closet 衣柜
fridge refrigerator 冰箱
sofa couch settee 沙发
stove cooker hob 灶台 炉灶
tap faucet 水龙头
television telly tv 电视
torch flashlight 手电 手电筒
trash garbage rubbish bin 垃圾
trousers pants 裤子
jumper sweater pullover 毛衣
trainers sneakers 运动鞋 球鞋
diaper nappy nappies 尿布 尿不湿 纸尿裤
pram stroller pushchair buggy 婴儿车
petrol gasoline 汽油
candy sweets 糖果
author writer 作家
choir 合唱团
gym 健身房
marathon 马拉松
street road 马路
street-parking parking 停车 车位
colleague coworker co-worker workmate 同事
landlord landlady 房东
roommate flatmate housemate 室友
printer 打印机
internship 实习
interview 面试
parcel package delivery 快递 包裹
elevator lift 电梯
mortgage 房贷
loan 贷款
course class lesson 课程
cat kitten 猫 猫咪
dog puppy 狗 狗狗
flat apartment condo 公寓
movie film 电影
project 项目
team 团队 小组
exam 考试
holiday vacation 假期 休假
morning 早上 上午
evening 晚上
memory ram 内存
glasses spectacles 眼镜
medicine medication 药
cigarette smoke smoking tobacco 抽烟 吸烟 烟
alcohol booze 酒
heating radiator 暖气
rent 房租 租金
hometown 老家 家乡
weekday 工作日
founded established 创立 成立 创办 建立
cake 蛋糕
coffee 咖啡
milk 牛奶
rice 米饭 大米
noodle 面条
egg 鸡蛋
chicken 鸡肉
beer 啤酒
wine 红酒 葡萄酒
snack 零食
recipe 食谱 菜谱
desk 桌子 书桌 工位
chair 椅子
window 窗户
roof 屋顶
balcony 阳台
cellar basement 地下室
attic loft 阁楼
key 钥匙
lamp light
camera 相机
headphone earphone 耳机
keyboard 键盘
screen monitor display 显示器 屏幕
charger 充电器
cable 线缆 数据线
wifi wi-fi 无线网 宽带
router 路由器
website site 网站
account 账号 账户
email mail 邮件 邮箱
message 消息 短信
newspaper 报纸
magazine 杂志
diary journal 日记
report 报告
essay paper thesis dissertation 论文
homework 作业
trainer 教练
neighbour neighbor 邻居
guest visitor 客人
friend 朋友
bird parrot 鹦鹉
rabbit bunny 兔子
hamster 仓鼠
turtle tortoise 乌龟
goldfish 金鱼
hen chickens 母鸡
cow 奶牛
bee beehive hive 蜜蜂 蜂箱
rose 玫瑰
tomato 番茄 西红柿
potato 土豆
knee 膝盖
shoulder 肩膀
ankle 脚踝
tooth teeth 牙齿
heart 心脏
vaccine vaccination jab 疫苗
insurance 保险
budget 预算
bank 银行
ticket 门票 车票
hotel 酒店 宾馆
airport 机场
station 车站 火车站
beach 海边 沙滩
park 公园
museum 博物馆
cinema 电影院
church 教堂
market 市场 菜市场
stall booth 摊位
farm 农场
village 村子
country 国家
city town 城市
umbrella 雨伞
jacket coat 外套
shoe boot 鞋子 靴子
shirt 衬衫
dress skirt 裙子
hat cap 帽子
ring 戒指
watch 手表
gift present 礼物
party 派对 聚会
concert gig 演唱会 音乐会
game match 比赛
race 赛跑
ski skiing 滑雪
climb climbing bouldering 攀岩
hike hiking 徒步 爬山
dance dancing 跳舞 舞蹈
sing singing 唱歌
paint painting 画画 绘画
draw drawing 素描
knit knitting 织毛衣
fishing 钓鱼
camp camping 露营
travel trip 旅行 旅游 出行
winter 冬天
summer 夏天
"""
SAME: dict[str, str] = {word: words[0] for words in map(str.split, _SAME.strip().splitlines()) for word in words}

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
需要 非常 顺便 马上 高兴 差不多
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
