"""
How things worth keeping are said in English: the openings to take off, where a sentence is cut, and the cues.

Data only; __init__.py reads sentences with it. A clause is in small letters, has its openings taken off and begins
with its subject; a cue stands for a class of phrases, not for one. What teaches nothing is named in `unless`: thanks,
requests, talk about this very conversation, code under way.
"""

# ruff: noqa: E501 (one pattern a line: a regular expression that is broken in two is read in neither)

from __future__ import annotations

from yiku.rules.extract.cues import Cue
from yiku.types import Kind, Standing

RELATIVES = (
    r"(?:wife|husband|spouse|partner|fianc[eé]e?|girlfriend|boyfriend|ex(?:-\w+)?|mother|mom|mum|mama|father|dad|papa|parents?|folks|brother|sister|siblings?|step\w+|half-\w+|twin"
    r"|son|daughter|kids?|child(?:ren)?|baby|toddler|grand\w+|aunt|uncle|cousin|niece|nephew|family|in-laws|\w+-in-law|roommates?|room-mate|housemate|flatmate|neighbou?rs?|landlord|landlady"
    r"|(?:best |close |old |good )?friends?|bestie|colleagues?|co-?workers?|boss|manager|supervisor|mentor|therapist|doctor|dentist|coach|trainer|tutor|teacher|professor|client|assistant|intern|team(?:mates?)?|business partner|cat|dog|puppy|kitten|pets?|horse|parrot|rabbit|hamster)"
)
# Taken out of a clause before the cues are tried: they change how often and how surely, not what is said.
ADVERBS = r"\b(?:usually|always|often|typically|generally|mostly|normally|regularly|occasionally|rarely|sometimes|frequently|currently|already|still|also|only|mainly|primarily|just|recently|really|actually|even|personally|absolutely|particularly|especially|definitely|truly|honestly|now|do(?= (?:like|love|enjoy|have|prefer|hate|own|use|live|work))|both|all|kind of|sort of|simply|originally|previously|once|eventually|accidentally|even) (?!(?:i|we)\b)"
_A = r"(?:finally |never |hardly |hardly ever |barely |tend to |try to |ended up )?"
_I = r"(?:i|we|my (?:wife|husband|partner|family|sister|brother|friend|friends|team|colleagues?|girlfriend|boyfriend|kids?|son|daughter|mom|dad|parents)(?: \w+)? and (?:i|me))"
SELF = r"(?:i|we|my|our)\b"
_AM = r"(?:i'?m|i am|i was|we'?re|we are|we were|i've(?: always)? been|i have been)"
_HAVE = r"(?:i|we)(?:'ve| have)"
_NUMBER = r"(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|a dozen)"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
DATE = rf"(?:\b{_DAY}s?\b|\b{_MONTH}\b\.? ?\d|\d(?:st|nd|rd|th)?(?: of)? {_MONTH}\b|\b(?:in|by|before|until|since|from|this|last|next|early|late|mid) {_MONTH}\b|\b(?:to)?(?:morrow|night)\b|\b(?:next|this) (?:coming )?(?:week|weekend|month|year|spring|summer|autumn|fall|winter|semester|term|quarter|{_DAY})\b|\b\d{{1,2}}(?::\d\d)? ?[ap]\.?m\b|\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}/\d{{1,2}}\b|\bin (?:a|an|one|two|three|four|five|six|\d+|a few|a couple of) (?:days?|weeks?|months?|years?)\b|\bfirst of {_MONTH}\b)"
PAST = rf"(?:\b(?:yesterday|last (?:night|week|weekend|month|year|summer|winter|spring|fall|autumn|{_DAY}|{_MONTH})|(?:this|that) (?:morning|afternoon|evening)|today|recently|lately|ago|since|back in|just|finally|in (?:19|20)\d\d|when i was|for the (?:first|second|third) time|the other day|a while back|earlier this|over the (?:weekend|summer|holidays)|during)\b|{DATE})"

# ------------------------------------------------------------------ around a clause

