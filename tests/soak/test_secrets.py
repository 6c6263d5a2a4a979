"""S12: secrets and look-alikes from a seed that nobody has seen."""

from credentials import KINDS, look_alikes, secrets
from rules.test_secrets import seal

from yiku.rules.secrets import masked


def test_S12_secrets_of_a_new_seed_are_masked_and_look_alikes_are_not(seed, count, figure):
    """At least 98 of 100 leave nothing behind, and of the look-alikes at most one in a hundred is touched."""
    drawn = secrets(seed, each=count(50, 2_500, "secrets of each kind"))
    left = [one.kind for one in drawn if one.value in masked(one.text, seal)[0]]
    texts = look_alikes(seed, count(2_000, 100_000, "look-alikes"))
    wrong = [text for text in texts if masked(text, seal)[1]]
    print({kind: left.count(kind) for kind in KINDS if kind in left}, wrong[:10])

    figure("secrets masked", 100 - 100 * len(left) / len(drawn), "%", least=98)
    figure("look-alikes masked", 100 * len(wrong) / len(texts), "%", most=1)
