"""Masking machine credentials in any text; prose and random-looking values stay."""

import gc
import hashlib
import re
import time

import pytest
from credentials import KINDS, look_alikes, secrets

from yiku.rules.privacy.secrets import SUSPECT, mask_secrets

SEEDS = [1, 20_260_301]  # the second was never looked at while the forms were written
AWS = "AK" + "IA" + "J7QW2ERTY5UIOP4Z"
GITHUB = "gh" + "p_" + "aB3dE9fG1hJ5kL7mN2pQ4rS6tU8vW0xY1zA3"
MODEL = "sk" + "-" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9"


def seal(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16, key=b"a home's key").digest()


def mask(kind: str, value: str) -> str:
    return f"[secret {kind} {seal(value)[:4].hex()}]"


@pytest.mark.parametrize("seed", SEEDS)
def test_98_of_100_secrets_are_masked_whole(seed):
    """Of forty kinds, ten each: no eight characters of a secret are left; and each kind is known nine times of ten."""
    drawn = secrets(seed)
    left = [
        secret.kind
        for secret in drawn
        for text in [mask_secrets(secret.text, seal)[0]]
        if any(secret.value[i : i + 8] in text for i in range(len(secret.value) - 7))
    ]

    assert len(KINDS) >= 30 and len(drawn) >= 300
    assert len(left) <= 0.02 * len(drawn), left
    assert all(left.count(kind) <= 1 for kind in KINDS), left


@pytest.mark.parametrize("seed", SEEDS)
def test_one_look_alike_in_a_hundred_is_masked_at_most(seed):
    """Hashes, ids, images, versions, paths, placeholders, and what a person says in his own words."""
    texts = look_alikes(seed)
    wrong = [text for text in texts if mask_secrets(text, seal)[1]]

    assert len(wrong) <= 0.01 * len(texts), wrong[:10]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"密钥是{MODEL}，请保密", f"密钥是{mask('model-api-key', MODEL)}，请保密"),
        (f'{{"token": "{GITHUB}"}}', f'{{"token": "{mask("github-token", GITHUB)}"}}'),
        (f"`{AWS}` 和 {GITHUB}", f"`{mask('aws-access-key', AWS)}` 和 {mask('github-token', GITHUB)}"),
        ("password：Xk9mP2vLq8wZ。好", f"password：{mask('password', 'Xk9mP2vLq8wZ')}。好"),
        ("postgres://app:sunshine@db/x", f"postgres://app:{mask('url-password', 'sunshine')}@db/x"),
        (GITHUB.translate({i: i + 0xFEE0 for i in range(0x21, 0x7F)}), mask("github-token", GITHUB)),
    ],
    ids=["Chinese around it", "JSON", "two in Markdown", "full-width colon", "connection string", "full-width letters"],
)
def test_only_the_secret_itself_is_replaced(text, kept):
    """Every character around it stays, and the mark names its kind."""
    assert kept == mask_secrets(text, seal)[0]


@pytest.mark.parametrize(
    "text",
    [
        f"aws_access_key_id = {AWS[:13]}EXAMPLE",
        f"token = {GITHUB[:4]}{'x' * 36}",
        f"OPENAI_API_KEY={MODEL[:3]}your-own-key-goes-here-1a2b3c4d5e6f7a8b9c0d1e2f",
        "password：<a1B2c3D4e5F6>，口令：${DB_PASS_1a2b}",
        "密钥=示例 example_A1b2C3d4E5f6",
        "postgres://user:password@localhost/db",
    ],
)
def test_what_stands_for_a_secret_stays(text):
    """Placeholders and the examples of documentation are none."""
    assert (text, ()) == mask_secrets(text, seal)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\\n"], ids=["lines", "Windows lines", "in JSON"])
def test_a_private_key_is_one_secret(ending):
    """From its first line to its last, what stands around it stays; without its last line, to the end of its body."""
    name = "OPENSSH PRIVATE" + " KEY"
    lines = [f"-----BEGIN {name}-----", *["b3BlbnNzaC1rZXktdjEA" * 3] * 5, f"-----END {name}-----"]
    key = ending.join(lines)

    assert f"看 {mask('private-key', key)}\n好" == mask_secrets(f"看 {key}\n好", seal)[0]
    assert "b3Blb" not in mask_secrets(ending.join(lines[:-1]), seal)[0]
    assert () == mask_secrets(f"a file that begins with {lines[0]} is a key", seal)[1]


def test_a_fingerprint_is_that_of_the_secret_alone():
    """The same secret has one mark wherever it stands; another secret, or another home's key, gives another."""
    marks = {re.search(r"\[secret .*?\]", mask_secrets(text, seal)[0])[0] for text in (f"a {GITHUB}", f"密钥：{GITHUB}！")}
    elsewhere = mask_secrets(GITHUB, lambda text: hashlib.blake2b(text.encode(), key=b"another").digest())[0]

    assert {mask("github-token", GITHUB)} == marks
    assert elsewhere not in marks and mask_secrets(GITHUB[:-1] + "9", seal)[0] not in marks


def test_what_is_masked_stays_as_it_is():
    """Masking twice is masking once, for every kind."""
    once = [mask_secrets(secret.text, seal)[0] for secret in secrets(3, each=3)]

    assert once == [mask_secrets(text, seal)[0] for text in once]


@pytest.mark.parametrize(
    "unit",
    [
        "sk-",
        "eyJ",
        "://a:",
        "password=",
        "eyJaaaaaaaaaa.",
        "login x password ",
        "page_token=",
        "-----BEGIN " + "PRIVATE KEY-----",
        "密码：A1",
        "密码：",
        "token=",
        "password ",
        "key: ",
        "${PASS:-",
        "a1-us1",
        "Q~",
        "M.",
        " -p x",
        "<key>",
        "pass(for a b c d",
        "\u200b",
    ],
)
def test_a_hostile_text_takes_time_by_its_length(unit):
    """What begins like secrets and is none takes at most twelve times what a tenth of it takes."""
    took = []
    gc.collect()
    gc.disable()  # what other tests left would be counted in
    for size in (4_000, 40_000):
        text, runs = unit * (size // len(unit)), []
        for _ in range(3):  # the best of three, as the machine may be busy
            started = time.process_time()
            mask_secrets(text, seal)
            runs.append(time.process_time() - started)
        took.append(min(runs))
    gc.enable()

    assert (
        took[1] <= 12 * took[0] + 0.02
    )  # s: the larger text fits the cache less well; what is quadratic takes a hundred times as long
    assert took[1] < 0.04 * 3  # a second for a megabyte on an idle core


@pytest.mark.parametrize("run", ["x", "xY", "x'", "x-", "密x", "1"])
def test_whether_a_short_text_may_hold_a_secret_is_seen_in_linear_time(run: str) -> None:
    """A long run of characters is looked at once, not from each of them on."""

    def taken(text: str) -> float:
        began = time.thread_time()
        for pattern in SUSPECT:
            pattern.search(text)
        return time.thread_time() - began

    short, long = (min(taken(run * (size // len(run))) for _ in range(5)) for size in (4_000, 32_000))

    assert long < 30 * max(short, 0.0001)  # eight times as long; 64 times as much where each place reads the rest
