"""
The same under another name, in one language or in both: what values and statements are compared by.

Data only. `WHOLE` has what means the same as a whole, of several words or one («graveyard shift» is 夜班); `SAME` has
words. What a key holds is stricter (lexicon.TWINS, lexicon.ATTRIBUTES).
"""

# ruff: noqa: E501  (one thing a line)

from __future__ import annotations

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
晕车: carsick, car sick, gets carsick, car sickness, 坐车就吐, 一坐车就吐, 坐车会吐, 坐车就晕, 一坐车就晕, 坐车晕
晕船: seasick, gets seasick, sea sickness, 坐船就吐
恐高: 恐高症, 惧高, 惧高症, 很怕高, fear of heights, scared of heights, afraid of heights, heights, acrophobia, 怕高, 高处, 高的地方, 站在高处, 站在高的地方
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
独生子女: only child, no siblings, no brothers or sisters, neither brothers nor sisters, 独生女, 独生子, 没有兄弟姐妹, 没兄弟姐妹, 爸妈就生了我一个, 爸妈只生了我一个, 家里就我一个
麸质过敏: coeliac, celiac, coeliac disease, celiac disease, gluten intolerant, gluten intolerance, 乳糜泻, 麸质不耐受
不喝酒: does not drink alcohol, doesn't drink alcohol, don't drink alcohol, teetotal, teetotaller, 滴酒不沾, 不沾酒, 从不喝酒
双胞胎: twins, a pair of twins, 龙凤胎
左手: left, left hand, the left
右手: right, right hand, the right
每晚: nightly, every night, each night, 每天晚上, 每天夜里
每天: daily, every day, each day, 每日, 天天
每周: weekly, every week, each week, 每星期, 一周一次
每月: monthly, every month, each month, 每个月, 一个月一次
在家办公: remote, remotely, work from home, works from home, working from home, wfh, home office, 居家办公, 远程办公, 远程
自由职业: freelance, freelancer, freelancing, self-employed, 自由职业者
全职妈妈: stay-at-home mum, stay-at-home mom, full-time mother, 家庭主妇, 全职太太
早起: early riser, early bird, morning person, gets up early, 起得早, 起很早
熬夜: night owl, stays up late, up late, 夜猫子, 睡得晚, 睡得很晚, night person, a night person, alive after midnight
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

# One thing under many words, of either language: a concept a line, its name first. Statements are compared by these.
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
