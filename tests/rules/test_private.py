"""What stands between <private> and </private> is not kept, however it was typed."""

import gc
import time

import pytest

from yiku.rules.privacy.private import is_nothing, without


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The plan is <private>to leave</private>, 别告诉他", "The plan is [private], 别告诉他"),
        ("密码<私密>芝麻开门</私密>好", "密码[私密]好"),
        ("<PRIVATE>a<Private>b</pRivate>c</private> d", "[private] d"),
        ("a < private >b</ private >c", "a [private]c"),
        ("a ＜私密＞b＜／私密＞ c", "a [私密] c"),
        ("a &lt;private&gt;b&lt;/private&gt; c", "a [private] c"),
        ("a <private>b</私密>c", "a [private]"),
        ('a <private reason="a plan, b > c">b</private> c', "a [private] c"),
        ("a <私密 原因='x'>b</私密 >c", "a [私密]c"),
        ("a <private/>b", "a [private]"),
        ("a <private />b</private> c", "a [private] c"),
        ("a <私密／>b", "a [私密]"),
        ("a &#60;private&#62;b&#60;/private&#62; c", "a [private] c"),
        ("a &#x3C;Private&#x3e;b&#X3C;&#47;private&#x3E; c", "a [private] c"),
        ("a &amp;lt;private&amp;gt;b&amp;lt;/private&amp;gt; c", "a [private] c"),
        ("a &LT;private&GT;b&LT/private&GT c", "a [private] c"),
        ("a \\u003cprivate\\u003eb\\u003c/private\\u003e c", "a [private] c"),
        ("a ＜ＰＲＩＶＡＴＥ　reason＝“x”＞b＜／ＰＲＩＶＡＴＥ＞ c", "a [private] c"),
        ("a <pri\u200bvate>b<\u2060/private> c", "a [private] c"),
        ("a <private\u200bx>b</private\u00ad> c", "a [private] c"),
        ("a <\nprivate\n>b</\nprivate> c", "a [private] c"),
        ("a <privateer>b, <PrivateRoute/> <private_key>", "a <privateer>b, <PrivateRoute/> <private_key>"),
        ("a <私密>b<private>c</私密>d", "a [私密]d"),
        ("a <private>b <private>c</private> d", "a [private]"),
        ("```html\n<private>x</private>\n```", "```html\n[private]\n```"),
        ("a <private>1</private><private>2</private> b", "a [private][private] b"),
        ("a </private> b", "a </private> b"),
        ("a private <b>matter</b>, 私密的事", "a private <b>matter</b>, 私密的事"),
    ],
)
def test_a_private_part_leaves_a_mark(text, kept):
    """Nested, in any case, with spaces, full-width or escaped, in code; without its end, it goes on to the end of the text."""
    assert kept == without(text)


@pytest.mark.parametrize(
    "text",
    [
        "<private>x</private>",
        " <private>x",
        "<私密>一</私密>\n<私密>二</私密>",
        "<private></private>",
        "x <private/>",
        "保险柜在床下 <私密 />\n",
    ],
)
def test_of_a_wholly_private_text_nothing_is_left(text):
    """Only the mark; a tag that closes itself at the very end is about what stands before it."""
    assert is_nothing(without(text))


@pytest.mark.parametrize(
    "unit",
    [
        "<private>",
        "</private>",
        "<private",
        "<",
        "<   ",
        "<private>x</private>",
        "<private x=",
        "<private \u200b/",
        "&amp;",
        "<p\u200b",
    ],
)
def test_a_hostile_text_takes_time_by_its_length(unit):
    """Tags, or what begins like one, take at most twelve times what a tenth of them takes."""
    gc.collect()
    gc.disable()  # what other tests left would be counted in
    for _ in range(3):  # a ratio that was an accident of a busy machine does not come again
        small, large = (min(cpu_seconds(unit * (size // len(unit))) for _ in range(3)) for size in (6_000, 60_000))
        if large <= max(12 * small, 0.02):
            break
    gc.enable()

    assert large <= max(12 * small, 0.02)


def cpu_seconds(text):
    started = time.process_time()
    without(text)
    return time.process_time() - started
