"""
Plain statements that no cue knows: what shape has a clause that tells something of its speaker?

A clause of the first person, or of what is his («my X», 我X, and in Chinese one without a subject behind a time), in
any tense, that names something: a number, a day, a name, one of his people, a thing of his. Not one of what he thinks,
understands or wonders, what he says to whom he speaks, what he only tries out at the moment, or what a pronoun leaves open.
Shapes are tried after the cues, so they decide nothing that a cue knows better. In a note that somebody wrote down for
himself (clauses.note), what is listed, decided or set down in figures is his, too.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

from yiku.rules.extract import chinese, english
from yiku.rules.extract.clauses import HAN
from yiku.rules.extract.cues import Cue, compiled
from yiku.types import Kind

# ------------------------------------------------------------------ English

# Said to the one who listens, of this conversation, or of what another sentence named.
_TO_YOU = r"\b(?:you|your|yours|yourself|let's see|sharp sharp)\b|^(?:i|we)(?:'ve|'m|'d|'ll)? (?:\w+ )?(?:it|them|these|those|this one|that one)\b|\b(?:it|them|these|this|that|those|so|too)$|\bfollowing\b|^we can\b|\b(?:reply|replies|feedback on|prompt|(?:had|have|take|took) a look|messed|link)\b|\b(?:right now|stay (?:up|inform)\w*|at the moment|this message)\b"
# Where another begins to be spoken of.
OTHER = r",? (?:so|and|but|as) (?:it|its|it's|that|that's|this|he|she|they|there|their|his|her|by the way|all|you|the)\b|, (?:which|it's|that's|this)\b"
# What goes on in a head, or is only meant for now.
_MIND = r"(?:think|thought|know|knew|see|saw that|understand|understood|guess|hear|heard|feel|felt|wonder|wondered|hope|hoped|mean|meant|believe|believed|notice|noticed|realize|realized|realise|realised|remember|remembered|forgot|forget|wish|wished|agree|agreed|appreciate|suppose|assume|imagine|say|said|ask|asked|mention|mentioned|tell|told|see|look|looked|seem|seemed|figure|figured|apologi[sz]e\w*|thank|thanked|thrilled|want|wanted|need|needed|like|liked|love|loved|can|could|will|would|should|must|may|might|shall|am|was|were|are|is|be|have|had|has|do|did|don'?t|didn'?t|haven'?t|won'?t|can'?t|cannot|get|got|just|never)\b"
_TRYING = r"(?:how\b|what|whether|why|if|know|knowing|learn|learning|see|seeing|hear|hearing|find|finding|understand|understanding|explore|exploring|check|checking|figure|figuring|decide|deciding|ask|asking|discuss|discussing|read more|make sure|making sure|ensure|use|using|try (?:it|that|these|those|some|out)|trying (?:it|that|these|those|some|out (?:some|those|these|a few))|get (?:a (?:sense|feel|better)|some|more|started|back)|getting started|confirm|hold|hear|proceed|continue|move (?:on|forward)|start with|focus|be able|include|avoid|look|looking|start (?:with|by|the|on|flesh\w*|building|creating|working)|go into|determine|come up|think|say|do it|do this|do that|reach out|incorporat\w+|implement\w*)\b"
TALK = r"\b(?:this|that|these|those) (?:\w+ ){0,3}(?:suggestions?|ideas?|tips?|recommendations?|advice|list|plan|approach|answer|response|options?|explanation|information|info|points?|draft|summary|version|conversation|chat|question|feature|scene|story|code|function|script|file|error|page)\b|\b(?:errors?|bugs?|functions?|dataframe|columns?|variables?|terminal|stack ?trace|json|html|css|checkbox|chatgpt)\b"
_TALKED = rf"{_TO_YOU}|{TALK}"
# Something that can be named: a figure, a day, a name inside the clause, a title.
_NAMED = r"(?!100 ?%)\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|forty|fifty|sixty|half|dozen|hundred|thousand)\b|(?<=[a-z0-9,;&] )\W?(?!I\b|I'|OK\b|AI\b|My\b)[A-Z][A-Za-z'’-]+|\"[^\"]{3,}\""
_OWN = r"\b(?:my|our) (?!own\b|mind\b|head\b|understanding\b|question\b|concerns?\b)\w|\b(?:an?|some|two|three|four|five|several|few) \w{3,}"
_MINE = r"\b(?:my|our) (?!own\b|mind\b|head\b|understanding\b|questions?\b|concerns?\b|guy\b|bad\b)\w"
_SUCH = r"\w+ (?:with(?:out)? (?:an?|my|our|no|\w+ing)|that(?:'s| is| are| has| have| can| doesn| \w+s\b)|to (?:be|feel|have|look|last|stay|fit)) \w+ \w"  # what it is to be like
_OFTEN = r"(?:usually|always|often|typically|generally|mostly|normally|regularly|occasionally|rarely|sometimes|frequently|mainly|primarily|never|still)"

# What somebody says he will do, often at the moment only: it must name something.
_WILL = Cue(
    "plan",
    Kind.TASK,
    rf"(?:i'll|i will|we'll|we will|i'?m going to|i plan to|i intend to|(?:my|our) (?:\w+ ){{0,3}}(?:plan|goal|aim|target|dream|hope|objective|priority|focus)(?:, [^,]{{3,60}},)? (?:is|was)) (?:\w+ly |also |just |now |still |probably )*+(?!{_TRYING}|{_MIND}|let\b|make\b|give\b|take (?:a look|this|that|care)|keep\b|go with\b|start\b|follow\b|reach\b|add\b|stick\b)\w.*",
    _TALKED + r"|\bnow\b",
)

ENGLISH: tuple[Cue, ...] = (
    Cue(
        "plan",
        Kind.TASK,
        rf"(?:i'?m|i am|we'?re|we are|i was|we were|i'?ve been|i have been|we'?ve been) (?:\w+ly |also |just |now |still |currently )*+(?:thinking (?:of|about)|considering|planning(?: on| to)?|hoping to|going to|trying to|aiming (?:for|to)|meaning to|wanting to|looking to|leaning towards?|about to|determined to|eager to|getting ready (?:to|for)|sticking (?:with|to)|working (?:on|towards?)|saving) (?:{_OFTEN} )?(?!{_TRYING})\w.*",
        _TALKED,
    ),
    Cue(
        "plan",
        Kind.EVENT,
        r"(?:i|we)(?:'ll| will) be (?!looking|thinking|keeping|using|checking|wondering|trying|asking|waiting|needing)\w+ing(?: \w+){3,}.*",
        _TALKED,
    ),
    Cue(
        "event",
        Kind.EVENT,
        r"(?:i'?m|i am|we'?re|i'?ve been|i have been|i had|i have) (?:\w+ly |also |still )*+(?:having |had )?(?:some |a lot of |a few |an )*(?:issues?|trouble|problems?|difficult\w+) with (?:my|our|the) \w.*",
        _TO_YOU,
    ),
    _WILL,
    Cue(
        "preference",
        Kind.PREFERENCE,
        rf"(?:i|we)(?:'d| would)? (?:\w+ly |still |also |just )*+(?:want|need|wish|like|love|hope|prefer|rather|expect)\b(?: for)? (?:(?:to|my|our|the|an?|have) )?(?!to {_TRYING}|{_TRYING}|help|some (?:help|advice|ideas|tips|suggestions)|the (?:idea|sound|way)|(?:an? |more |some |further )?(?:\w+ )?(?:idea|information|details|suggestions?|ideas|advice|tips|assistance|solution))\w.*",
        _TALKED + r"|^(?:i|we)(?: \w+)? (?:like|love) (?:the|how|that)\b|\bneed the\b|^i hope (?:the|that)\b",
    ),
    Cue(
        "preference",
        Kind.PREFERENCE,
        r"(?:i|we) (?:\w+ly )*+(?:do not|don'?t) want (?:my |our |the |any |an? )?(?!to (?:make (?:it|sure)|know|hear|forget|lose|miss|have to)|it\b|that\b|this\b|\w+\W*$)\w.{12,}",
        _TALKED,
    ),
    Cue(
        "plan",
        Kind.TASK,
        rf"(?:i|we)(?:'d)? (?:\w+ly |still |also |just )*+(?:want|need|have|plan|like) to (?!{_TRYING}|{_MIND}|be\b|do\b|go\b|make\b|take\b|keep\b|focus|consider|start\b|talk\b|work on\b|think\b)[a-z]+(?: up| out)? (?!it\b|this|that|these|those|them|about)(?:and [a-z]+ )?\w.*",
        _TALKED,
    ),
    Cue(
        "preference",
        Kind.PREFERENCE,
        r"(?:i'?m|i am|we'?re|we are) (?:\w+ly |also |still |not |very |really |so )*+(?:keen on|excited (?:about|for)|drawn to|big on|picky about|particular about|comfortable with|(?:more|most|less|least) \w+ (?:in|at|on|when|with|during)|willing to|committed to|set on)\b (?!it\b|this|that|these|those|them|see|the (?:idea|plan)).*",
        _TALKED,
    ),
    Cue(
        "has",
        Kind.FACT,
        rf"(?:i|we) (?:only |also |still |\w+ly )*+(?:can'?t|cannot|can only|can|have to|need to|must|(?:don'?t|do not) (?:have|need|use|own|go|do|work|live|drink|eat|drive|watch|play|get|keep|take|smoke|speak|see)) (?:only |also |\w+ly )*+(?!{_TRYING}|{_MIND}|wait|help|believe|stop|start|deny|afford to|find|make|let|go ahead|proceed|move|stress|any\\b|much\\b)\w.*",
        _TALKED,
    ),
    Cue(
        "habit",
        Kind.FACT,
        rf"(?:i|we) (?:\w+ )?(?:{_OFTEN}|try to|tend to|aim to|make it a point to|make sure to) (?!{_MIND})[a-z]+ \w.*",
        _TALKED,
    ),
    Cue(
        "event",
        Kind.EVENT,
        rf"(?:i|we)(?:'ve| have|'d| had)? (?:\w+ly |just |also |already |even |finally |once |never )*+(?:(?!{_MIND})[a-z]+ed|(?!been\b){english.DID}|was|were|had(?! a look)|did|made|put|set|found|built|held|drew|shot|beat|bent|lent|dug|fed|fled|hung|kept|knit|led|met|paid|rang|sang|shook|stood|stuck|swam|threw|wrote|sat|cut|hit|chose|drank|fell|flew|froze|grew|hid|lay|rose|sank|shut|slid|spoke|split|spread|stole|swept|taught|tore|woke|won|began|ate)\b .*",
        _TALKED + r"|\b(?:i|we) (?:was|were) (?:wondering|hoping|thinking|worried|curious|asking|looking|talking)\b",
    ),
    Cue(
        "preference",
        Kind.PREFERENCE,
        r"(?:i'?m|i am|we'?re|we are|i'?ve been|i was) (?:\w+ly |also |just |now |still )*+(?:interested in|looking (?:for|into|forward to|at)|searching for|hoping (?:for|to|that)|hunting for|curious about|excited (?:to|about))(?: (?:learning|knowing|hearing|reading|finding|exploring)(?: out)?(?: more)?(?: about)?)? (?!some (?:tips|advice|ideas|help|inspiration|information|suggestions|recommendations)|tips|advice|ideas|help|information|more\b|suggestions|recommendations|how\b|what\b|ways?\b|it\b|this|that|these|those|them|see|know)\w.*",
        _TALKED,
    ),
    Cue(
        "habit",
        Kind.FACT,
        rf"(?:i|we) (?:\w+ly )*+(?!{_MIND}|{_TRYING}|start|put|make\b|go\b|take a\b|give\b|come\b|recommend|suggest|welcome|support|provide|offer|understand|worry|fail|also|still|just|always|already|once|often|even|only|respond|reply|play (?:as|with)|proposition)[a-z]+(?<!ed) \w.*",
        _TALKED,
    ),
    Cue(
        "thing",
        Kind.FACT,
        rf"(?:(?:some|one|two|three|many|most|all|both|a few|a couple) of )?(?:my|our) (?!{english.NO_OBJECT}|guy\b|god\b|apolog|question|thoughts?\b|point\b|bad\b|concern|worry|issue|problem|mind\b|job is to\b|role will\b|role is to\b)(?:[\w'’-]+,? ){{1,6}}(?:'s|is|are|was|were|has|have|had|can|will|would|does|do|did|\w+s|\w+ed)\b .*",
        _TALKED,
    ),
)

# Plans and habits that name nothing but a thing.
_SMALL = tuple(cue for cue in ENGLISH if cue is not _WILL and cue.name in ("plan", "habit"))

# Events and habits that name what is one's own.
_THINGS = tuple(cue for cue in ENGLISH if cue.name in ("event", "habit"))


# What is found right, fitting or too much, whatever it is; it must name something.
_VERDICT = Cue(
    "decision",
    Kind.FACT,
    r"(?:every time|each time|whenever|when(?:ever)? (?:an?|the|someone|somebody|my|our)|once (?:an?|the|my)) [^,]{3,60}, (?:i|we) (?!can\b|will\b|think|feel|know)\w+ .+|the (?:\w+ )*thing (?:i|we) (?:\w+ )?(?:do|need|want|care about)(?: \w+)? is .*|(?:the|each|every|all|any|no) [\w' -]{3,50}? (?:needs? to|has to|have to|must|is (?:scheduled|planned|set|moved|due)|are (?:scheduled|planned|set|moved|due)|will be|goes|starts|begins|ends|costs) .*|(?!(?:it|this|these|that|those|they|there|here|what|he|she|which|who|the (?:first|second|third|following|idea|option))\b)[a-z][\w' ,-]{6,120}? (?:is|are|was|were|feels?|works?) (?:[\w-]+ ){0,4}?(?:the right (?:call|choice|move|decision|fit)|realistic|manageable|doable|feasible|perfect|ideal|non-negotiable|important (?:to|for) (?:me|us)|too (?:much|long|far|short|early|late|expensive|hard|risky) for (?:me|us))\b.*",
    _TALKED,
)


def english_cue(said: str, words: str) -> Cue | None:
    """
    The shape that an English clause has, if it tells something.

    said:   the clause in small letters
    words:  as it was written
    """
    if compiled(english.SELF).match(said) is None:
        something = compiled(_NAMED).search(words, 2) or compiled(_MINE).search(said)
        return _VERDICT if something and _VERDICT.found(said, anywhere=False) else None
    named = compiled(_NAMED).search(words, 2) is not None and not words.isupper()
    for cue in ENGLISH:
        if cue.found(said, anywhere=False):
            return cue if named or _concrete(cue, said) else None
    return None


def _concrete(cue: Cue, said: str) -> bool:
    """Whether a clause without a name says enough to be worth keeping: a day, a thing of one's own, what something is like."""
    return (
        compiled(english.DATE).search(said) is not None
        or (cue in _SMALL and (cue.kind is Kind.EVENT or compiled(_OWN).search(said) is not None))
        or ((cue in _THINGS or cue is _WILL) and compiled(_MINE).search(said, 3) is not None)
        or (cue.kind is Kind.PREFERENCE and compiled(_SUCH).search(said) is not None)
    )


