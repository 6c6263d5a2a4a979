"""
Generate credentials and look-alikes from a seed.

Nothing here is a credential, and no line of this file looks like one: each is put together when a test runs.
`secrets(seed)` gives ten each of the kinds in KINDS, as texts in which somebody says, pastes or configures them;
`look_alikes(seed, n)` gives texts in which nothing may be masked.
"""

import base64
import hashlib
import random
import re
import string
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

ALNUM = string.ascii_letters + string.digits
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits

Chance = random.Random


class Secret(NamedTuple):
    """A secret, and the text in which it stands."""

    kind: str
    value: str
    text: str


def drawn(chance: Chance, letters: str, length: int) -> str:
    """Random characters; where there are many, a digit, a lower-case and an upper-case letter are among them."""
    while True:
        found = "".join(chance.choices(letters, k=length))
        sorts = [string.digits, string.ascii_lowercase, string.ascii_uppercase]
        if length < 8 or all({*found} & {*sort} for sort in sorts if {*letters} & {*sort}):
            return found


def form(*parts: str | tuple[str, int]) -> Callable[[Chance], str]:
    """What draws a value from its parts: literals, and (letters, length)."""
    return lambda chance: "".join(part if isinstance(part, str) else drawn(chance, *part) for part in parts)


def jwt(chance: Chance) -> str:
    """Header, claims and signature."""
    parts = (f'{{"alg":"HS256","kid":"{drawn(chance, HEX, 8)}"}}', f'{{"sub":"{drawn(chance, HEX, 12)}","name":"安"}}')
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, drawn(chance, URL_SAFE, 43)])


def private_key(chance: Chance) -> str:
    """A private key on many lines, as a file or as a string in JSON."""
    name = chance.choice(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]) + "PRIVATE" + " KEY"
    lines = [drawn(chance, BASE64, 64) for _ in range(chance.randrange(3, 27))] + [drawn(chance, BASE64, 22) + "=="]
    return chance.choice(["\n", "\r\n", "\\n"]).join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"])


def password(chance: Chance) -> str:
    """As a password manager makes them."""
    letters = chance.choice([ALNUM, ALNUM + "!#$%*+@^_-"])
    return drawn(chance, ALNUM, 2) + drawn(chance, letters, chance.randrange(10, 24)) + drawn(chance, ALNUM, 2)


# Where a value of a known form may stand: said, pasted, quoted, configured; `{}` is the value.
PLACES = (
    "{}",
    "the key is {}, keep it safe",
    "密钥是{}，请保密",
    "请用这个：{}。谢谢！",
    "（{}）",
    "「{}」是今天生成的",
    '{{"key": "{}", "备注": "生产环境"}}',
    "```sh\nexport KEY={}\n```",
    "Use `{}` for staging 🚀",
    "KEY='{}'; run",
    "curl https://api.host.test/v1?key={}&limit=5",
    "> {}\n好的",
)


class Kind(NamedTuple):
    """One kind of secret: how a value is drawn, and where it may stand."""

    value: Callable[[Chance], str]
    places: tuple[str, ...] = PLACES


ASSIGNED = (
    '{0}="{{}}"',
    "{0}={{}}",
    "{0}: {{}}",
    '"{0}": "{{}}"',
    "{0} = '{{}}'",
    "{0}：{{}}，别外传",
    "export {0}={{}}\nexport B=2",
)


def assigned(*names: str) -> tuple[str, ...]:
    """The places beside one of these names."""
    return tuple(place.format(name) for place in ASSIGNED for name in names)


