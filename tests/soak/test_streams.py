"""R24 for streams: every command with a full and with a closed stdout."""

from interfaces.test_cli_streams import lines, made, place, verbs_without_a_reader  # noqa: F401 - two of them are fixtures


def test_R24_every_verb_says_that_its_answer_was_lost(made, place, tmp_path, figure):  # noqa: F811 - the fixtures
    """One message and no traceback; a change that was made has an exit code of its own."""
    calls = lines(made, place)
    verbs_without_a_reader(calls, place, tmp_path)
    figure("verbs without a reader", len(calls))