# ------------------------------------------------------------------ Chinese

_HEAD = r"(?:觉得|感觉|感到|认为|以为|知道|明白|清楚|懂|理解|发现|意识到|想(?:到|起|听|问|知道|了解|请|跟|和|聊|看看|确认|搞|象|法|想|先|让你|通)|担心|怕|好奇|疑惑|纠结|困惑|希望你|相信|同意|认同|会先|先(?:去|试|从|按|把)|试试|接下来|该怎么|心里|好像|似乎|没想到|记下|一下|听起来|看来|有启发|豁然|受用|放心|确实是|可以)"
_OPEN = r"它|[这那](?:些|种|样|套)|(?:^|[把将给用按从])(?:这|那)(?:些|个|种|样|套|几|份|点)?|你|您"
_PIECE = r"(?:(?<![小临当及准暂平])时|时候|之前|之后|以后|以来|方面|过程中|[\)）]|:\d*|的话|的目标|上|下来?|说|提到|表示|像|[和跟与把让])[\0\s]*$|是[\0\s]*$|^(?:为了|对于|关于|除了|按照|针对|在[^,]{2,10}上|我这[种个样]|用|把|将|从)"
_ZH_TALKED = rf"{_HEAD}|{_OPEN}|{_PIECE}|{chinese.TALK}"
_WHO = r"(?:我们?|咱们?|俺)"
_PAST_ZH = r"(?:刚刚?|刚才|今天|今早|今晚|昨天|昨晚|前天|前几天|上周.?|上个?月|去年|前年|最近|近期|早上|上午|中午|下午|晚上|傍晚|凌晨|清晨|周末|这两天|这几天|这周|本周|之前|本来|原本|当时|后来|\d+月\d+[日号]|\d{4}-\d\d-\d\d|\d{8}|\d{4}年)"
_DOING = r"(?:研究|构思|规划|整理|筹备|准备|策划|梳理|撰写|写|学|练|读|备考|复习|做|跟进|推进|忙|带|教|拍|尝试|打造|搭建|开发|设计|装修|找|看|关注|负责|参与|参加|经营|照顾|适应|恢复|减肥|健身|培训|实习|创作|完善|优化)"
_FAMILY = r"(?:我?(?:爸妈|父母|爸爸|妈妈|老爸|老妈|我爸|我妈|父亲|母亲|爷爷|奶奶|外公|外婆|姥姥|姥爷|哥哥|姐姐|弟弟|妹妹|老公|老婆|丈夫|妻子|儿子|女儿|男友|女友|男朋友|女朋友|岳父|岳母|公公|婆婆|室友|闺蜜))"