LEAD = (
    r"(?>(?:[\s,.:;*•\-–—>\0]+|\d{1,2}[.)]\s+|[\w /&']{2,30}:\*{0,2}(?= (?:i|i'm|i'll|i'd|i've|we|we're|my|mine|for (?:the|my)|on|in (?:my|the))\b)"
    r"|(?:oh|ah|ahh|aha|ok|okay|well|yes|yeah|yep|yup|no|nope|nah|so|and|but|also|plus|then|now|hey|hi|hello|sure|right|alright|great|awesome|cool|nice|perfect|thanks|thank you|sorry|wait|hmm+|um+|uh+|lol|haha+|anyway|anyways|besides|honestly|actually|basically|fyi|btw|ps|look|listen|please note|note|additionally|furthermore|moreover|however|because|since|though|although|as|like|overall|personally|currently|luckily|fortunately|unfortunately|sadly|literally|obviously|again)(?:\s*,\s*|\s+(?=i\b|i'|my\b|we\b|our\b|the\b|just\b|also\b|and\b|but\b|by the way|you\b|please\b|always\b|never\b|from\b|actually\b|that\b|he\b|she\b|btw\b|fyi\b|like i\b|every\b|for (?:me|now|the|my)\b|it's (?:hard|difficult|easy)\b))"
    r"|(?:by the way|for (?:context|reference|the record|what it'?s worth)|just so you know|so you know|in fact|to be (?:honest|fair|clear|precise)|as (?:for|to) (?:me|that)|at the same time|on (?:the other hand|top of that|another note|a side note|that note|a different note)|speaking of (?:which|that)|now that (?:you mention it|i think (?:about|of) it)|like i (?:said|mentioned)(?: earlier| before)?|as i (?:said|mentioned)(?: earlier| before)?|in case it helps|my (?:guy|friend|dear|man|brother)(?=[,!])|i(?:'ve|'ll| have)? (?:just |also |recently |actually )*(?:realized|realised|remembered|noticed|heard|found out|discovered|figured out|remember)(?: that)?(?= (?:i|my|our|we|i'm|i've)\b)|i(?:'m| am) (?:pretty |quite |very |fairly )?(?:sure|certain|positive)(?: that)?(?= (?:i|my|we|our)\b)|as for [^,]{1,40},(?= (?:i|my|we|our)\b)|i think(?= i(?:'ll|'d| will| would| want| prefer|'m (?:going|leaning))\b)|some (?:background|context)|(?:a )?quick (?:one|question|note)(?: before [^:,]{1,30})?|i(?: should|'d| would| forgot to|'ll)? (?:also )?(?:mention|add|note|tell you|like to (?:mention|add))(?: that)?|i (?:also |already )?(?:just )?(?:said|mentioned|told you)(?: earlier| before)*(?: that)?|told you(?: before| already)?(?: that)?|just to (?:clarify|add|mention)|good point|fair enough|i (?:do )?remember(?: that)?(?= (?:i|my|we)\b)|good (?:morning|evening|afternoon)|the thing is|the fact is)\b[\s,:;.-]*"
    r")+)"  # atomic: no opening is given back, and none is read in two ways
)
# How a rule begins that stands behind something else.
FOR_THE_AGENT = r"(?:from now on|going forward|from here on(?: out)?|henceforth|in (?:the )?future),? (?:please|always|never|only|don'?t|do not|use|write|answer|reply|respond|speak|call me)\b"
# Where a new clause begins: a new subject behind a comma or a conjunction, or a rule.
CUT = (
    r"(?:\s*[,;:—–]\s*|\s+-\s+|\s+)(?:(?:and|but|so|plus|although|though|yet|while|then)\s+)(?:also |actually |now |then |honestly )?(?=(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|my|our)\b)|(?:\s*[,;:—–]|\s+-)\s*(?=(?:i|i'm|i've|i'd|i'll|we|we're|we've|my|our)\b)"
    + rf"|(?:\s*[,;:—–]\s*|\s+)(?:and|but|so)\s+(?={FOR_THE_AGENT})|\s*[,;:—–]\s*(?={FOR_THE_AGENT})|\s+(?=i(?:'d| would) (?:much )?rather\b)"
)
# A question or a request behind the telling: it is not kept.
_BESIDE = r"(?:^|[,;:—–]\s*|\s-\s*|\band\s+|\bso\s+|\bbut\s+)(?:(?:and|so|but|then|now|also|maybe) )*"
REQUESTS = rf"{_BESIDE}(?:(?:can|could|would|will|do|does|did|should|shall) (?:you|we)\b|please\b|help me\b|give me\b|tell me\b|let me know\b|show me\b|suggest\b|recommend\b|thanks\b|thank you\b|any (?:tips|advice|suggestions|ideas|recommendations|thoughts)\b).*|\band (?:i )?(?:was wondering|was hoping|am wondering|wanted to (?:know|ask|see)|need(?:ed)? (?:some )?help|would (?:like|love) to know|was curious)\b.*|,\s*(?:right|correct|okay|ok|you know|huh)\s*$"
ASKING = rf"{REQUESTS}|{_BESIDE}(?:(?:can|could|would|will|do|does|did|is|are|should|shall|have|has|may|am|was|were) (?:i|it|there|they|that|this|these|any|the|my|he|she|people|anyone)\b|(?:what|how|which|where|when|why|who|whose|what's|how's)\b).*"
# Nothing is told here, whatever follows.
SILENT = (
    r"^(?:if|suppose|imagine|assuming|what if|let'?s say|say|even if|unless|in case|wish|as if|whether|hypothetically|(?:before|after|when|while|until|once) (?:i|we|my|our)\b[^,]*$|according to|once upon|thank|thanks|please (?:write|give|tell|make|explain|provide|create|help|continue|proceed|rewrite|translate)|your|you (?:are|said|told|mentioned|can|could|were)\b(?! (?:wrong|mistaken)))\b"
    r"|\bi (?:say|ask|reply|whisper|shout) as i\b|\b(?:asks?|asked|said|says|replied) (?:the|he|she)\b|\bwould (?:i|you) (?:have|be)\b|\b(?:not|n't) (?:entirely |really |quite |so |too )?sure (?:if|whether|how|what|where|which|about|i)\b"
    r"|\bi wish\b|\bthey say\b|\bsome (?:people|say)\b"
)
# What only explains, behind what is told.
TAIL = r",? (?:because|since|which|where|who|so that|as (?:it|i|they|we)|even though|although|though|while|whereas|especially)\b"
# What a clause may open with before its subject: when, where, for what. It is kept with the clause.
ADVERBIAL = r"(?:(?:every|each|whenever|for|on|in|at|after|before|during|since|by|with|as of|last|this|yesterday|today|when i|ever since|a (?:few|couple of)|two|three) ?[^,]{0,60},?[\"']* )?(?=(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|my|our)\b)"
NAMED = r"\s*(?:i'?m|i am) [\w'-]+$"  # «I'm Mei, I work …»
OPENS = r"\s*(?:for|on|in|at|after|before|during|since|by|with|last|this|yesterday|today|when|ever since|every|each|two|three|a few|a couple|my \w+$)\b"
# What somebody is, said on the way to something else; kept by itself, without the question that follows.
AS_A = r"\b(?P<as>as) (?P<a>an?|the (?:only|oldest|youngest|mother|father|owner|head)) (?P<x>(?!result|matter|rule|whole|bonus|side|way|reminder|consequence|follow|last|first|language|ai\b|user\b|group|team|society|general|kid\b|child\b|gift|starting|test|backup|joke|alternative|example|reference)[\w' -]{3,40}), (?:(?:so|and|but) )?(?=i\b|i'|my\b)"
CORRECTS = r"^(?:\W*(?:oh|no|wait|sorry|well|yeah|ok|and|but|so)\b)*\W*actually,|\b(?:correction|i meant|i misspoke|misspoke|not (?:\w+ ){0,2}any ?more|no longer|instead|i was wrong|my mistake|(?:said|got) (?:it|that) wrong|there'?s been a mistake|scratch what|forget the|(?:has|have|had) changed|changed (?:my|from|to)|it'?s really|after all|i already told you)\b|, not \w|\bnot \w+(?: \w+){0,3}, (?:but|it'?s)\b"
# A joke may be laughed about first; what follows a comma is said in earnest: «haha just kidding, I love steak».
LAUGHS = r"(?:(?:(?:ha){1,20}h?|(?:he){2,20}|lol|lmao|ok|okay|oh|oops|nah|sorry|never ?mind)\b[\s,.!]*)*+"
JOKED_FIRST = (
    rf"^{LAUGHS}(?:(?:i was |i'm |i am )?(?:just|only|totally) (?:kidding|joking)|i was (?:kidding|joking)|jk)\s*[,;:—–]+\s*"
)
RETRACTS = rf"^{LAUGHS}(?:(?:i was |i'm |i am |we were )?(?:just|only|totally) (?:kidding|joking|messing with you|teasing)|i was (?:kidding|joking)|(?:please )?(?:forget|ignore|disregard|scratch|strike|never ?mind) (?:what|everything|all|the last thing|about what)? ?(?:that )?i (?:just )?(?:said|told you|mentioned|wrote)(?: (?:just now|earlier|before|about (?:it|that)))?|scratch that|strike that|(?:that|it) was (?:just |only )?a joke|i take (?:it|that|this) back|jk|i made that up|(?:that|it) was(?: not|n't) true|(?:that|it)'?s not true|i didn'?t mean that|i misspoke|forget (?:it|that)(?:,| )*i (?:was|made|said).*)\W*$"
JOKED = rf"^{LAUGHS}(?:(?:i was |i'm |i am )?(?:just|only|totally)? ?(?:kidding|joking|messing with you|teasing)|(?:that|it) was (?:just |only )?a joke|jk)\b"
# A clause that only another explains: it opens with a pronoun, or has one for its object.
THIRD = r"^(?!it'?s (?:\w+ )?(?:hard|difficult|easy|tough) for me)(?:he|she|they|it|this|that|these|those|his|her|their|its|there)\b|^(?:i|we)(?:'\w+)? (?:[a-z]+ly )?(?:\w+ ){0,3}?(?:it|them|him|these|those|her(?! \w)|there(?! \w))\b"
HEDGE = r"\b(?:maybe|perhaps|probably|possibly|i think|i guess|i suppose|i believe|i assume|i suspect|not sure though|if i remember (?:right|correctly)|as far as i (?:know|remember)|might|may be|it seems|apparently|presumably|i'?m not certain)\b"

