"""Credential formats of issuers and announcing phrases: examples are masked, look-alikes stay."""

import random
import re
import sysconfig
import time
from pathlib import Path

import pytest
from announcements import KEYS, PASSWORDS, STAYS
from credentials import ALNUM, drawn, password
from rules.test_secrets import mask, seal

from yiku.rules.privacy import forms, secrets
from yiku.rules.privacy.secrets import mask_secrets

PLACES = (
    "{}",
    "use {} for the staging box",
    "密钥是{}，请保密",
    "DEPLOY_SETTING={}",
    '{{"items": ["{}"], "备注": "x"}}',
    "https://x.test/a?v={}&page=2",
    "API_KEY={}",
    "api key: `{}`",
    "line one\\n{}\\nline three",
    "next%3D{}%26page%3D2",
)


def left(text: str, value: str) -> bool:
    """Whether eight characters of a value are still to be read."""
    kept = re.sub(r"\[secret [a-z0-9-]+ [0-9a-f]{8}\]", "", mask_secrets(text, seal)[0])
    return any(value[i : i + 8] in kept for i in range(max(1, len(value) - 7)))


def credential(example: str) -> str:
    """What of an example is the credential: of an address, what stands behind the literal."""
    return example.replace("·", "")


@pytest.mark.parametrize("line", forms.issuers(), ids=lambda line: f"{line.kind} {line.prefixes[0]}")
def test_an_issuers_example_is_masked_wherever_it_stands(line):
    """Alone, in a sentence of either language, in JSON, an address, an escape, and announced; under each of its prefixes."""
    example = credential(line.example)
    first, *others = line.prefixes

    assert example.startswith(first)
    assert [] == [place for place in PLACES if left(place.format(example), example)]
    assert line.kind in mask_secrets(example, seal)[1]
    assert [] == [prefix for prefix in others if line.kind not in mask_secrets(prefix + example[len(first) :], seal)[1]]


@pytest.mark.parametrize("line", forms.inner(), ids=lambda line: f"{line.kind} {line.literal}")
def test_what_is_known_by_its_middle_is_masked(line):
    """A literal within it or before it tells what it is; of an address the address stays."""
    example = credential(line.example)
    kept, kinds = mask_secrets(f"看 {example} 好", seal)

    assert (line.kind,) == kinds
    assert kept.startswith("看 ") and kept.endswith(" 好")
    assert (line.literal in kept) == ("(" in line.rest.replace("(?", ""))


def test_what_begins_like_a_credential_and_reads_like_words_stays():
    """Each line's look-alike, in a sentence of either language too."""
    lines = (*forms.issuers(), *forms.inner())
    texts = [place.format(line.look_alike) for line in lines for place in ("{}", "see {} in the docs", "见 {} 一节")]

    assert [] == [text for text in texts if mask_secrets(text, seal)[1]]


@pytest.mark.parametrize("length", [24, 40])
def test_every_way_to_say_a_key_is_masked(length):
    """Assigned, behind flags, in addresses, in tables, tags and on two lines, said in English and in Chinese."""
    chance = random.Random(length)
    said = [(way, drawn(chance, ALNUM, length)) for way in KEYS for _ in range(3)]

    assert len(KEYS) >= 100
    assert [] == [way for way, key in said if left(way.replace("{}", key), key)]


def test_nearly_every_password_of_a_manager_is_masked():
    """In every way to say one; by chance one in a hundred reads like words."""
    chance = random.Random(8)
    said = [(way, password(chance)) for way in PASSWORDS for _ in range(5)]
    missed = [way for way, word in said if left(way.replace("{}", word), word)]

    assert len(missed) <= 0.02 * len(said), missed
    assert all(missed.count(way) <= 1 for way in missed), missed


def test_what_only_sounds_like_an_announcement_stays():
    """Names in code, cursors, placeholders, the next line of a file, and what people say in their own words."""
    assert {} == {text: mask_secrets(text, seal)[0] for text in STAYS if mask_secrets(text, seal)[1]}


def test_a_short_text_with_a_secret_is_suspected():
    """What is let go by without a closer look has no secret."""
    chance = random.Random(2)
    texts = [
        *(line.example.replace("·", "") for line in (*forms.issuers(), *forms.inner())),
        *(way.replace("{}", drawn(chance, ALNUM, 24)) for way in KEYS),
        *(way.replace("{}", password(chance)) for way in PASSWORDS),
        "sshpass -p kumquat ssh a@b.test",
    ]

    assert [] == [text for text in texts if mask_secrets(text, seal)[1] and not any(one.search(text) for one in secrets.SUSPECT)]


def test_an_outer_announcement_hides_no_inner_one():
    """Where the announced value is an address, the token in it is masked and the address stays."""
    token = "aB3dE9fG1hJ5kL7mN2pQ4rS6"

    assert (
        f"API_KEY=https://x.test/d?access_token={mask('api-key', token)}"
        == mask_secrets(f"API_KEY=https://x.test/d?access_token={token}", seal)[0]
    )
    assert f"${{PW:-{mask('password', token)}}}" == mask_secrets(f"${{PW:-{token}}}", seal)[0]
    assert "${PW}" == mask_secrets("${PW}", seal)[0]


