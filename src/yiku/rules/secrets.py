"""
Which parts of a text are credentials of machines, and the text with a mark in their place.

    export GITHUB_TOKEN=<forty characters>   →   export GITHUB_TOKEN=[secret github-token 3f9a1c2e]

The eight digits are a keyed fingerprint: the same secret has the same mark, and nobody reads it back.
Only what a machine made is meant. What a person says in his own words ("my locker code is 4711", 门锁密码是 4711,
"the wifi password is sunshine") is his to have remembered, and what merely looks random (hashes, ids, images) stays.

A secret is known in one of three ways: by its own form (FORMS: what begins with `ghp_` is a GitHub token), by what
stands before it (`api_key: …`, 密钥：…) if the value looks machine-made, or as the body of a private key. SUSPECT
lets an ordinary text go by in some microseconds; then each form is looked for only where its anchor is.
Everything is linear in the text: each pattern begins with a literal or a bounded run, and gives back nothing it ate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple


class Span(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str


class Form(NamedTuple):
    """How one kind of secret looks. The secret is the pattern's group 1 if it has one, else all that it matches."""

    kind: str
    anchors: tuple[str, ...]  # a text that contains none of them has no such secret
    pattern: str


def _form(kind: str, anchors: str, pattern: str) -> Form:
    return Form(kind, tuple(anchors.split()), rf"(?<![A-Za-z0-9])(?:{pattern})")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A form's pattern; most are never needed, and to compile them all takes 15 ms."""
    return re.compile(pattern)