CHINESE: tuple[Cue, ...] = (
    Cue(
        "plan",
        Kind.EVENT,
        rf"(?:{_WHO}|^)[^,]{{0,6}}?{chinese.COMING}(?:就|先|得|再|要|会|开始|起|前|内|上午|下午|晚上|早上)+[^,]{{3,}}|准备{chinese.COMING}[^,]{{3,}}|(?:\d+月\d+[日号]|{chinese.COMING})[^,]{{0,10}}[与和跟][^,]{{3,}}|[\d一二两三四五六七八九十]+(?:年|个月|周|天)内[^,]{{3,}}|目标(?:就|不)?是[^,]{{4,}}|^.{{0,8}}(?:目标|准则|原则|规矩|决定|安排|反思|教训|结论)[一二三四五\d]?:[^,]{{4,}}",
        _ZH_TALKED + r"|如果|怎么",
    ),
    Cue(
        "habit",
        Kind.FACT,
        rf"(?:{_WHO}|^)(?:最近|近来|近期|这段时间|这阵子|目前|现在|今年|一直|还|也|都|平时|主要)*(?:正在|正|一直在|都在|在|负责|主要)(?!想|思考|考虑|意|乎|这|那|于)[^,]{{0,10}}?{_DOING}[^,]{{2,}}|{_WHO}[^,]{{0,8}}?(?:负责|接触|从事|分管|主管|专攻|任教|打理|经营)[^,]{{2,}}|{_WHO}[^,]{{0,4}}?(?:用|订|买|选|住|学|教|做|练|写|拍|开|穿|养|带)的(?:就|都|主要|一直)?是[^,]{{2,}}",
        _ZH_TALKED,
    ),
    Cue(
        "preference",
        Kind.PREFERENCE,
        rf"{_WHO}(?:更|最|真正|确实|特别|尤其|一直|其实|还是|始终|也|比较)*(?:希望|想要|追求|在意|信赖|信任|着迷|看重|倾向|偏向|不想|不希望)(?!一点|再|你|找到|能?(?:更|高效|系统)|时间|一些|一个|具体|整个)[^,]{{5,}}|{_WHO}(?:更|最|真正|一直|确实|也|还|就|很|特别|是)*想(?:把|做|写|拍|打造|通过|营造|构建|建|学|去|成为|考|换|买|给|为|用|体现|表达|追求|突出|聚焦|让(?!你|我))[^,]{{4,}}",
        _ZH_TALKED,
    ),
    Cue(
        "preference",
        Kind.PREFERENCE,
        rf"{_WHO}(?:真正|确实|其实|一直|现在|最)*(?:需要|想要|要|追求|看重|在意|关心|期待)的(?:其实|就|正|恰恰|不只|不仅)*是(?!这[个些]?$|你)[^,]{{4,}}|{_WHO}更想(?:听|看|要)[^,]{{3,}}",
        r"[?吗]$|你|聊",
    ),
    Cue(
        "lesson",
        Kind.EXPERIENCE,
        rf"^(?:{_WHO}?(?:以后|今后|往后|下次)|{_WHO})(?:还是|也|一定|都)*(?:得|必须|应该|要|尽量)(?:先|多|少|学会|提前|坚持|养成|改掉|记得|留)[^,]{{4,}}|^(?:以后|今后|往后)(?:坚持|尽量|多|少)[^,]{{3,}}",
        _ZH_TALKED + r"|做什么|怎么",
    ),
    Cue(
        "event",
        Kind.EVENT,
        r"^[^,我你您他她它这那]{0,18}?(?:完成|收到|提交|回复了|撰写|打印|参加|学习了|进行了|约定|约好|(?:已|最终)确认|坚持(?!下|录)|(?<!得)开始(?!的|动)|负责|设置|录用|购买|买了|预订|订了|敲定|定了|整理了|润色|拜访|见了|拍了|读了|写了|跑了|练了|做了|(?<!失)去了|更新了|报名|通过(?=了|[^,]{2,10}(?:考试|面试|审核))|获得|住院|确诊|出院|突发)[^,]{3,}",
        _ZH_TALKED + r"|可以|能|会|如何|应该|需要|希望|更|感受|帮|让|听|那一刻|种出来",
    ),
    Cue(
        "plan",
        Kind.TASK,
        r"^(?:下一步|后续|接下来|之后|今后|因此|所以|经过考虑)*,?(?:仍|还|也)?(?:需(?!要|求)|需要(?:尽快|继续|长期|准备|提前|完成|整理|购买)|必须|决定|打算|计划|拟)(?!你|的|好)[^,]{4,}",
        r"你|您|它|怎么|如何|什么|吗$|注意$|承认|这些|清晰|思路",
    ),
    Cue(
        "relation",
        Kind.FACT,
        rf"^(?:是|也是|而|但|平时|主要|这次)*(?:给|陪|带|帮|为|和|跟|与)?{_FAMILY}(?!们|般|式|角色)(?!的(?!身体|健康|生日|工作|病|手术|血压|年纪|年龄|房子|公司|店|朋友|事))[^,]{{3,}}|{_WHO}(?:和|跟|与)(?:我)?(?:的)?{chinese.RELATIVES}[^,]{{3,}}|{_WHO}[^,]{{0,8}}(?:给|陪|带|帮|为|教)(?:我)?{_FAMILY}[^,]{{2,}}",
        _ZH_TALKED + r"|沟通|如何|应该|^.{0,4}(?:一直|也|都|还)?在?(?:夸|笑|神)",
    ),
    Cue(
        "relation",
        Kind.FACT,
        r"^(?!这|那|它)[^,我你]{2,8}?(?:邀请|建议|推荐|送给?|教|帮|约|陪|提醒|答应|允许|要求|同意)了?我(?!们?(?:的|提供|带来|很|一种|启发|信心))[^,]{4,}",
        _ZH_TALKED,
    ),
    Cue(
        "habit",
        Kind.FACT,
        rf"{_WHO}[^,]{{0,4}}?(?:有时候?|偶尔|常常?|经常|总是|总会|平时|一般|通常|每次|每天|每周|天天|很少|从不|从来不|向来)(?:都|会|也|就|是|要|不)*[^,]{{3,}}|{_WHO}(?:平时|一直|还|都|也|家|从来)*(?:不太|不怎么|不会|没有|没|从没|还没|不常|不打算)(?!想|觉|意识|底|问题|关系|事|办法|那么|头绪|把握|懂|明白|信心|有?思路|白|其他|什么|知|再|忍|能)[^,]{{3,}}",
        _ZH_TALKED,
    ),
    Cue(
        "preference",
        Kind.PREFERENCE,
        r"^(?:但|也|又|还|同时|所以|因为|不过)*(?:希望|最好是?|不希望|不想|想要|重点(?:是|想)|需要的是|要求是)(?!你|能?听|再|了解|知道)[^,]{5,}",
        _ZH_TALKED,
    ),
    Cue(
        "relation",
        Kind.FACT,
        r"^(?:但|而|不过|刚才?|今天|昨天|最近|上次)?(?!之前|自己|最后|汇|[你它这那我])[\u3400-\u9fff]{1,3}(?:总|老师|教授|编辑|教练|医生|叔|阿姨|女士|先生|经理|主任|老板|师傅)(?:还|也|刚|又|都|曾|现在|晚上|下午)*(?:说(?!$)|建议|是(?!不)|有|邀请|推荐|送|教|让我|给|喜欢|住|在|提醒|觉得|评价|负责|希望|要求)[^,]{4,}",
        _ZH_TALKED + r"|沟通|如何|应该|让我|需要|可能|更",
    ),
    Cue(
        "thing",
        Kind.FACT,
        rf"{_WHO}的(?!想法|感觉|思路|担心|问题|理解|痛点|意思|需求|困惑|目的|感受|疑问|描述|文字|心|顾虑|初衷|直觉|判断|观察|疑虑|方向|核心)[^,的]{{1,8}}(?:是|有|在|为|叫|都|一直|已经|完全|主要)[^,]{{2,}}|{_WHO}的?(?:时间|预算|经验|基础|体力|精力|水平|英语|底子)(?:比较|很|有限|不|只|是|还|大概|一般)[^,]*|^(?:目前|现在|眼下|平时)[^,]{{0,10}}(?:占|有|是|为|在|持有)[^,]{{0,8}}\d",
        _ZH_TALKED,
    ),
    Cue(
        "event",
        Kind.EVENT,
        rf"^{_PAST_ZH}[^,]{{0,24}}?(?:了(?!解)|过(?!程|于|度)|完|回来|去|到(?!底|位)|[和与跟][\u3400-\u9fff]{{2,6}}[^,]{{2,}})|{_WHO}[^,]{{0,10}}?(?:[\u3400-\u9fff](?:了(?!解|然)|过(?!程|于|度))|完成|收到|收集|认识|参加|报名|获得|写好|拍到)[^,]{{4,}}|^我(?:就|也|还|刚|本来是?)?去(?!年|除|掉|感受|观察|面对|强化|理解)[^,]{{3,}}|(?:差不多|基本|全部|终于|已经?)[^,]{{0,4}}(?:了|完|好)$",
        _ZH_TALKED
        + r"|谢|这么一|聊(?!了\d)|让我|(?:有点|很|太|特别|更)[^,]{1,3}了?$|学到|收获|沉浸|(?:太|很|挺|真|特别|好|更|蛮|非常|格外)[^,]{1,4}[了的]?$|过得|雨|天气|阳光|[停亮黑晴]了$",
    ),
    Cue(
        "has",
        Kind.FACT,
        rf"^(?:但|而|因为|所以|不过|毕竟|其实|虽然|既然|目前|现在|最近|刚才?|今天|昨天|这次|本来)*{_WHO}(?:自己|这边|主要|还|也|都|最近|一直|特别|刚才?|正好|同时|平时|已经|现在|目前|连续|习惯|坚持)*(?:{_DOING}|有(?!点|些|时|信心|底|思路|了)|是(?!该|不是|说|想|在想|怎么|不)|住|用|买|吃|喝|去|带|养|开|听(?!说|完|到)|关心|关注|记录|筹划|收藏|记了|作为|坚持|习惯|约|订|准备|跑|爬|走|画|喜|爱)[^,]{{4,}}|{_WHO}不是[^,]{{2,}}(?:的|人|师|生|员|专业)$",
        _ZH_TALKED + r"|聊|谈|一下$|了$|怎么|有点|感到|让我|很$",
    ),
    Cue(
        "has",
        Kind.FACT,
        rf"^(?:但|而|因为|所以|不过|毕竟)?{_WHO}(?!要|先|这就|会|用|再|会|也?能|需要|想)[^,]*?(?:《[^》]+》|\d|[a-z]{{2,}}|[\u3400-\u9fff](?:路|街|公园|书店|市场|咖啡馆|医院|大学|公司|专栏|散文集|论文|账户|证书|社区|俱乐部))",
        _ZH_TALKED,
    ),
)


