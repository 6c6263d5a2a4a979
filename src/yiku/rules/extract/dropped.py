"""
The subject that a sentence leaves out: «Got malaria», «Allergic to nuts», 养了只橘猫, «Been working on it since March».

In a chat the first person goes unsaid. It is named here where the opening can be about nobody else, so that the
sentence is read, and kept, as «I got malaria». What an imperative, a heading or a gerund may open with («Book a table»,
«Planning graphs», «Working from home is tiring») is left alone. Chinese leaves out whoever was spoken of last: there
only the first sentence of a turn is about its speaker for sure.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

from yiku.rules.extract import english
from yiku.rules.extract.cues import compiled

_SOON = r"(?:just |finally |already |also |recently |actually |only |still |currently |now |really |absolutely |totally )*"
_NOT_OF_ONESELF = r"(?! (?:me|it|that|this|them|these|those|by|any|more|one more|another (?:question|idea|one)|a (?:question|quick|problem with (?:this|that)|look|point)|questions?|the (?:idea|point|picture|gist|same)|ya|you)\b)"
_STATE = r"(?:(?:lactose|gluten) intolerant|vegetarian|vegan|pescatarian|diabetic|asthmatic|c(?:o)?eliac|left-handed|colou?r-?blind|dyslexic|married|divorced|widowed|pregnant|retired|unemployed|engaged)(?=(?: myself)? here\b|,? (?:so|but|btw|since|now|by the way|with \w+ kids?)\b|\W*$)"
_DOING = (
    r"(?:going to (?!be\b|try\b|check\b|have\b|need\b|bed\b|the point\b)|moving (?:to|out|in|back|house)\b|working (?:at|from|as|nights|weekends|part|full)\b|living (?:in|with|at|near|alone)\b|studying (?!for\b)\w|training for|flying (?:to|out|home|in)\b|travel+ing to|staying (?:at|in|with)\b|visiting (?:my|our|a friend|friends|family)"
    r"|starting (?:a (?:new|job)|my|at|as|work|school)\b|expecting (?:a|our|my|twins)\b|planning (?:a|to|on|my|our)\b|saving (?:up )?for|recovering from|having (?:surgery|twins|a baby|my)\b|getting (?:married|divorced|a (?:dog|cat|puppy|kitten|new)|my|our)\b)"
    r"(?!.*\b(?:is|are|was|were|will|would|can|could|should|may|might|has|have|seems?|sounds?|feels?|makes?|helps?|takes?|means?|requires?|needs?|improves?|allows?)\b)"
)
_LIKES = r"(?:love (?!it|this|that|the\b|how|your|you|to (?:see|hear|know))|hate (?!it|this|that|to\b)|prefer (?!it|this|that)|need to (?!know|be\b)|can'?t (?:stand|eat|drink|have|do|make|drive|sleep|swim|afford)\b|cannot (?:stand|eat|drink|have)\b|don'?t (?:like|own|drink|drive|smoke|speak|have (?:a|an|any (?!question|idea)))\b|never (?:liked|drink|drank|learned|learnt)\b|live (?:in|with|near|alone)\b|work (?:at|as|nights)\b)"
_THEIRS = r"(?:doctor|doc|gp|dentist|therapist|physio|vet|wife|husband|hubby|mum|mom|dad|boss|landlord|landlady|sister|brother|daughter|son|flatmate|roommate) (?:says?|said|told|wants?|just|has|had|is|was|got|thinks|can'?t|doesn'?t|likes?|loves?|hates?|started|moved|called|found|bought|gave|needs|works?|lives?)\b"
_OPENINGS = (
    (rf"{_SOON}been (?!there\b|that\b|a (?:pleasure|while)\b)\w", "I've "),
    (rf"{_SOON}(?:{english.DID}|had|made|found|met){_NOT_OF_ONESELF} (?=\S+ ?\S)", "I "),
    (rf"{_SOON}{_LIKES}", "I "),
    (rf"{_SOON}(?:allergic to|based in|new to|{_STATE}|{_DOING})", "I'm "),
    (r"born (?:in|on)\b", "I was "),
    (_THEIRS, "My "),
)
# A state or a change that one tells of oneself; not what is wanted of the listener, nor a noun that it describes.
_ZH_WHEN = r"(?:刚刚?|刚才|今天|今早|今晚|昨天|昨晚|前天|上周[一二三四五六日天末]?|周[一二三四五六日末]|上个?月|去年|前几天|最近|终于|已经|一直|目前|现在|还|也|又|都|从小|平时|早就)"
_ZH_OPENING = (
    rf"^{_ZH_WHEN}{{0,3}}(?:不(?:吃|喝|抽烟|会(?=开|游|做|说|骑))(?![^,]*的)|(?:养|领养|收养|买|订|卖|租|报|签|弄丢|丢|考过|通过|参加|看完|读完|跑完|做完|写完|修好|修完|装完|拿到|收到|换)了(?!.{{0,6}}话题)|[在正](?:学|读|备考|装修|找工作|休假|出差|休产假|减肥|戒)|得了|感染了|确诊了?|搬到|搬去|搬家了?|入职|离职了?|辞职了?|跳槽|升职了?|结婚了?|离婚了?|怀孕了?|毕业|退休了?|失业了?|生了(?=个|[一两]|二胎|宝宝)"
    r"|住在|住院|开始(?=学|跑|健身|上班|备考|练|吃素|戒)|见了|去了|去过|在家办公|值夜班|上夜班|已婚|未婚|单身|离异|吃素|吃斋|戒了?(?=烟|酒|糖|咖啡)|怕(?=冷|热|猫|狗|高|黑|辣|打雷)|有[一二两三四\d](?:个|只|条)(?=孩子|娃|儿子|女儿|猫|狗)|对[^,，。]{1,8}过敏)"
    r"(?![^,]{0,12}的(?:人|话|时候|用户|客户|同学|朋友|读者|团队)|[^,]*(?:吗|呢|么)$)"
)
_LISTED = r"\s*(?:[-*•–—+>#]|\d+[.)])"  # a line of a list, of a CV or of what is to be done


def subject(said: str, *, line: str) -> str:
    """
    What a clause leaves out before its first word: «I », «I'm », «I've », «I was », «My »; empty where nothing is.

    said: the clause in small letters, from its first word
    line: the sentence that it begins, as it was written
    """
    if compiled(_LISTED).match(line):
        return ""
    return next((left_out for opening, left_out in _OPENINGS if compiled(opening).match(said)), "")


def is_of_speaker(said: str) -> bool:
    """Whether a Chinese part, the first of its turn, tells of its speaker though it names nobody."""
    return compiled(_ZH_OPENING).match(said) is not None