# ------------------------------------------------------------------ what is told

_THIS_TALK = r"\b(?:these|this|that|those|your|the) (?:\w+ ){0,4}(?:suggestions?|ideas?|tips?|recommendations?|advice|list|plan|approach|answer|response|options?|explanation|information|info|point|draft|summary|version|conversation|chat|sounds?|looks?|question|feature|scene|story)\b|^(?:i|we)(?:'d| would)? (?:really |absolutely |also )?(?:like|love|appreciate|enjoy|enjoyed|loved|liked) (?:it|this|that|how|your|the idea|the way|these|those|to (?:know|hear|see|learn|get|have you))\b"
_CODE = r"\b(?:functions?|scripts?|code|bugs?|errors?|stack ?trace|branch|commits?|repo|components?|buttons?|class|modules?|endpoints?|api|json|css|html|dataframe|columns?|array|variables?|query|terminal|logs?|prompt|output|file|files|folders?|tests?|cwd|checkbox|command|chatgpt|website link|page)\b"
NO_OBJECT = r"(?:question|idea|feeling|concern|doubt|problem|issue|request|favou?r|suggestion|moment|bit|few (?:questions|concerns|ideas|thoughts)|couple (?:of )?questions|lot (?:of questions|to|on)|hard time|point|chance|look|clue|thought|follow-?up|hunch|better (?:idea|understanding|sense)|good (?:idea|understanding|sense|starting)|clear(?:er)? )"
_REPEAT = rf"\b(?:every|each) (?:day|morning|evening|night|week|month|year|time|{_DAY})|\b(?:daily|weekly|monthly|yearly|twice|{_DAY}s|weekends|weekdays|mornings|evenings|(?:once|\d times|two times|three times) (?:a|per))\b"
_ALWAYS = r"(?:from now on|going forward|from here on(?: out)?|from this point|henceforth|hereafter|in (?:the )?future|next time|every time|each time|at all times|for all (?:future|my)|in every|throughout)"
# What somebody is told to do who answers.
_TELLING = r"(?:presume|assume|consider|treat|take|act|behave|expect|keep|let|give|include|add|put|leave|skip|drop|omit|show|list|send|end|start|begin|format|refer|speak|talk|write|use|answer|reply|respond|call|address|explain|ask|stop|avoid|be|provide|quote|cite|round|convert|translate|sign|remind|warn|check|focus)"
_IMPERATIVE_NOT = r"^(?:always|never) (?:mind|heard|seen|been|had|wanted|tried|thought|knew|again|liked|ends?|fails?|know|knows|the|a|an|my|on|in|at|looking|good|nice|happy|a\w+ing|\w+ing|\w+ed|gonna|going|is|was|will|have i|has|too|so|really|one|been|to)\b"