# In a note, without a subject: what is planned and decided, and what is set down in figures or under a head.
_NOTED = (
    Cue(
        "plan",
        Kind.EVENT,
        r"计划|安排|目标|准备(?!了)|需(?!求)|待|决定|约(?!束)|定于|定在|改为|改到|推迟|提前到|延期|调整[到至]|下周|明[天早晚日]|后续|下一步|优先",
        r"感觉|感受|你|您|谢|天气|心情|启发|可能|按计划|计划表",
    ),
    Cue(
        "thing",
        Kind.FACT,
        r"^.{0,6}(?:原则|准则|规则|规定|结论|反思|教训|要点|重点|核心|建议|要求|优势|风险|预算|费用)[一二三四五\d]?:?[^,]{4,}|每[日天周月次]|\d+(?:\.\d+)?(?:%|元|万|公里|km|kg|斤|分|次|个|点|小时|分钟|月|岁)",
        r"感觉|感受|你|您|谢|天气|心情|启发|日期:|地点:|可能",
    ),
)
_HEADED = r":\s*\d*[\s\0]*$"  # a heading, without what stands under it


def noted_cue(said: str) -> Cue | None:
    """What a sentence of a note tells, whoever its subject is."""
    if len(HAN.findall(said)) < 9 or compiled(_HEADED).search(said):
        return None
    return next((cue for cue in _NOTED if cue.found(said, anywhere=True)), None)


def chinese_cue(said: str) -> Cue | None:
    """The shape that a part of a Chinese sentence has, if it tells something."""
    return next((cue for cue in CHINESE if cue.found(said, anywhere=True)), None) if len(said) >= 6 else None