KINDS = {
    "aws access key": Kind(form("AK", "IA", (UPPER, 16))),
    "aws secret key": Kind(form((BASE64, 40)), assigned("aws_secret_access_key", "AWS_SECRET_ACCESS_KEY", "SecretAccessKey")),
    "google api key": Kind(form("AI", "za", (URL_SAFE, 35))),
    "google oauth": Kind(form("GOC", "SPX-", (URL_SAFE, 28))),
    "google token": Kind(form("ya", "29.", (URL_SAFE, 120))),
    "azure storage": Kind(form((BASE64, 86), "=="), ("AccountName=a;AccountKey={};EndpointSuffix=core.test",)),
    "azure client secret": Kind(form((ALNUM, 3), "8", "Q~", (ALNUM + "_~.-", 33), "a")),
    "alibaba": Kind(form("LT", "AI", (ALNUM, 20))),
    "alibaba secret": Kind(form((ALNUM, 30)), assigned("accessKeySecret", "ALIBABA_CLOUD_ACCESS_KEY_SECRET")),
    "tencent": Kind(form("AK", "ID", (ALNUM, 32))),
    "huawei": Kind(form((ALNUM, 40)), assigned("HUAWEICLOUD_SDK_SK", "SK", "secretKey")),
    "github": Kind(form("gh", "p_", (ALNUM, 36))),
    "github fine-grained": Kind(form("github", "_pat_", (ALNUM, 22), "_", (ALNUM, 59))),
    "gitlab": Kind(form("glp", "at-", (URL_SAFE, 20))),
    "bitbucket": Kind(form("AT", "BB", (ALNUM, 32))),
    "slack": Kind(form("xo", "xb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24))),
    "stripe": Kind(form("sk_", "live_", (ALNUM, 24))),
    "openai": Kind(form("sk-", "proj-", (URL_SAFE, 72))),
    "anthropic": Kind(form("sk-", "ant-api03-", (URL_SAFE, 93), "AA")),
    "dashscope, deepseek": Kind(form("sk", "-", (HEX, 32))),
    "moonshot": Kind(form("sk", "-", (ALNUM, 48))),
    "huggingface": Kind(form("h", "f_", (ALNUM, 34))),
    "zhipu": Kind(form((HEX, 32), ".", (ALNUM, 16)), assigned("ZHIPU_API_KEY", "api_key", "智谱密钥")),
    "twilio": Kind(form("S", "K", (HEX, 32))),
    "twilio token": Kind(form((HEX, 32)), assigned("TWILIO_AUTH_TOKEN", "authToken")),
    "sendgrid": Kind(form("S", "G.", (URL_SAFE, 22), ".", (URL_SAFE, 43))),
    "npm": Kind(form("np", "m_", (ALNUM, 36))),
    "pypi": Kind(form("py", "pi-", (URL_SAFE, 100))),
    "telegram": Kind(form((string.digits[1:], 10), ":A", "A", (URL_SAFE, 32), "x")),
    "discord": Kind(form("M", (ALNUM, 23), ".", (URL_SAFE, 6), ".", (URL_SAFE, 38))),
    "jwt": Kind(jwt),
    "private key": Kind(private_key),
    "connection string": Kind(
        password,
        (
            "postgres://app:{}@db.test:5432/main", "mysql://根:{}@10.0.0.5/库", "连接用 redis://:{}@cache.test:6379/0",
            "mongodb+srv://ann:{}@c0.test/?retryWrites=true", "git clone https://ann:{}@git.test/a/b.git",
        ),
    ),
    "password": Kind(password, assigned("password", "DB_PASSWORD", "passwd", "密码", "口令", "root密码")),
    "api key": Kind(form((ALNUM, 32)), assigned("api_key", "X-API-Key", "apiKey", "密钥", "API密钥", "client_secret", "access_token")),
    "bearer": Kind(
        form((URL_SAFE, 40)),
        ("Authorization: Bearer {}", "curl -H 'Authorization: Bearer {}' host.test", "用 Bearer {} 调用"),
    ),
    "netrc": Kind(password, ("machine host.test login ann password {}", "machine 10.0.0.2\n  login 安\n  password {}\n")),
    "age": Kind(form("AGE-SECRET", "-KEY-1", (UPPER, 58))),
    "wireguard": Kind(form((BASE64, 43), "="), ("[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32",)),
    "webhook": Kind(lambda chance: str(uuid.UUID(int=chance.getrandbits(128))), ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={}",)),
}  # fmt: skip


def secrets(seed: int, each: int = 10) -> list[Secret]:
    """So many secrets of each kind."""
    chance = random.Random(seed)
    return [
        Secret(
            name, value := kind.value(chance), chance.choice(kind.places).replace("{{", "{").replace("}}", "}").replace("{}", value)
        )
        for name, kind in KINDS.items()
        for _ in range(each)
    ]


# ------------------------------------------------------------------ what only looks like one


def _isbn(chance: Chance) -> str:
    return f"978-{chance.randrange(10)}-{chance.randrange(100, 999)}-{chance.randrange(10**4, 10**5)}-{chance.randrange(10)}"


def _words(chance: Chance, n: int) -> str:
    return " ".join(
        chance.choices("the flat is close to metro 地铁 咖啡馆 we meet 周三 at garden 我们 去 看 桥 red kite".split(), k=n)
    )


def _digest(chance: Chance, name: str) -> str:
    return hashlib.new(name, chance.randbytes(16)).hexdigest()


PLACEHOLDERS = ("<YOUR_API_KEY>", "${TOKEN}", "sk-" + "x" * 32, "sk-...", "your-api-key-here-1234", "***", "$API_KEY", "{{ key }}")
NOT_PASSWORDS = ("<密码>", "${DB_PASSWORD_1}", "********", "changeme123", "getpass.getpass()", "os.environ['DB_PASS_2']", "None")
TALK = (
    "keys begin with sk-",
    "tokens look like gh" + "p_ and 36 characters",
    "以 AK" + "IA 开头的是 AWS 的密钥",
    "hf_ 开头",
    "a JWT: eyJ…",
)

LOOK_ALIKES: tuple[Callable[[Chance], str], ...] = (
    lambda c: f"commit {_digest(c, 'sha1')}\nAuthor: 安 <an@host.test>",
    lambda c: f"fixed in {_digest(c, 'sha1')[:10]}, see {_digest(c, 'sha1')[:7]}",
    lambda c: f"sha256:{_digest(c, 'sha256')}  file{c.randrange(99)}.tar.gz",
    lambda c: f"md5 是 {_digest(c, 'md5')}，请核对",
    lambda c: f"id: {uuid.UUID(int=c.getrandbits(128))}",
    lambda c: f'{{"trace_id": "{_digest(c, "md5")}", "会话": "{uuid.UUID(int=c.getrandbits(128))}"}}',
    lambda c: f"data:image/png;base64,{base64.b64encode(c.randbytes(120)).decode()}",
    lambda c: f"版本 v{c.randrange(9)}.{c.randrange(30)}.{c.randrange(99)}-beta.{c.randrange(9)}+build.{c.randrange(10**8)}",
    lambda c: f"order no. {c.randrange(10**17, 10**18)} 订单号",
    lambda c: f"ISBN {_isbn(c)}",
    lambda c: f"call +47 {c.randrange(10**7, 10**8)} or 1{c.randrange(3 * 10**9, 10**10)}",
    lambda c: f"身份证 {c.randrange(110000, 650000)}19{c.randrange(50, 99)}0{c.randrange(1, 9)}1{c.randrange(10)}{c.randrange(1000, 9999)}",
    lambda c: f"open /home/ann/项目/{drawn(c, string.ascii_lowercase, 9)}/src/module_{c.randrange(999)}/test_tokens.py:{c.randrange(999)}",
    lambda c: f"https://docs.host.test/v{c.randrange(9)}/{drawn(c, ALNUM, 11)}?page=2&next_page_token={drawn(c, ALNUM, 20)}",
    lambda c: f"http://host.test:{c.randrange(1000, 9999)}/@ann/{c.randrange(10**9)}",
    lambda c: f"git@git.test:ann/repo{c.randrange(999)}.git, ssh://git@host.test:22/{drawn(c, string.ascii_lowercase, 8)}",
    lambda c: f"api_key: {c.choice(PLACEHOLDERS)}",
    lambda c: f"password={c.choice(NOT_PASSWORDS)}",
    lambda c: c.choice(TALK),
    lambda c: f"my locker code is {c.randrange(1000, 9999)}",
    lambda c: f"我的门锁密码是 {c.randrange(1000, 999999)}",
    lambda c: f"the wifi password is {c.choice(['sunshine', 'open sesame', 'correct horse', '芝麻开门', 'bergen2019'])}",
    lambda c: f"密码：{c.choice(['芝麻开门', '和以前一样', '见便签', '在保险柜里', str(c.randrange(10**6))])}，别忘了",
    lambda c: f"max_tokens={c.randrange(9999)}, token_count: {c.randrange(10**9)}, tokens: {c.randrange(10**9)}",
    lambda c: f"cache_key={_digest(c, 'md5')} primary_key=user_{c.randrange(10**6)}",
    lambda c: f"ssh-ed25519 {base64.b64encode(c.randbytes(51)).decode()} ann@host",
    lambda c: f"-----BEGIN CERTIFICATE-----\n{base64.b64encode(c.randbytes(96)).decode()}\n-----END CERTIFICATE-----",
    lambda c: f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(c.randbytes(96)).decode()}\n-----END PUBLIC KEY-----",
    lambda c: f"token = self.get_token(user_{c.randrange(999)}); secret = load('db{c.randrange(99)}')",
    lambda c: f"secret_name: prod-db-{c.randrange(99)}, key: value{c.randrange(99)}, auth: required",
    lambda c: f"sk-learn {c.randrange(9)}.{c.randrange(9)}, task-{c.randrange(10**6)}, risk-{drawn(c, string.ascii_lowercase, 24)}",
    lambda c: f"{_words(c, 9)} at {c.randrange(10, 23)}:{c.randrange(10, 59)} on 2026-0{c.randrange(1, 9)}-1{c.randrange(9)}，{_words(c, 5)}",
    lambda c: f"the bearer of good news, basic understanding of {_words(c, 3)}; token of thanks {c.randrange(99)}",
    lambda c: f"etag: W/\"{drawn(c, ALNUM, 27)}\" request-id {drawn(c, UPPER, 16)}",
    lambda c: f"password: see /run/secrets/db_password_{c.randrange(99)}; secret: ./conf/keys{c.randrange(99)}.json",
    lambda c: f"integrity sha512-{base64.b64encode(c.randbytes(64)).decode()}",
    lambda c: f"0x{drawn(c, HEX, 40)} 钱包地址 bc1q{drawn(c, string.ascii_lowercase + string.digits, 38)}",
    lambda c: f"<br>{_words(c, 4)}，ＡＢＣ{c.randrange(10**6)}、{c.choice('🎉🚲🌧️')} Ünïcødé naïve café {c.randrange(10**9)}",
    lambda c: f"arn:aws:iam::{c.randrange(10**11, 10**12)}:role/reader-{c.randrange(99)} in eu-north-1",
    lambda c: f"公钥指纹：SHA256:{drawn(c, BASE64, 43)}",
)  # fmt: skip


def look_alikes(seed: int, n: int = 2_000) -> list[str]:
    """Texts in which nothing may be masked, of each sort the same number."""
    chance = random.Random(seed)
    return [LOOK_ALIKES[i % len(LOOK_ALIKES)](chance) for i in range(n)]


# ------------------------------------------------------------------ drawn from a form


def like(pattern: str, chance: Chance) -> str:
    """A text that a form's regular expression matches; of what may repeat without end a few more than it must."""
    return "".join(_parts(re._parser.parse(pattern, re.ASCII), chance))


def _parts(parsed: Iterable[tuple[Any, Any]], chance: Chance) -> Iterator[str]:
    for kind, given in parsed:
        match str(kind):
            case "LITERAL":
                yield chr(given)
            case "IN":
                yield chance.choice(_letters(repr(given), kind, given))
            case "MAX_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = given
                for _ in range(least if most == least else min(int(most), least + chance.randrange(9))):
                    yield from _parts(inner, chance)
            case "SUBPATTERN":
                yield from _parts(given[3], chance)


_KNOWN: dict[str, str] = {}


def _letters(name: str, kind: Any, given: Any) -> str:
    """The characters that a set in a pattern has."""
    if name not in _KNOWN:
        alone = re._parser.parse("", re.ASCII)
        alone.data = [(kind, given)]
        _KNOWN[name] = "".join(filter(re._compiler.compile(alone).match, ALNUM + "-_.+/=%@~"))
    return _KNOWN[name]
