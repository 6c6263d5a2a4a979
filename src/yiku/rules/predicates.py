"""
The predicates that are known: their names in both languages, how they are said, how they are asked for.

Data only; rules/slots.py reads statements with it. A pattern stands for one plain way to say a thing; what
only nearly fits it is none. `takes` names the sort of things that a predicate's object must be: «I moved to
Oslo» names a place, «I moved to the next topic» does not, and only a place may retire the home before it.
"""

from __future__ import annotations

from dataclasses import dataclass

from yiku.rules.shared_words import CITIES, MONTH
from yiku.types import Cardinality, Kind

SINGLE, MULTI, UNKNOWN = Cardinality.SINGLE, Cardinality.MULTI, Cardinality.UNKNOWN


@dataclass(frozen=True, slots=True)
class Predicate:
    """A known predicate: its names in both languages, how it is said, and how it is asked for."""

    name: str
    cardinality: Cardinality
    names: str  # other names, separated by |
    says: tuple[str, ...] = ()  # regular expressions over a cleaned statement, with groups s (subject) and o (object)
    asks: str = r"(?!)"  # a regular expression over a folded question; what it names as object in a group o
    kind: Kind = Kind.FACT
    opposite_of: str = ""  # shares the slot of this one
    takes: str = ""  # the sort of its objects, see SORTS; what is of another sort fills no slot


_NOW = r"(?:(?:now|currently|just|recently|already|finally|also|really|still|actually|have|has|'ve|'s|am|is|are|'m|'re) )*"
# Behind these «like» compares: «feels like rain», «feet like a duckling».
_AS_IF = r"(?:is|are|was|were|be|shaped|look(?:s|ed|ing)?|feel(?:s|ing)?|felt|sound(?:s|ed)?|seem(?:s|ed)?|taste(?:s|d)?|smell(?:s|ed)?|act(?:s|ed)?|more|much|feet|hair|eyes|hands|legs|voice|face)"
_ZH_NOW = r"(?:现在|目前|如今|已经|已|刚|最近|上周|上个?(?:月|星期|礼拜)|前天|昨天|今天|今年|去年|终于|其实|也|就|都|一直|正|还(?=住)|仍然?|依然)*"
BE = r"(?:is|are|was changed to|has changed to|changed to|is now|are now|moved to|has moved to|was moved to|has been moved to|is moved to|became)"
ZH_BE = r"(?:现在是|已经是|是|为|改成了?|改为了?|变成了?|改到了?|推迟到了?|延到了?|延期到了?|提前到了?|定在了?|定为|换成了?|更新到了?|升级到了?|升到了?|[:：])"

# Where people work, when it is not named.
_WORKPLACE = (
    r"(?i:(?:an?|the) (?:[\w-]+ ){0,3}(?:agency|airport|bakery|bank|bar|brewery|cafe|café|care home|charity|clinic|college|company|council|dairy|factory|farm|firm|garage|gallery|garden centre|hospital|hotel"
    r"|kindergarten|lab|laboratory|law firm|library|mill|museum|newspaper|ngo|nursery|nursing home|pharmacy|plant|port|practice|printer|pub|publisher|restaurant|salon|school|shipyard|shop|startup|start-up|store|studio|supermarket|surgery|theatre|theater|uni|university|warehouse|winery|workshop|yard)(?: (?:in|near|on|by) .+)?)"
)