_STATES = (
    r"(?:married|single|divorced|engaged|widowed|pregnant|expecting|vegan|(?:a )?vegetarian|pescatarian|kosher|halal|muslim|jewish|christian|catholic|hindu|buddhist|atheist|allergic|intolerant|lactose|gluten|diabetic|asthmatic|anemic|dyslexic|autistic|bipolar|retired|unemployed|self-employed|freelanc\w+|employed|left-handed|right-handed|colou?r-?blind|deaf|bilingual|blind|gay|lesbian|bisexual|trans|non-binary"
    r"|(?:originally |based |living |staying |located |working )?(?:from|in|at|near|for|as) (?!love\b|need\b|charge\b|awe\b|the (?:process|middle|mood|market)|a (?:hurry|rush|bit)|touch|doubt|trouble|favor|total|agreement|shock|terms|it\b|this\b|that\b|my way|home\b)\w"
    r"|(?:about |almost |nearly |turning |over )?\d{2}\b(?! (?:minutes|hours|days|weeks|months|percent))(?: ?years? old)?|\d+ ?(?:cm|kg|lbs?|pounds|feet|ft|m tall)\b|\d'\d|(?:used|open|new|sensitive|prone|dedicated|committed|addicted|related|married) to (?!know|see|hear|learn|try this)\w|into (?!it|this|that)\w|(?:good|bad|terrible|great|skilled|fluent|proficient|experienced|certified|interested|trained|specialis\w+|specializ\w+) (?:at|in|with|by|as) (?!it\b|this\b|that\b|your\b|learning more|hearing)\w|"
    r"(?:really |very |quite |pretty |rather |a bit |a little |so |naturally |always )*(?:shy|introvert\w*|extrovert\w*|stubborn|impatient|patient|blunt|organi[sz]ed|disorgani[sz]ed|punctual|perfectionis\w+|competitive|ambitious|curious by nature|lazy|messy|tidy|frugal|easygoing|sensitive|forgetful|clumsy|detail-oriented|picky|risk-averse|cautious)\b)"
)
_DOES = r"(?:live|work|study|teach|drive|eat|drink|cook|bake|play|run|walk|swim|bike|cycle|go|attend|wear|sleep|wake|get up|speak|commute|travel|volunteer|train|practi[cs]e|read|listen|collect|grow|raise|own|report to|represent|advise|specialis\w+|specializ\w+|suffer from|struggle with|identify as|belong to|earn|weigh|stay|rent|share|meet|manage|supervise|coach|sing|paint|draw|garden|hike|fish|hunt|ski|surf|dance|knit|sew|fast|meditate|smoke|breed|sell|rely on|subscribe|keep|reserve|value|use|take|spend|pay|watch|do|make|need glasses)"
DID = r"(?:met|bought|got|received|attended|went|visited|watched|saw|started|began|finished|completed|graduated|moved|quit|resigned|joined|left|lost|won|sold|booked|reserved|signed|adopted|broke|had|took|ran|made|tried|learned|learnt|switched|changed|upgraded|installed|planted|baked|cooked|read|picked up|flew|drove|grew up|was born|were born|turned|passed|failed|spent|paid|ordered|celebrated|hosted|helped|gave|sent|stopped|gave up|dropped|got married|divorced|retired|buried|gained|played|stayed|hiked|climbed|wrote|published|launched|founded|built|painted|hired|was diagnosed|was promoted|was hired|was laid off|was fired|were married|studied|majored|worked|lived|taught|served|volunteered|participated|presented|performed|competed|crashed|injured|hurt|sprained|caught|recovered|cancelled|canceled|renewed|donated|inherited|redeemed|earned|saved|set up|signed up|enrolled|registered|applied|interviewed|rode|raised|harvested|repaired|replaced|fixed|cleaned|organized|added|wore|borrowed|lent|returned|shipped|created|used to \w+|was going through|purchased|acquired|collected|contributed|rented|reached|toured|explored|designed|assembled|camped|walked|subscribed|splurged|treated|tested positive|fostered|discovered|downloaded|invested|transferred|deposited|weighed|came (?:back|home)|scored|ate|drank|slept|woke|listened|enjoyed|saw|was (?:at|in|on)|were (?:at|in|on)|been)"
_FEELING = r"(?:proud|nervous|anxious|worried sick|scared|sad|depressed|lonely|hollow|devastated|heartbroken|burned out|burnt out|overwhelmed|exhausted|drained|frustrated|angry|furious|grieving|homesick|stressed|thrilled|over the moon|ashamed|guilty|jealous|relieved|afraid of|terrified|embarrassed|miserable|empty|hopeless|unmotivated|so tired|upset|numb|panicking|ecstatic|delighted)"