# Lengths are those the issuers document or are known to use, with room for longer ones.
FORMS = (
    _form("aws-access-key", "AKIA ASIA ABIA ACCA", r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _form("google-api-key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _form("google-oauth-token", "ya29.", r"ya29\.[A-Za-z0-9_.-]{20,}+"),
    _form("google-refresh-token", "1//0", r"1//0[A-Za-z0-9_-]{30,}+"),
    _form("google-oauth-secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,}+"),
    _form("azure-client-secret", "Q~", r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    _form("azure-shared-key", "Key=", r"(?:Account|SharedAccess)Key=([A-Za-z0-9+/]{40,88}={1,2})"),
    _form("signed-url", "sig= nature=", r"(?:(?:X-Amz-|X-Goog-)?Signature|sig)=([A-Za-z0-9%/+_-]{32,}+={0,2})"),
    _form("alibaba-access-key", "LTAI", r"LTAI[A-Za-z0-9]{12,30}+"),
    _form("tencent-secret-id", "AKID", r"AKID[A-Za-z0-9]{28,40}+"),
    _form("baidu-access-key", "ALTAK", r"(?:bce-v3/)?ALTAK-[A-Za-z0-9]{16,}+(?:/[0-9a-f]{40})?"),
    _form("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"(?:gh[pousr]_[A-Za-z0-9]{36,}+|github_pat_\w{22,}+)"),
    _form("gitlab-token", "gl", r"gl(?:pat|oas|dt|rt|ptt|cbt|ft|soat|agent|imt)-[A-Za-z0-9_.-]{20,}+"),
    _form("atlassian-token", "ATBB ATATT ATCTT", r"AT(?:BB|ATT|CTT)[A-Za-z0-9_=-]{24,}+"),
    _form("slack-token", "xox xapp-", r"(?:xox[abceoprs]|xapp)-[A-Za-z0-9-]{20,}+"),
    _form("slack-webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_]{20,}+)"),
    _form("stripe-key", "k_live_ k_test_ whsec_", r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/]{24,}+={0,2})"),
    _form("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{24,}+"),
    _form("openai-key", "sk-", r"sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}+|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}"),
    _form("model-api-key", "sk-", r"sk-(?:[a-z0-9]{2,8}-){0,3}[A-Za-z0-9]{20,}+"),  # DashScope, DeepSeek, Moonshot, OpenRouter …
    _form("model-api-key", "gsk_ xai- pplx- nvapi- r8_", r"(?:gsk_|xai-|pplx-|nvapi-|r8_)[A-Za-z0-9_-]{30,}+"),
    _form("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}+"),
    _form("twilio-key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _form("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _form("mailgun-key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _form("mailchimp-key", "-us", r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
    _form("npm-token", "npm_", r"npm_[A-Za-z0-9]{36,}+"),
    _form("pypi-token", "pypi-", r"pypi-[A-Za-z0-9_-]{50,}+"),
    _form("rubygems-key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
    _form("telegram-token", ":AA", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9])"),
    _form("discord-token", ".", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    _form("discord-webhook", "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/[0-9]{16,20}/([A-Za-z0-9_-]{60,}+)"),
    _form("jwt", "eyJ", r"(?<![._-])eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+(?:\.[A-Za-z0-9_-]++){0,2}"),
    _form("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}+"),
    _form("wireguard-key", "Key", r"(?:Private|Preshared)Key\s{0,4}=\s{0,4}([A-Za-z0-9+/]{43}=)"),
    _form("shopify-token", "shp", r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}"),
    _form("digitalocean-token", "o_v1_ p_v1_ r_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    _form("docker-token", "dckr_", r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,}+"),
    _form("vault-token", "hv", r"hv[sbr]\.[A-Za-z0-9_-]{24,}+"),
    _form("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,}+"),
    _form("linear-key", "lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}+"),
    _form("figma-token", "figd_", r"figd_[A-Za-z0-9_-]{36,}+"),
    _form("postman-key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    _form("grafana-token", "glsa_ glc_", r"(?:glsa|glc)_[A-Za-z0-9_=+/]{32,}+"),
    _form("tailscale-key", "tskey-", r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,}+(?:-[A-Za-z0-9]{16,}+)?"),
    _form("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-[0-9])?"),
    _form("supabase-key", "sbp_ sb_secret_", r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{24,}+)"),
    _form("wecom-webhook", "webhook/send", r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([0-9a-f-]{36})"),
    _form("dingtalk-webhook", "robot/send", r"oapi\.dingtalk\.com/robot/send\?access_token=([0-9a-f]{64})"),
    _form("feishu-webhook", "bot/v2/hook/", r"open\.(?:feishu|larksuite)\.(?:cn|com)/open-apis/bot/v2/hook/([0-9a-f-]{36})"),
)

_ANCHORS = tuple((anchor, number) for number, form in enumerate(FORMS) for anchor in form.anchors)

# A text in which none of these finds anything has no secret: it has no long run, nothing stands behind a colon or an equals sign.
SUSPECT = (
    re.compile(r"[A-Za-z0-9_+/=.~０-９Ａ-Ｚａ-ｚ-]{16}"),
    re.compile(r"""[:=：＝]>?(?:[\s"'`“「]|\\[nrt]){0,6}[^\s"'`“”「」，。；、\u4e00-\u9fff]{8}"""),
    re.compile(r"login\s"),
)

# A word that announces a secret, what may still belong to its name, and what stands between name and value.
_PASSWORD = r"pass(?:word|wd|phrase)|pwd|密码|口令"
_KEY = (
    r"secret|credential|(?<!page.)(?<!page)(?<!sync.)(?<!cursor.)token|auth|authorization"
    r"|(?:api|access|private|secret|account|auth|signing|encryption|master|service|app)[_. -]?key|(?<![a-z0-9])[as]k"
    r"|密钥|秘钥|令牌|私钥|凭证"
)
_TAIL = r"""(?:[_ -]?(?:access[_-]?)?(?:key|secret|token|value))?["'`\])]{0,2}"""
_GIVEN = re.compile(
    rf"(?:({_PASSWORD})|(?:{_KEY})){_TAIL}\s{{0,4}}(?:([:=：＝]{{1,2}}>?)|=>|is\b|是|为)\s{{0,4}}"
    r"""["'`“「]?((?:[^\s"'`,;&<>(){}\[\]，。；、：“”「」\u4e00-\u9fff]|&(?!\w{1,40}=)){8,512}+)(?!\()""",
    re.IGNORECASE,
)
_ANNOUNCED = "pass pwd secret credential token auth key ak sk 密码 口令 密钥 秘钥 令牌 私钥 凭证".split()
_HEADER = re.compile(r"\b(?:bearer|basic|token|apikey)\s{1,4}([A-Za-z0-9._~+/-]{12,}+={0,2})", re.IGNORECASE)
_IN_URL = re.compile(r"://[^\s/:@\"'<>]{0,64}:([^\s/\"'<>]{3,128})@")
_LOGIN = re.compile(r"\blogin\s{1,4}\S{1,128}\s{1,8}password\s{1,4}(\S{4,256})")
_CURL = re.compile(r"\s(?:-u|--user)[ =][\"']?[^\s:\"']{1,64}:([^\s\"']{4,128})")

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?)-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=:,>. -]|\s|\\[nr]){0,16384}+")
_PEM_CHARS = 60  # a body has at least so many; less is talk about keys

_WIDE = re.compile("[０-９Ａ-Ｚａ-ｚ]")
_NARROW = {0xFF01 + i: 0x21 + i for i in range(94)}  # full-width forms, one character for one
_PLACEHOLDER = re.compile(
    r"xxxx|\*\*\*|\.\.\.|…|your|example|placeholder|change_?me|redacted|dummy|sample|fake"
    r"|12345678|abcdefg|0000000|[<>{}]|^\$|^\[|^%\(",
    re.IGNORECASE,
)
_TALK = frozenset("pass password passwd pwd pw secret token key none null string xxx hidden masked foo bar 密码".split())
_PATH = re.compile(
    r"(?:~|\.{1,2}|[a-z]:)?[/\\][a-z0-9_./\\-]*|[\w.-]*\.(?:json|ya?ml|toml|pem|key|txt|env|py|js|ts|md|crt|sh)", re.I
)


def masked(text: str, seal: Callable[[str], bytes]) -> tuple[str, tuple[str, ...]]:
    """
    The text with a mark in place of each secret, and their kinds in order.

    seal: a keyed hash; its first four bytes become the fingerprint
    """
    if not any(pattern.search(text) for pattern in SUSPECT):
        return text, ()
    narrow = text if text.isascii() or not _WIDE.search(text) else text.translate(_NARROW)
    if not (spans := _apart(_spans(narrow))):
        return text, ()
    pieces, position = [], 0
    for start, end, kind in spans:
        pieces += [text[position:start], f"[secret {kind} {seal(narrow[start:end])[:4].hex()}]"]
        position = end
    return "".join([*pieces, text[position:]]), tuple(span.kind for span in spans)


def _apart(found: Iterator[Span]) -> list[Span]:
    """The spans in the order of the text; of two that overlap the one that was found first."""
    kept: list[Span] = []
    last = -1
    for _, span in sorted(enumerate(found), key=lambda one: (one[1].start, one[0])):
        if span.start < last:
            continue
        kept.append(span)
        last = span.end
    return kept


def _spans(text: str) -> Iterator[Span]:
    """Every secret, those of a known form first. Some may overlap."""
    if "-----BEGIN" in text:
        yield from _private_keys(text)
    for number in sorted({number for anchor, number in _ANCHORS if anchor in text}):
        kind, pattern = FORMS[number].kind, _compiled(FORMS[number].pattern)
        for match in pattern.finditer(text):
            start, end = match.span(pattern.groups)
            if not _talk(text[start:end]):
                yield Span(start, end, kind)
    yield from _beside(text)


def _beside(text: str) -> Iterator[Span]:
    """Secrets that are known by what stands before them."""
    if "://" in text and "@" in text:
        yield from _each(_IN_URL, text, "url-password")
    if "login" in text:
        yield from _each(_LOGIN, text, "netrc-password")
    if " -u" in text or " --user" in text:
        yield from _each(_CURL, text, "basic-auth")
    low = text.lower()
    if len(low) != len(text):  # İ becomes two characters; the patterns fold by themselves
        low = text
    if "bearer" in low or "authorization" in low:
        for match in _HEADER.finditer(text):
            if _machine_made(match[1], at_least=12):
                yield Span(*match.span(1), "authorization")
    if not any(word in low for word in _ANNOUNCED):
        return
    for match in _GIVEN.finditer(text):
        start, end = match.span(3)
        value = text[start:end].rstrip(".!?:")
        if _machine_made(value, at_least=8 if match[2] else 16):
            yield Span(start, start + len(value), "password" if match[1] else "api-key")


def _each(pattern: re.Pattern[str], text: str, kind: str) -> Iterator[Span]:
    return (Span(*match.span(1), kind) for match in pattern.finditer(text) if not _talk(match[1]))


def _private_keys(text: str) -> Iterator[Span]:
    """Private keys, from their first line to their last, or to the end of what looks like their body."""
    position = 0
    while begin := _PEM.search(text, position):
        body = _PEM_BODY.match(text, begin.end())
        position = body.end() if body else begin.end()
        end = f"-----END {begin[1]}-----"
        dashes = text.rfind("-----END", begin.end(), position + 8)  # the body may run into the last line's dashes
        stop = dashes if dashes >= 0 else position
        whole = stop + len(end) if text.startswith(end, stop) else stop
        if sum(map(str.isalnum, text[begin.end() : stop])) >= _PEM_CHARS and "..." not in text[begin.end() : stop]:
            yield Span(begin.start(), whole, "private-key")
            position = max(position, whole)


def _talk(value: str) -> bool:
    """Whether a value stands for a secret in an example, and is none."""
    return len({*value}) < 5 or value.casefold() in _TALK or _PLACEHOLDER.search(value) is not None


def _machine_made(value: str, *, at_least: int) -> bool:
    """Whether a value that was announced as a secret looks as if no person thought of it."""
    if len(value) < at_least or _talk(value) or _PATH.fullmatch(value) or "://" in value:
        return False
    sorts = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.isalpha() else "s" for c in value]
    used = {*sorts} - ({"s"} if not set("!#$%^*+?@|~/=") & {*value} else set())
    letters = len(sorts) - sorts.count("d") - sorts.count("s")
    if letters < 2 or ("d" not in used and len(used) < 3):
        return False
    turns = sum(one != other and "d" in (one, other) for one, other in pairwise(sorts))
    return len(used) >= 3 or turns >= 3