PREDICATES: tuple[Predicate, ...] = (
    Predicate(
        "lives in",
        SINGLE,
        "live in|lives at|home|residence|city|located in|based in|moved to|住在|住|居住地|家|位于|搬到",
        (
            rf"(?P<s>.+?) {_NOW}(?:live|lives|living|reside|resides|based) in (?P<o>.+)",
            rf"(?P<s>(?!we\b|our\b).+?) {_NOW}(?:moved|relocated)(?: back| house| home| over)?(?: from (?:(?!\bto\b).)+)? to (?P<o>.+)",
            rf"(?P<s>.+?) {_NOW}(?:live|lives|living|rent|rents|renting|share|sharing|have|has|own|owns|bought) (?:in )?(?:an? |the )?(?:\w+ )?(?:flat|studio|house|apartment|room|place|cottage|bungalow) (?:in|at) (?P<o>.+)",
            r"(?P<s>my|our|(?:my )?\w+'s) home is (?:now )?(?:in )?(?P<o>.+)",
            r"(?P<s>)home is (?:now )?(?:in )?(?P<o>.+?)(?: for me| now)?",
            r"(?P<o>.+?) is (?:where (?P<s>i|we) (?:now )?live|(?:my|our) home)(?: now)?",
            rf"(?P<s>.*?)(?:一个人|全家|自己)?{_ZH_NOW}(?:从.+?)?(?:住在|居住在|定居在|定居|搬到|搬去|搬家到|搬回|家在)了?(?P<o>.+)",
            rf"(?P<s>我|我们|[^，,。的]{{1,4}}?)(?:家)?{_ZH_NOW}(?:人在|住)(?![在着的过得进了])(?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}在(?P<o>[^，,。]{{2,8}}?)(?:安了?家|定居|租房住?|租了?房子?|落了?户|买了?房|住)",
        ),
        r"\bwhere\b.*\b(?:live|lives|living|reside|resides|based|home)\b|\b(?:home|my|your|his|her)\b.*\bcity\b|住在?(?:哪|什么地方|何处|几楼)|搬到(?:了)?哪|家在哪|(?:在|住)哪[个座]?城市",
        takes="place",
    ),
    Predicate(
        "works at",
        SINGLE,
        "work at|works for|work for|employer|company|employed by|joined|就职于|任职于|工作单位|公司|雇主|单位|工作于|在职",
        (
            rf"(?P<s>.+?) {_NOW}(?:work|works|working|employed|started working|started a job|got a job|took a job) (?:at|for|by) (?P<o>.+)",
            rf"(?P<s>.+?) {_NOW}(?:joined|switched jobs to|changed jobs to|moved jobs to) (?P<o>(?!{_WORKPLACE}).+)",
            rf"(?P<s>.*?){_ZH_NOW}在(?P<o>[^,，]+?)(?:工作|上班|任职|就职)",
            r"(?P<s>my|our|.+?'s) (?:new )?job is (?:at|with) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}在(?!(?:{'|'.join(sorted(CITIES))})[当做任])(?P<o>[^,，]+?)(?:入职|实习|(?:当|做|任)[^在是的了过]{{2,6}})",
            rf"(?P<s>.*?){_ZH_NOW}(?:就职于|任职于|供职于|入职|跳槽到|跳槽去)了?(?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}换(?:了)?工作(?:了)?[,， ]*(?:现在)?(?:在|去|到)了?(?P<o>.+)",
        ),
        r"\bwhere\b.*\bwork(?:s|ing)?\b|\bwho\b.*\b(?:employ|work(?:s|ing)? for)|\b(?:employer|company|workplace)\b|(?:在|去)(?:哪|什么)(?:里|儿|家|个)?(?:公司|单位|地方)?(?:工作|上班|任职|就职)|(?:公司|单位|雇主|东家)",
        takes="employer",
    ),
    Predicate(
        "job",
        SINGLE,
        "job title|occupation|profession|role|position|works as|职业|职位|岗位|工作是|职务",
        (
            rf"(?P<s>.+?) {_NOW}(?:work|works|working) as (?:an? |the )?(?P<o>.+)",
            rf"(?P<s>.*?)(?:的)?(?:职业|职位|岗位){ZH_BE}(?P<o>.+)",
        ),
        r"\b(?:job|job title|occupation|profession)\b|\bdo for a living\b|什么工作|(?:职业|职位|岗位)",
        takes="job",
    ),
    Predicate(
        "name",
        SINGLE,
        "called|is called|full name|名字|姓名|叫|名叫",
        (
            r"(?:please )?(?P<s>)call me (?P<o>.+)",
            r"(?P<s>i|.+?'s .+|my .+) (?:am|is) (?:called|named) (?P<o>.+)",
            r"(?P<s>我|我的?[^的是叫]{1,4}|.{1,8}的[^的是叫]{1,4})叫(?:做)?(?P<o>[^,，。]{1,20})",
        ),
        r"\bname\b|\bcalled\b|叫什么|(?:名字|姓名)",
        takes="name",
    ),
    Predicate(
        "age",
        SINGLE,
        "years old|年龄|岁数",
        (
            r"(?P<s>.+?) (?:am|is|'m|'s) (?P<o>\d{1,3}) years old",
            r"(?P<s>.*?)(?:今年|现在|已经|其实|都|才)*(?P<o>\d{1,3})岁(?:半)?了?",
            r"(?P<s>.+?)(?:今年|现在|已经|其实|都|才)*(?P<o>[一二两三四五六七八九十]{1,3})岁(?:半)?了?",
        ),
        r"\bhow old\b|\bage\b|几岁|多大(?:了|年纪)|年龄",
    ),
    Predicate(
        "birthday",
        SINGLE,
        "date of birth|born on|birth date|生日|出生日期",
        (
            r"(?P<s>.+?) (?:was|were) born on (?P<o>.+)",
            r"(?P<s>.*?)(?:每年)?(?P<o>[\d一二三四五六七八九十]{1,3}月[\d一二三四五六七八九十]{1,3}[日号])(?:过|是)?生日",
        ),
        r"\bbirthday\b|\bborn\b|生日|出生",
        takes="date",
    ),
    Predicate(
        "phone",
        SINGLE,
        "phone number|telephone|电话|电话号码",
        (),
        r"\bphone\b|\btelephone\b|电话",
        takes="phone",
    ),
    Predicate(
        "address",
        SINGLE,
        "home address|postal address|street address|住址|地址|家庭住址",
        (),
        r"\baddress\b|住址|地址",
        takes="address",
    ),
    Predicate("mobile", SINGLE, "mobile number|cell phone|手机|手机号|手机号码", (), r"\bmobile\b|\bcell\b|手机", takes="phone"),
    Predicate(
        "email",
        SINGLE,
        "e-mail|email address|mail address|邮箱|电子邮件|邮件地址|邮箱地址",
        (),
        r"\be-?mail\b|邮箱|电子邮件",
        takes="email",
    ),
    Predicate("time zone", SINGLE, "timezone|时区", (), r"\btime ?zone\b|时区", takes="short"),
    Predicate(
        "spouse",
        SINGLE,
        "husband|wife|partner|married to|配偶|老公|老婆|丈夫|妻子",
        (rf"(?P<s>.+?) {_NOW}married to (?P<o>.+)",),
        r"\bmarried to\b|\bspouse\b|\b(?:husband|wife|partner)\b|老婆|老公|妻子|丈夫|爱人|配偶",
        takes="name",
    ),
    Predicate(
        "version",
        SINGLE,
        "version is|runs version|current version|版本|版本号|当前版本",
        (
            rf"(?!.*\b(?:birthday|bday|due|deadline|party|wedding|appointment|exam|meeting|flight|ships?|launch|release date)\b)(?P<s>.+?) {_NOW}(?:on|at|runs|uses|using|running|(?:was |been )?(?:upgraded|updated|bumped) to) (?:version )?(?P<o>v?\d[\w.+-]*)",
            rf"(?P<s>.+?) version {BE} (?P<o>.+)",
            r"(?P<s>.+?)(?:已经|已)?(?:升级到|更新到|升到)了?(?:版本)?(?P<o>v?\d[\w.+-]*)版?",
            rf"(?P<s>.+?)的?版本号?{ZH_BE}了?(?P<o>.+)",
        ),
        r"\bversions?\b|版本",
        takes="version",
    ),
    Predicate(
        "deadline",
        SINGLE,
        "due|due date|is due|due on|截止日期|截止时间|截止|期限|交付日期|最后期限|deadline是",
        (
            rf"(?P<s>.+?) {_NOW}due (?:on |by |in )?(?P<o>.+)",
            rf"(?:the )?deadline (?:of|for) (?P<s>.+?) (?:{BE}|slipped to|was pushed to|was extended to|has been pushed to) (?P<o>.+)",
            rf"(?P<s>.+?)(?:'s)? deadline (?:{BE}|slipped to|was pushed to|was extended to|has been pushed to) (?P<o>.+)",
            rf"(?P<s>.*?)的?(?:截止日期|截止时间|截止日|最后期限|期限|交付日期|deadline)(?:又|也|再)?{ZH_BE}了?(?P<o>.+)",
        ),
        r"\bdeadline\b|\bdue\b|截止|期限|什么时候交|deadline",
        takes="date",
    ),
    Predicate(
        "answer length",
        SINGLE,
        "reply length|response length|length of answers|回答长度|回复长度",
        (
            r"(?P<s>)(?:keep|make)(?: all)?(?: your| the)? (?:answers?|replies|reply|responses?) (?P<o>(?:very |more )?(?:short|brief|concise|terse|long|detailed|thorough))(?:er)?(?: pls| please)?",
            r"(?P<s>)(?:你)?(?:回答|回复|答复)(?:我)?(?:的时候|时)?(?:尽量|要|请|最好|都)*(?P<o>简短|简洁|简单|详细|长|短)(?:一点|一些|点|些)?(?:就好|就行)?",
        ),
        r"\b(?:answers?|repl(?:y|ies)|responses?) (?:be|length)\b|(?:回答|回复)(?:要)?(?:多长|简短|详细)",
        Kind.PREFERENCE,
    ),
    Predicate("status", SINGLE, "状态", (), r"\bstatus\b|状态", takes="short"),
    Predicate(
        "favourite",
        SINGLE,
        "favorite|最喜欢的|最爱的",
        (),
        r"\bfavou?rite\b|最喜欢的|最爱",
        Kind.PREFERENCE,
    ),
    Predicate(
        "likes",
        MULTI,
        "like|loves|love|enjoys|enjoy|is fond of|喜欢|爱|热爱|喜爱",
        (
            rf"(?!.*\b{_AS_IF} like\b)(?P<s>.+?) {_NOW}(?:like|likes|love|loves|enjoy|enjoys|adore|adores|fond of) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:很|最|特别|非常|超|挺|真的)*(?:喜欢(?!的)|喜爱(?!的)|热爱|爱(?![人好情心的惜护晚]))(?P<o>.+)",
        ),
        r"(?<!sound )(?<!sounds )(?<!look )(?<!looks )(?<!feel )(?<!feels )(?<!felt )(?<!seem )(?<!seems )(?<!taste )(?<!tastes )"
        r"(?<!would you )(?<!'d )(?<! it )(?<! is )(?<! was )(?<! be )(?<!thing )(?<!things )\b(?:like|likes|love|loves|enjoy|enjoys)\b(?!\s*(?:this|that|we|you|i|they|last|before|so)\b)|喜欢|喜爱|爱(?:吃|喝|看|听|玩|好)",
        Kind.PREFERENCE,
    ),
    Predicate(
        "dislikes",
        MULTI,
        "dislike|hates|hate|does not like|no longer likes|can't stand|cannot stand|不喜欢|讨厌|不爱",
        (
            r"(?P<s>.+?) (?:do not|don't|dont|does not|doesn't|no longer|never) (?:really |even )?(?:like|likes|love|enjoy|enjoys) (?P<o>.+?)(?: any ?more| any longer)?",
            r"(?P<s>.+?) (?:can't|cannot|can not) (?:stand|bear|abide) (?P<o>.+)",
            rf"(?P<s>.+?) {_NOW}(?:hate|hates|dislike|dislikes|detest|detests) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:再也不|不再|不太|不|没那么)(?:喜欢|爱)(?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:很|最|特别|非常)*(?:讨厌|厌恶)(?P<o>.+)",
        ),
        r"\b(?:dislikes?|hates?|(?:don't|not) like)\b|不喜欢|讨厌",
        Kind.PREFERENCE,
        opposite_of="likes",
    ),
    Predicate(
        "prefers",
        MULTI,
        "prefer|preference|prefers to|偏好|更喜欢|偏爱|倾向于",
        (
            rf"(?P<s>.+?) {_NOW}(?:prefer|prefers) (?P<o>.+)",
            rf"(?P<s>.*?){_ZH_NOW}(?:更喜欢|偏好|偏爱|倾向于)(?P<o>.+)",
        ),
        r"\bprefers?\b|\bpreferences?\b|偏好|更喜欢|偏爱",
        Kind.PREFERENCE,
    ),
    Predicate(
        "allergic to",
        MULTI,
        "allergy|allergies|is allergic to|过敏|对…过敏",
        (
            rf"(?P<s>.+?) {_NOW}(?:(?:very|badly|severely) )?allergic to (?P<o>.+)",
            r"(?P<s>.*?)(?:一直|也)?对(?P<o>[^不没]+?)(?:严重|有点)?过敏",
        ),
        r"\ballerg(?:ic|y|ies)\b|过敏",
    ),
    Predicate(
        "not allergic to",
        MULTI,
        "no longer allergic to|不对…过敏",
        (
            r"(?P<s>.+?) (?:am|is|are) (?:not|no longer) allergic to (?P<o>.+?)(?: after all| any ?more)?",
            r"(?P<s>.*?)对(?P<o>.+?)(?:已经|其实)?不(?:再)?过敏了?",
        ),
        opposite_of="allergic to",
    ),
    Predicate(
        "no longer uses",
        MULTI,
        "does not use|不再使用|不用",
        (
            r"(?P<s>.+?) (?:no longer|do not|don't|does not|doesn't) use (?P<o>.+?)(?: any ?more| any longer)?",
            r"(?P<s>我|我们|他|她)(?:现在)?(?:不再用|不再使用|不用)(?P<o>.+)",
        ),
        opposite_of="uses",
    ),
    Predicate(
        "uses",
        MULTI,
        "use|using|用|使用|在用",
        (rf"(?P<s>.+?) {_NOW}(?:use|uses|using) (?P<o>.+)", rf"(?P<s>我|我们|他|她){_ZH_NOW}(?:在用|使用|用)(?P<o>(?![的了过]).+)"),
        r"\b(?:use|uses|using)\b|(?:在用|使用|用)(?:什么|哪|的是)",
    ),
    Predicate(
        "owns",
        MULTI,
        "own|has|have|拥有|有",
        (
            rf"(?P<s>.+?) {_NOW}(?:own|owns) (?P<o>.+)",
            r"(?P<s>.+?) (?:have|has|got) (?P<o>an? .+)",
            r"(?P<s>我|我们|他|她)(?:家)?(?:养了|拥有|有)(?P<o>[一两二三四]?[只条辆台部].+|一?个.+)",
        ),
        r"\b(?:own|owns|have|has) (?:any|a|an|got)\b(?P<o>[^.?!]*)|养了什么|有(?:几|什么)[只条个辆台部]",
    ),
    Predicate(
        "no longer owns",
        MULTI,
        "sold|gave away|does not own|does not have|没有|卖了|卖掉了",
        opposite_of="owns",
    ),
    Predicate(
        "speaks",
        MULTI,
        "speak|languages|会说|会讲",
        (rf"(?P<s>.+?) {_NOW}(?:speak|speaks) (?P<o>.+)", rf"(?P<s>.*?){_ZH_NOW}(?:会说|会讲)(?P<o>.+)"),
        r"\bspeaks?\b|\bwhich languages\b|会(?:说|讲)(?:什么|哪)",
    ),
)