CUES: tuple[Cue, ...] = (
    # what was decided
    Cue(
        "decision",
        Kind.FACT,
        r"we(?:'ve| have)? (?:decided|agreed|settled on|chose|chosen|opted for|went with|are going with|'re going with)\b.{6,}",
        r"\byou\b|\bhelp\b|" + _THIS_TALK,
    ),
    # rules for the agent
    Cue(
        "rule",
        Kind.RULE,
        rf"(?:.{{0,60}}\b)?{_ALWAYS}\b.*",
        r"\b(?:i|we)(?:'ll|'m| will| am| plan| want to| need to| can| might| should| try| always| had| have)\b.{0,90}\b(?:from now on|next time|future|every time|each time|throughout)|(?:from now on|going forward|next time|in (?:the )?future|every time|each time),? (?:i|we|he|she|they|it)(?:'ll|'m|'d| )|^(?:i|we|he|she|they|the|it|my|this|that|there)(?:'ve|'s|'m|'re|'ll|'d)? (?!want you|need you|expect you|would like you|user|team)|\b(?:people|humans?|we|they|it|he|she|there|the \w+|\w+s) (?:will|would|might|could|is|are|was|were)\b|^(?!always|this)\w*[^s\W]s (?:that|the|it|you|a)\b|\bin every (?:case|way|sense|\w+ of)|\bthroughout (?:the|history|my)|\bfuture (?:of|plans)",
    ),
    Cue(
        "rule",
        Kind.RULE,
        r"(?:please |just |you (?:must|should|have to|need to) |i (?:want|need|expect|would like|'d like) you to |be sure to |remember to |make sure (?:to |you |that you )|new instructions?: ?)?(?:always|never|don'?t ever|do not ever) [a-z]+.*",
        _IMPERATIVE_NOT + r"|^never (?:again|ever)\W*$|\bwhat\b.*\bmean|\bnever know\b",
    ),
    Cue(
        "rule",
        Kind.RULE,
        r"(?:please )?(?:do not|don'?t|no|stop|avoid|quit) [a-z].*\b(?:again|any ?more|ever|without (?:asking|my|checking|permission)|unless i|in the future|under any|no matter)\b.*",
        r"^(?:please )?don'?t (?:wait|worry|bother|hesitate|get me wrong)\b|^(?:no|avoid) (?:i|one|matter|idea|problem|need|worries|longer|thanks)\b|\bi\b(?! (?:ask|say|tell|approve|explicitly))",
    ),
    Cue(
        "rule",
        Kind.RULE,
        r".*\b(?:is|are|'s|-|—|–) (?:a must|mandatory|non-?negotiable|a deal-?breaker|strictly forbidden|off[- ]limits|not allowed)\b.*|.*- ?mandatory\W*$|.*\b(?:it|everything) (?:must|has to) (?!be (?:such|so|a|an|really|very|hard|nice|great|tough|difficult|amazing|exciting|incredible|fun|frustrating)\b|have\b|feel\b).*",
        _CODE
        + r"|^(?:that|this|these)\b|\b(?:words|paragraphs?|sections?|characters|outline|include|contain|written|title|law|student|employee|citizen|visa|applicant|company|people|she|he|they)s?\b",
    ),
    Cue(
        "rule",
        Kind.RULE,
        r"(?:for now,? )?(?:i think |for now |please )*we should (?:continue|keep|always|never|only|stop) .*|(?:please )?(?:keep|ensure|make sure|use|write|answer|reply|respond|stick to|call me|address me|treat)\b.*\b(?:always|every time|at all times|from now on|in all (?:your|future)|for all|everywhere|by default|until i say|unless i (?:say|ask|tell))\b.*",
    ),
    Cue(
        "rule for a task",
        Kind.RULE,
        r".*\b(?:for this (?:task|session|conversation|chat|pr|change|time)|just this once|this time only|only this time)\b.*",
        r"^(?:i|we|he|she|it|they|thanks|my)\b",
    ),
    Cue(
        "rule",
        Kind.RULE,
        rf"(?:please )?{_TELLING}\b.*\b(?:from now on|going forward|from here on(?: out)?|henceforth|in (?:the )?future|next time|every time|each time)\b.*",
        r"\b(?:i|we)(?:'ll| will|'d| would| can| could)\b|\bfuture (?:of|plans)|\?",
    ),
    Cue(
        "rule",
        Kind.RULE,
        rf"(?:(?:for|in) (?:the )?(?:future|next time),? )?(?:when(?:ever)?|if|every time|each time|any ?time) i (?:\w+ )?(?:say|ask|type|write|send|mention|use|give|tell|share|paste|talk|refer)\b[^.]{{1,80}}?(?:,|\bthen\b|(?= you\b)) ?(?:then |you (?:should|must|need|have|will|are|can)\b|i (?:want|need|expect|mean)\b|(?:please |just )*{_TELLING}\b|please\b|always\b|never\b|don'?t\b).*",
        r"\b(?:he|she|they|people) (?:says?|asks?|laughs?)\b|\?",
    ),
    Cue(
        "rule",
        Kind.RULE,
        r"(?:please |just )*stop (?:calling|using|saying|adding|writing|putting|giving|repeating|summari[sz]ing|apologi[sz]ing|asking me|making me|telling me|starting|ending)\b.*|(?:please )?call (?:me|it|him|her|them|us) (?:always )?(?!when|if|back|on|at|in\b|tomorrow|today|later|to\b|for|a\b|up\b|off\b)[\w'-]+(?: [\w'-]+)?\W*$",
        r"\?|\bif\b",
    ),
    Cue(
        "rule",
        Kind.RULE,
        r"(?:all )?your (?:answers?|responses?|replies|reply|messages|explanations|summaries) (?:should|must|need to|have to|has to|can'?t|cannot|are to|is to)\b.*",
        r"\?|\bif\b",
    ),
    Cue("rule", Kind.RULE, r"remember to (?!be\b)[a-z]+ .*\b(?:me|my|us|our)\b.*", r"\byour(?:self)?\b|\byou\'"),
    # what is to be done
    Cue(
        "task",
        Kind.TASK,
        r"(?:please )?(?:remind me|set (?:up )?a reminder(?: for me)?|don'?t let me forget) (?:to|that i|about|of) (?!when\b).*|(?:to-?do|todo)s?: ?.*",
    ),
    Cue(
        "task",
        Kind.TASK,
        rf"{_I} (?:still |also )*(?:have to|need to|must|ought to|got to) (?:remember to .*|.*{DATE}.*|(?:also )?(?:send|renew|pay|buy|call|pick up|return|finish|submit|book|order|file|cancel|mail|ship|drop off|take back|hand in) (?:my|the|a|his|her|our|some|more|new).*)|i need to remember to .*|my (?:job|task|goal|homework|assignment|deadline|aim|resolution) (?:this|next|for|is|by|today)\b.*",
        r"\byou\b|\bhelp\b|" + _CODE,
    ),
    # plans
    Cue(
        "plan",
        Kind.EVENT,
        rf"(?:{_I}(?:'m| am|'re| are|'ll| will|'ve| have)? {_A}(?!{DID}\b|\w+ed\b|was\b|were\b|had\b|went\b|got\b|did\b|been\b|bought\b|took\b|started\b)[a-z]+\b.*{DATE}.*|on [^,]{{2,20}}{_MONTH}[^,]{{0,12}},? (?:i|we) .*|my [\w' -]{{2,40}} (?:is|are|'s|starts?|begins?|takes place|will be)\b.*{DATE}.*|(?:the |my |our )?[\w ]{{2,40}} (?:is|are) due\b.*{DATE}.*)",
        r"\b(?:used to|last|ago|yesterday|was|were|thinking (?:about|of)|wondering|think|met|watched|attended|usually|always|often|"
        + r"(?:every|each) \w+|\w+days|feel|forward to|i wish)\b|\byour\b|\bi(?:'d| would)\b|"
        + _THIS_TALK,
    ),
    Cue(
        "plan",
        Kind.TASK,
        rf"(?:{_AM} {_A}(?:planning|preparing|training for|saving (?:up )?for|moving to|getting married|expecting|applying|scheduled|booked|signed up|set to|about to start|due to|flying|hosting|organizing|launching|working on|writing (?:a|my)|building (?:a|my)|learning|studying|taking (?:a|an|my|some)|renovating|redecorating) (?!on getting back|on using your|on trying)[a-z0-9].*|{_HAVE} {_A}(?:decided|planned|scheduled|arranged|agreed|promised|committed|signed up|booked|already booked)\b .*|(?:i|we) (?:decided|agreed|plan|intend|promised) to .*|we'?ve already (?:booked|decided|agreed).*)",
        _THIS_TALK + "|" + _CODE,
    ),
    Cue(
        "plan",
        Kind.TASK,
        rf"(?:i'?ll|we'?ll|i will|we will) be (?:flying|staying|travel+ing|arriving|leaving|driving|visiting|moving|starting|attending|hosting|working|presenting|celebrating|away|out|in)\b.+|{_AM} (?:looking|hoping|aiming|trying|wanting) to (?:go|travel|visit|stay|leave|move|run|lose|save|finish|keep it|spend|arrive|reach)\b.*(?:\d|{DATE}|(?:spring|summer|autumn|fall|winter) \d{{4}}).*",
        _THIS_TALK + "|" + _CODE,
    ),
    Cue(
        "plan",
        Kind.EVENT,
        rf"(?:let'?s |we (?:should|need to|must) |i need to )?(?:move|reschedule|postpone|push|shift|bring forward|swap|extend|shorten|delay|schedule)\b .{{3,}}(?:{DATE}|\b(?:later in the day|{_DAY})\b).*",
        r"\byour?\b|\?",
    ),
    # who somebody is
    Cue(
        "identity",
        Kind.FACT,
        rf"{_AM} {_A}(?:an?|the|one of the) (?!bit\b|little\b|lot\b|tad\b|same\b|only one\b|right\b|one asking|wee\b|kind of|while\b|fan\b|(?:huge |big )fan\b)[\w'-]+.*",
        r"\b(?:language model|ai (?:language|assistant)|bit|little (?:confused|worried|unsure|concerned)|loss|fan of (?:your|this|that))\b|"
        + _THIS_TALK,
    ),
    Cue(
        "identity",
        Kind.FACT,
        rf"{_AM} {_A}(?:not {_A})?{_STATES}.*",
        _THIS_TALK
        + r"|\b(?:interested in (?:learning|knowing|hearing|exploring|checking|finding|more|trying|seeing|getting)|looking|you mentioned|interested in (?:how|what|why|whether)\b|interested in (?:the|this|that|your|it)\b|open to (?:trying|exploring|any|other|new|your|suggestions?))\b|"
        + _CODE,
    ),
    Cue(
        "identity",
        Kind.FACT,
        r"(?:my name is|call me|i go by|i identify as|i was born|i grew up|i come from|i hail from|both of us are|i have been called) .*",
        r"\bcall me (?:when|if|back|crazy|later|out|on|at)\b",
    ),
    Cue(
        "trait",
        Kind.PERSONA_TRAIT,
        r"(?:people|everyone|everybody|friends|my (?:friends|family|wife|husband|mom|dad|boss|colleagues|coworkers|kids)) (?:always |often )?(?:find|finds|call|calls|tell|tells|say|says|describe|describes) (?:me |i'm |i am |that i).*|i tend to .*|i'?ve always (?:been|had|struggled|loved|wanted).*|(?:it'?s|it is|i find it) (?:hard|difficult|easy) (?:for me )?to .*|i'?m not (?:really |exactly |much of )?an? .*",
    ),
    Cue(
        "skill",
        Kind.SKILL,
        r"i (?:can|know how to) (?:also )?(?:speak|read|write in|play|cook|bake|sew|knit|drive|fly|swim|ski|sing|program|code in|juggle|weld|type|draw|paint|set type|repair|fix|ride|sail|dance|lift|run|bench) [a-z0-9].*",
        r"\b(?:it|this|that|your|these|those|them)\b",
    ),
    # what is liked
    Cue(
        "preference",
        Kind.PREFERENCE,
        rf"(?:{_I}(?:'d| would) {_A}(?:much )?(?:rather|prefer)\b.+|{_I}(?:'m| am|'ve| do| have)? {_A}(?:much )?(?:like|love|enjoy|enjoyed|adore|prefer|hate|dislike|detest|favou?r|crave|loathe|fond of|(?:not )?an? (?:\w+ )?fan of|into|rather (?:have|not|be|do|use|go|eat|stay)|partial to|passionate about|obsessed with|not (?:really )?into|sick of|tired of)\b (?!the \w+\W*$|some\b|to (?:know|hear|see|learn|get|ask|try|add|make|book|start|create|have|discuss|explore|understand|check|read more|find|include|use|focus|talk|continue|say|share|write|be able|schedule|proceed|purchase|know|think|hear)\b).*|{_I} {_A}(?:do not|don'?t|never|can'?t|cannot|won'?t) (?:really |even |particularly )?(?:like|love|enjoy|eat|drink|stand|care for|want any|wear|use|touch|trust)\b.*)",
        _THIS_TALK
        + r"|\b(?:like|love|enjoy|hate) (?:it|this|that|these|those|them|how|the (?:idea|way|suggestion|sound|concept|look))\b|\bdon'?t like it\b|\blike to (?:know|see|hear)\b|\buse it\b|\bprefer not to\W*$",
    ),
    Cue(
        "preference",
        Kind.PREFERENCE,
        r"(?:(?:some|one|two|three|a few|most|many) of )?my (?:\w+ )?favou?rites? .*|[\w ,'-]{2,50} (?:works?|suits?|is|are) (?:me )?(?:best|better|easier|ideal) for (?:me|us)\b.*|[a-z]+ for me, (?:never|not|no) .*|\w+ (?:theme|mode) hurts .*|i(?:'ve)? (?:find|found) [\w' ]{2,40} (?:to be )?(?:too |very |really |more |so )?(?:boring|relaxing|soothing|annoying|calming|uncomfortable|motivating|cold|noisy|distracting|exhausting|helpful for)\b.*|i'?m (?:also )?open to .*|i find (?:that )?i .*",
        _THIS_TALK + r"|\bopen to (?:any|other|your|suggestions?|ideas|recommendations|all)\b",
    ),
    # what somebody has
    Cue(
        "has",
        Kind.FACT,
        rf"{_I} {_A}(?:have|had|own|'ve got|have got|got|keep)\b (?!to\b|been\b|had\b|never\b|always\b|no idea|any\b|it\b|that\b|this\b|these\b|those\b|heard|seen|read\b|tried|noticed|thought|in mind|some (?:\w+ )?(?:questions|instructions|ideas|concerns|doubts|thoughts|trouble|issues|more)|(?:\w+ ){{0,3}}questions\b|an? (?:\w+ )?{NO_OBJECT}|{NO_OBJECT}|the (?:following|same|code|feeling|answer)|trouble|difficult|another|one (?:more|last|question)|not\b|more\b|enough\b|some flexibility|a lot of (?:it|them)|known\b|your\b|everything\b|yet\b|already\b|also\b|been\b|decided\b|made\b|added\b|used\b|created\b|updated\b|found\b|checked\b)[\"']?\w.*",
        _CODE + "|" + _THIS_TALK,
    ),
    Cue(
        "has",
        Kind.FACT,
        rf"{_HAVE} {_A}(?:lived|worked|owned|known|played|studied|practi[cs]ed|advised|negotiated|lost|gained|bought|adopted|visited|been to|travel+ed|completed|finished|written|published|run|collected|taught|suffered|struggled|raised|saved|invested|moved|started|stopped|quit|switched|watched|attended|enjoyed|loved|never (?:been|liked|owned|tried|eaten|had))\b.*",
        _THIS_TALK + "|" + _CODE,
    ),
    # relatives, friends, pets, things
    Cue(
        "relation",
        Kind.FACT,
        rf"(?:my|our) (?:\w+ )?{RELATIVES}(?: \w+)?(?:'s [\w' -]{{2,30}}?|,? who)? (?:(?:is|was|has|had) (?:not )?)?(?:is|are|was|were|has|have|had|'s|likes?|loves?|hates?|prefers?|lives?|works?|owns?|plays?|studies|goes|eats|drinks|uses|wants|needs|teaches|runs|got|moved|bought|gave|sends?|made|told me|came|went|died|passed away|turned|started|doesn'?t|can'?t|isn'?t|enjoys?|speaks|suffers|called|named|recommended|married|\w+ed)\b.+",
        _THIS_TALK + "|" + _CODE + r"|\bis always right\b|\btold me (?:it|that)\b",
    ),
    Cue(
        "relation",
        Kind.FACT,
        rf"(?!i\b|it\b|this\b|that\b|he\b|she\b|there\b|here\b|what\b|who\b|they\b|the\b)[\w' .-]{{2,30}} is (?:my|our) (?:\w+ )?{RELATIVES}\b.*|everybody calls my .*|(?:i|we) report to .*|(?:the )?(?:\w+ ){{1,4}}(?:dog|cat|horse|one) is [a-z]+, the (?:\w+ )+[a-z]+|by \W?[\w ]{{2,30}}\W? i mean .*|when i say [^,]{{2,30}},? i mean .*",
    ),
    Cue(
        "thing",
        Kind.FACT,
        r"(?:my|our) (?!question\b|questions\b|point\b|guess\b|concern\b|issue\b|problem\b|error\b|bad\b|apologies\b|thought|idea\b|understanding\b|assumption\b|suggestion\b|request\b|mind\b|opinion\b|guy\b|god\b|goodness\b|program\b|input\b|data\b|next\b|initial\b|main (?:question|concern|issue)|only (?:question|concern)|friend,|dear\b|bet\b|take\b|impression\b|first (?:question|thought)|heart\b|eyes\b|conversation\b|story\b|character)[\w' /-]{2,50}? (?:is|are|was|were|has|have|'s|runs? on|comes?|takes?|lasts?|starts?|works|costs?|needs?|consists?|weighs?|includes?|ranges?|lives?|changed|broke|expires?)\b.+",
        _CODE + "|" + _THIS_TALK + r"|\bis (?:that|to (?:make|understand|get|know|find|have|see)|how|what|whether|if|going)\b",
    ),
    # what went wrong, what was learned of it
    Cue(
        "lesson",
        Kind.EXPERIENCE,
        rf"(?:{_HAVE}|i|we) {_A}(?:learned|learnt) (?:my lesson|the hard way|that|a lesson|from experience|from my).*|.*\b(?:taught me|lessons? (?:learned|learnt|is|was|here)|what i (?:took|learned|learnt)|(?:was|were) definitely (?:excessive|too)|taught us)\b.*|(?:it )?turn(?:s|ed) out (?:that )?(?:i|my|we|our|the)\b.*|(?:i|we) tried .*\b(?:dropped|gave up|didn'?t work|did not work|works? better|worked better|abandoned|failed)\b.*|my experience .*",
        r"\b(?:he|she|they) (?:learned|learnt)\b|\bturned out (?:\w+ )?(?:well|great|good|nice|amazing|perfect|fine|okay|delicious|beautiful\w*)\b|^(?:the|a) \w+ (?:learned|who)\b|"
        + _THIS_TALK,
    ),
    Cue(
        "error",
        Kind.ERROR,
        r"(?:careful|be careful|watch out|beware|heads[- ]up|caution|warning|gotcha)\b\W.*|.*\b(?:bit us|bit me|broke (?:production|prod|the build)|wiped (?:my|our|the)|lost (?:all )?(?:my|our|the) (?:data|files|photos|work))\b.*|(?:the )?(?:version|v) ?\d[\w.]* (?:of [\w -]{2,30} )?(?:drops?|breaks?|crashes|fails?|corrupts?|loses|has a bug|leaks?)\b.*",
    ),
    Cue(
        "skill",
        Kind.SKILL,
        r"(?:the|my) (?:trick|secret|workaround|fix|solution) (?:is|was|that worked)\b.*|what (?:finally )?(?:worked|helped|fixed (?:it|that)|solved (?:it|that)) (?:was|is|for me)\b.*|(?:.* )?finally (?:worked|went through|fixed|got .* working)\b.*|to get .{2,60} (?:going|working|running|started),? (?:you|i|we) .*|.*\bthat has worked each time\b.*",
        r"^(?:i|we)'(?:ve|m) finally",
    ),
    Cue(
        "helps",
        Kind.EXPERIENCE,
        r"(?!it\b|this\b|that\b|these\b|which\b|they\b|you\b|the (?:tips|ideas|list|information)\b)[a-z][\w ,'-]{2,50} (?:helps|helped|has helped|have helped|really helps|(?:has|have) been (?:\w+ )?(?:helpful|hard|difficult|tough|a (?:lifesaver|game[- ]changer|struggle|huge help))|works? (?:well )?for|(?:makes|made) me)\b.*\b(?:me|my)\b.*",
        r"\byour?\b|" + _THIS_TALK,
    ),
    # how somebody feels
    Cue(
        "emotion",
        Kind.EMOTION,
        rf"(?:i(?:'m| am| feel|'ve been(?: feeling)?| have been(?: feeling)?| was| felt)|i(?:'m| am) (?:also )?feeling) (?:so |really |very |quite |pretty |just |completely |totally |a bit |a little |still |also |already |honestly |incredibly |absolutely |kind of |feeling )*{_FEELING}\b.*",
        r"\bby (?:all )?(?:the|your|these)\b|\bafraid (?:the|that|so|not|it|i)\b|\bwith (?:you|your|this (?:answer|response|tool))\b|\bempty[- ]handed|"
        + _CODE,
    ),
    Cue(
        "emotion",
        Kind.EMOTION,
        rf"{_AM} (?:still )?(?:on a high|buzzing|reeling|in tears|in shock|recovering) (?:from|over|about|after)\b.*",
    ),
    # what is done again and again, what was done once
    Cue(
        "habit",
        Kind.FACT,
        rf"(?:{_I}|most of the time,? i|at work,? i) {_A}(?:{_DOES}) (?!it\b|that\b|this\b|these\b|those\b|them\b|you\b|for granted|note\b|care of (?:it|this|that)|a look|sure\b|sense\b|into account|in mind|trying\b|getting\b|seeing\b|hearing\b|forgetting\b|thinking\b|in touch|so\b|not\b|have\b|think\b|know\b|want\b|need\b|feel\b|understand\b|like\b|agree\b|appreciate\b|up (?:to|with) (?:the|this)|away\b|ahead\b|back\b|over\b|through\b|with (?:it|that|the))\w.*",
        _THIS_TALK + "|" + _CODE + r"|^i (?:just )?(?:make|use|take) (?:the|a|an) (?:first|next|following)",
    ),
    Cue(
        "habit",
        Kind.FACT,
        rf"(?:{_HAVE} {_A}been {_A}(?!thinking\b|wondering\b|meaning\b|looking\b|searching\b|hearing\b|considering\b|trying to (?:figure|find|decide|understand|think)|getting (?:this|an error|these)|having (?:trouble|issues)|able\b)[a-z]+ing\b.+|{_AM} {_A}(?:doing|taking|going to|practi[cs]ing|attending|eating|reading|watching|living|sharing|raising|using|making|keeping|commuting|reserving|setting|getting (?:better|used)|able to (?:focus|run|walk|lift|speak|work)|running|growing|collecting|recovering|struggling with|dealing with|suffering|managing|teaching|leading|following)\b (?!it\b|this\b|that\b|some (?:trouble|issues)|a (?:hard|difficult) time|well\b|good\b|great\b|fine\b|ok\b).*)",
        _THIS_TALK + "|" + _CODE + r"|\bgoing to (?!the\b|a\b|my\b|church|yoga|work|school|therapy|college)",
    ),
    Cue(
        "habit",
        Kind.FACT,
        rf"(?:every|each|on) (?:\w+ )?(?:day|week|month|year|morning|evening|night|weekends?|weekdays?|{_DAY}s?),? (?:i|we)\b.+",
        _THIS_TALK + "|" + _CODE,
    ),
    Cue(
        "has",
        Kind.FACT,
        r"(?:i|we) (?:do not|don'?t|no longer) (?:need|have|own|drive|smoke|work|live|cook|speak)\b (?!any (?:questions|idea|issues|problem)|a clue|time\b|to\b|you\b|the (?:time|energy)|it\b|that\b|this\b|access|anything|much\b|enough\b|an? (?:question|problem)).+",
        _THIS_TALK + "|" + _CODE,
    ),
    Cue(
        "event",
        Kind.EVENT,
        rf"{_I} {_A}{DID}\b (?!it\b|that\b|this one|these\b|those\b|them\b|the (?:following|same|idea|feeling|point)|you\b|your\b|an? (?:error|idea|question|feeling|bit)\b|to (?:know|see|ask|make|get|try)\b|how\b|what\b|about (?:it|that)|stuck|confused|lost\W*$|curious)\w?.*",
        _THIS_TALK + "|" + _CODE,
    ),
)
# An event is kept when it says when, whom or where: a name, a number, a time.
EVENT_SAYS = rf"{PAST}|\d|\b(?:graduated|moved|quit|resigned|married|divorced|buried|adopted|retired|born|grew up|promoted|diagnosed|founded|won|lost|died|engaged|switched|stopped|bought|sold|lived|worked|studied|majored|attended|inherited|used to)\b"
BELIEF = Cue(
    "belief",
    Kind.FACT,
    r"(?:the|my|our|his|her|[a-z]+'s) [\w' -]{2,50} (?:is|are|was|were|has|closes?|opens?|starts?|ends?|lives?|works?|costs?|comes?|moved|will be|takes?)\b.*(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight|\w+day|january|february|march|april|june|july|august|september|october|november|december)\b).*|i'?m (?:allergic|intolerant|pregnant|getting|coming down)\b.*|my [\w' ]{2,40} (?:is|has|likes|lives|works)\b.*",
    r"\b(?:you|your|we should|i should|could|would|better|important|idea|great|best|reason|main|point)\b",
    Standing.BELIEF,
)
# «Remember that …»: what follows is kept, whatever it is. And what says that something is not as it was said.
EXPLICIT = Cue(
    "asked to remember",
    Kind.FACT,
    r"(?:please )?(?:remember|keep in mind|note|take note|don'?t forget|for (?:the|your) (?:record|information|reference))(?: that\b|:|,| (?=(?:my|our) [\w' -]{2,40} (?:is|are)\b))\s*(?!you\b|your\b|the (?:following|above)\b|\w+ing\b|it'?s (?:important|ok|okay)\b)",
)
CORRECTION = Cue(
    "correction",
    Kind.FACT,
    r"(?:i (?:actually |really )?meant\b.*|.*\bi was referring to\b.*|i (?:actually )?(?:need|have|want|use|live|work)\b.*, not .*|(?:the|my|our|his|her|\w+'s) [\w' -]{2,40} (?:is|are|was|takes|costs|starts|ends|has)\b.*(?:, not |, rather than | instead of ).*|(?:scratch|forget|disregard|ignore) (?:what i said about |the |my )[\w' -]{3,40}(?: i (?:mentioned|told you about))?\b.*|(?:we are|we're|i'm|i am) not .* after all.*|my \w+ (?:is|are) no longer .*|i (?:no longer|don'?t) .* (?:any ?more|any longer).*|i no longer .*)",
    r"\b(?:these|this|that line|row|third|sentence|paragraph|version|button|column)\b",
)
