"""A model of the caller's own: whatever it raises or returns, what comes of it is a model's error or a reply that fits."""

import pytest
from embedders import Hashed

from yiku import Memory
from yiku.errors import ModelError, ModelFailed, ModelUnavailable, YikuError
from yiku.models.api import Reply
from yiku.models.given import GivenChat

SCHEMA = {
    "type": "object",
    "required": ["same"],
    "properties": {"same": {"type": "array", "items": {"type": "integer", "minimum": 1}}},
}
MESSAGES = [{"role": "user", "content": "Which say the same? 哪些相同？"}]
TALK = "Next Sunday it is my sister Lan who brings the cake, 她最会做蛋糕了, and the neighbours from Graz come, too."


class SdkTimeout(Exception):
    """As clients of vendors have them: of no class that anybody else knows."""


class Own:
    """A model that does what a test says."""

    name = "mine"

    def __init__(self, answer):
        self.answer = answer

    def ask(self, messages, schema):
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def reply(value, text="…"):
    return Reply(value, text, 1, 1, 0.0)


def test_a_reply_that_fits_is_handed_on():
    """Without what the schema does not name; its cost and its text are as the model said."""
    model = GivenChat(Own(reply({"same": [1, 2], "note": "x"}, "said")))

    assert Reply({"same": [1, 2]}, "said", 1, 1, 0.0) == model.ask(MESSAGES, SCHEMA)
    assert "mine" == model.name
    own = type("Answer", (), {"value": {"same": [3]}})()  # a class of the caller's own
    assert Reply({"same": [3]}, "", None, None, 0.0) == GivenChat(Own(own)).ask(MESSAGES, SCHEMA)
    assert "Nameless" == GivenChat(type("Nameless", (), {"ask": None})()).name


@pytest.mark.parametrize(
    ("raised", "wanted"),
    [
        (SdkTimeout("read timed out"), ModelFailed),
        (RuntimeError("boom"), ModelFailed),
        (KeyError("choices"), ModelFailed),
        (YikuError("something else"), ModelFailed),
        (TimeoutError("read timed out"), ModelUnavailable),
        (ConnectionRefusedError(111, "Connection refused"), ModelUnavailable),
    ],
)
def test_any_error_is_a_model_s_error(raised, wanted):
    """It says what was raised; a network that is not there is worth another try later."""
    with pytest.raises(wanted, match=type(raised).__name__) as caught:
        GivenChat(Own(raised)).ask(MESSAGES, SCHEMA)

    assert raised is caught.value.__cause__


@pytest.mark.parametrize("raised", [ModelFailed("no", said="{"), ModelUnavailable("away"), KeyboardInterrupt()])
def test_a_model_s_error_and_an_interrupt_pass(raised):
    """As they were raised."""
    with pytest.raises(type(raised)) as caught:
        GivenChat(Own(raised)).ask(MESSAGES, SCHEMA)

    assert raised is caught.value


@pytest.mark.parametrize("answer", [None, "[1]", {"same": [1]}, (1, 2)])
def test_what_is_no_reply_is_refused(answer):
    """It says what to return."""
    with pytest.raises(ModelFailed, match="Reply"):
        GivenChat(Own(answer)).ask(MESSAGES, SCHEMA)


@pytest.mark.parametrize("value", [None, "xx", [1], {}, {"same": "x"}, {"same": ["x"]}, {"same": [0]}, {"相同": [1]}])
def test_a_reply_that_does_not_fit_can_be_mended(value):
    """The error has what is wrong with it, and what the model said."""
    with pytest.raises(ModelFailed) as caught:
        GivenChat(Own(reply(value, "said"))).ask(MESSAGES, SCHEMA)

    assert "said" == caught.value.said
    assert "same" in caught.value.detail or "the reply" in caught.value.detail
    assert (1, 1) == (caught.value.prompt_tokens, caught.value.completion_tokens)


ANSWERS = [
    SdkTimeout("read timed out"),
    TimeoutError("read timed out"),
    None,
    reply("xx"),
    reply({"same": [[1, 99]], "verdict": "maybe", "sentences": "x", "lines": 5, "memories": None}),
    reply([{"content": 5}]),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_a_night_runs_to_its_end_without_a_model_that_fails(home, clock, answer):
    """Each step has its fall-back: what is over goes, the pages are written, and the report says what the model did not do."""
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock, chat=Own(answer), learn="off", search="words") as memory:
        for server in range(4):
            memory.remember(f"Falcon fact {server} holds on server {server}.", entities=["falcon"])
        gone = memory.remember("自行车在地下室。", expires_at="2026-03-01T12:00+01:00", priority="transient").memory
        clock.advance(days=1)
        report = memory.admin.consolidate()

        assert report.finished
        assert not memory.get(gone.id).live
        assert "Falcon" in (home / "MEMORY.md").read_text()
        assert any("model" in note for note in report.notes)
        assert memory.admin.spent()


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_what_was_said_waits_for_a_model_that_fails(home, clock, answer):
    """`learn` and the end of a session say what is wrong; the rules tell the episode; the job is done when the model is well."""
    model = Own(answer)
    with Memory(home, owner="user:mei", names=["Mei"], clock=clock, chat=model, search="words") as memory:
        memory.record_turn("user", TALK, session="s")
        report = memory.learn(everything=True)
        assert (1, 1) == (report.waiting, len(report.troubles))
        assert memory.sessions.end("s").episode is not None
        clock.advance(days=1)
        model.answer = reply([{"type": "fact", "content": "The user's sister is called Lan.", "evidence": "my sister Lan"}])
        memory.learn(everything=True)

        assert ["The user's sister is called Lan."] == [row.content for row in memory.get_all() if row.method == "mine"]


class Raising(Hashed):
    """An embedding model whose client raises errors of its own."""

    raises: Exception | None = None

    def embed(self, texts, role):
        if self.raises is not None:
            raise self.raises
        return super().embed(texts, role)


@pytest.mark.parametrize("raised", [SdkTimeout("read timed out"), TimeoutError("read timed out"), KeyError("data")])
@pytest.mark.parametrize(("text", "question"), [("The kettle is red.", "kettle"), ("水壶是红色的。", "水壶")])
def test_words_answer_where_an_embedding_model_fails(home, raised, text, question):
    """Whatever it raises: what is said is stored and found, the answer says what is missing, and what waits is embedded when it is well."""
    model = Raising()
    with Memory(home, owner="user:mei", embedder=model, background=False) as memory:
        memory.remember(text)
        memory.admin.embed()
        model.raises = raised
        memory.record_turn("user", f"{text} {question}!")
        hits = memory.recall(question)

        assert text in [hit.item.content for hit in hits]
        assert any(type(raised).__name__ in line for line in hits.diagnostics)
        with pytest.raises(ModelError, match=type(raised).__name__):
            memory.admin.embed()
        model.raises = None
        assert 0 == memory.admin.embed().waiting