def test_two_secrets_that_overlap_leave_nothing():
    """A token that goes on in a password, and an announced value that begins with a known form: the whole is one mark."""
    key = "gh" + "p_" + "aB3dE9fG1hJ5kL7mN2pQ4rS6tU8vW0xY1zA3"

    assert f"token={mask('github-token', key + '.Zz9#kQ1!x')}" == mask_secrets(f"token={key}.Zz9#kQ1!x", seal)[0]


def test_of_many_secrets_each_is_masked():
    """A file of settings, with a line each: every value has a mark, the names and what is no secret stay."""
    chance = random.Random(3)
    names = [f"{name}_{i}" for i in range(30) for name in ("API_KEY", "DB_PASSWORD", "TOKEN")]
    values = [drawn(chance, ALNUM, chance.choice([16, 24, 40])) for _ in names]
    kept, kinds = mask_secrets("".join(f"{name}={value}\nDEBUG=1\n" for name, value in zip(names, values, strict=True)), seal)

    assert len(names) == len(kinds)
    assert names == re.findall(r"^(\w+)=\[secret [a-z-]+ [0-9a-f]{8}\]$", kept, re.MULTILINE)


@pytest.mark.parametrize("length", [60, 72, 73, 700, 4_000])
def test_a_long_value_is_masked_whole(length):
    """A session's token of some thousand characters, quoted or not."""
    value = drawn(random.Random(length), ALNUM + "+/", length)

    assert f"session_token={mask('api-key', value)} x" == mask_secrets(f"session_token={value} x", seal)[0]
    assert f'"sessionToken": "{mask("api-key", value)}"' == mask_secrets(f'"sessionToken": "{value}"', seal)[0]


def test_invisible_signs_hide_nothing():
    """A zero-width space or a soft hyphen within a token is masked with it; an emoji elsewhere stays whole."""
    key = "gh" + "p_" + "aB3dE9fG1hJ5kL7mN2pQ4rS6tU8vW0xY1zA3"
    hidden = "\u200b".join([key[:2], key[2:9], key[9:20], key[20:]]) + "\u00ad"

    assert f"👩‍💻 {mask('github-token', key)}\u00ad 👨‍👩‍👧 ok" == mask_secrets(f"👩‍💻 {hidden} 👨‍👩‍👧 ok", seal)[0]


def test_no_false_alarm_in_real_code():
    """Yiku's own code and the standard library's that deals with passwords, tokens and keys: nothing is masked."""
    library = Path(sysconfig.get_path("stdlib"))
    names = "ftplib getpass hmac imaplib keyword locale netrc poplib secrets smtplib ssl token tokenize uuid webbrowser".split()
    files = [library / f"{name}.py" for name in names] + [*library.glob("http/*.py"), *library.glob("urllib/*.py")]
    files += [path for path in Path(secrets.__file__).parents[2].rglob("*.py") if path.name != "credentials.py"]  # the examples
    texts = {path: path.read_text(encoding="utf-8") for path in files}

    assert sum(text.count("\n") for text in texts.values()) > 20_000
    assert {} == {name: kinds for name, text in texts.items() if (kinds := mask_secrets(text, seal)[1])}


# ------------------------------------------------------------------ what it costs

CHANCE = random.Random(4)
WORDS = "the server request was handled by worker token cache after deploy config password key author passed value".split()
CHARS = 200_000


def _repeated(line) -> str:
    found, size = [], 0
    while size < CHARS:
        found.append(line())
        size += len(found[-1])
    return "".join(found)[:CHARS]


def _words(n: int) -> str:
    return " ".join(CHANCE.choices(WORDS, k=n))


TEXTS = {
    "log": lambda: (
        f"2026-11-22T10:11:{CHANCE.randrange(60)}Z INFO [w-{CHANCE.randrange(9)}] {_words(8)} id={CHANCE.randrange(10**9)}\n"
    ),
    "JSON": lambda: f'{{"id": {CHANCE.randrange(10**9)}, "token": "{_words(1)}", "trace": "{CHANCE.getrandbits(128):032x}"}},\n',
    "base64": lambda: drawn(CHANCE, ALNUM + "+/", 76),
    "minified JS": lambda: f"function a(e,t){{var n=e.{_words(1)};return n===t?{{token:n.token,key:n.key}}:o.{_words(1)}(1,!0)}}",
    "hex": lambda: f"{CHANCE.getrandbits(1024):0256x}",
    "English": lambda: _words(12) + ". ",
    "Chinese": lambda: "".join(CHANCE.choices("我们在老城区的小巷里走了很久密码口令令牌天色渐渐暗下来", k=20)) + "，",
    "one letter": lambda: "a" * 99,
    "one sign": lambda: "-" * 99,
}


def _cpu(work) -> float:
    best = 9.0
    for _ in range(15):  # the best of fifteen, as the machine may be busy
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.long
def test_pasted_text_costs_little(kind):
    """To mask a text costs at most four times what it costs to list the words of as long an English one; it was twenty times."""
    text, english = _repeated(TEXTS[kind]), _repeated(TEXTS["English"])
    mask_secrets(text, seal)

    for _ in range(3):  # a ratio that was an accident of a busy machine does not come again
        masked, listed = _cpu(lambda: mask_secrets(text, seal)), _cpu(lambda: re.findall(r"\w+", english))
        if masked <= 4 * listed:
            break
    assert masked <= 4 * listed