# What the objects of a predicate look like, in the letters in which they were said.
_CAPITALISED = r"(?:the )?[A-Z][\w'’.&+-]*(?:[ ,]+(?:[A-Z0-9][\w'’.&+-]*|of|and|de|la|le|den|upon|near|in)){0,5}"
_DAY = r"mon(?:day)?|tue(?:sday)?|wed(?:nesday)?|thu(?:rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?|today|tonight|tomorrow|noon|midnight|easter|christmas"
_ZH = r"[\u3400-\u9fff]"

SORTS: dict[str, str] = {
    "place": rf"(?!(?i:{_DAY}|{MONTH})\b)(?!\w*[a-z][A-Z])(?:\d+\w? )?{_CAPITALISED}"
    rf"|(?=.*{_ZH})(?![一二三两几这那]|新的|旧的|别的|自己|爸|妈|朋友|上面|下面|楼|酒店|宿舍|从|到|家$)(?:(?!的时候|那年|时候|工位|假的|真的){_ZH}|[A-Za-z· ]){{2,20}}(?<![里上下])(?<!附近|旁边|对面|公寓|房子|城堡)",
    "address": rf".*\d.*|{_CAPITALISED}|.*{_ZH}.*[路街号区].*",
    "employer": rf"{_CAPITALISED}|{_WORKPLACE}"
    rf"|(?=.*{_ZH})(?![家外上这那哪]$|家里|家中|晚上|白天|周末|夜里|早上|下午|努力|认真|拼命|好好|一起|外面|线上|远程|做|是|的)(?:{_ZH}|[A-Za-z0-9·& ]){{2,20}}",
    "name": rf"[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*){{0,3}}|(?![了不我你他她它人车一外个])(?!.*(?:回|吃|去|来|做|等|医生|老师|工程师)){_ZH}{{1,4}}",
    "date": rf"(?i:.*(?:\d|\b(?:{MONTH}|{_DAY})\b|[月日号周底初天旬季]|星期|end of|week|month|quarter).*)",
    "version": r"[vV]?\d[\w.+-]*",
    "phone": r"(?:\D*\d){3,}\D*",
    "email": r"\S+@\S+",
    "job": rf"(?:[aA]n? |[tT]he )[\w -]{{2,40}}|(?:[A-Za-z -]+ )?(?:engineer|developer|designer|teacher|nurse|doctor|manager|director|editor|writer|student|scientist|lawyer|analyst)|(?![很太非]|不){_ZH}{{2,10}}",
    "short": r"\S+(?: \S+){0,2}",
    "school": r"(?i:.*\b(?:school|college|university|academy|institute|kindergarten|montessori|nursery|lyc[eé]e|gymnasium|polytechnic|mit|eth)\b.*)",
}
# A statement in small letters throughout names things in small letters; these are none.
SMALL_NAME = r"[a-z][\w'.-]*(?: [a-z][\w'.-]*)?"
NO_NAMES = frozenset(
    "a an home fear hope peace town bed style school work night day it that this me you him her us them free fun love here there tears pain luck"
    " tomorrow back later again soon anytime nobody everyone something nothing jeans debt doubt danger silence truth past present future".split()
)

RELATIVES = {
    "妹妹": "sister", "妹": "sister", "姐姐": "sister", "姐": "sister", "哥哥": "brother", "哥": "brother", "弟弟": "brother", "弟": "brother",
    "妈妈": "mother", "妈": "mother", "母亲": "mother", "mom": "mother", "mum": "mother", "爸爸": "father", "爸": "father", "父亲": "father",
    "dad": "father", "老婆": "wife", "妻子": "wife", "太太": "wife", "老公": "husband", "丈夫": "husband", "先生": "husband", "儿子": "son",
    "女儿": "daughter", "老板": "boss", "领导": "boss", "同事": "colleague", "室友": "roommate", "朋友": "friend", "男朋友": "boyfriend",
    "女朋友": "girlfriend", "猫": "cat", "狗": "dog", "项目": "project", "孩子": "child", "奶奶": "grandmother", "爷爷": "grandfather",
}  # fmt: skip
