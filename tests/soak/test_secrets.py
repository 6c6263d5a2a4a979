"""S12: masking secrets and look-alikes generated from a fresh seed."""

import random

from announcements import KEYS, PASSWORDS
from credentials import ALNUM, KINDS, drawn, like, look_alikes, password, secrets
from rules.test_secrets import seal

from yiku.rules.privacy import forms
from yiku.rules.privacy.secrets import mask_secrets


def test_S12_secrets_of_a_new_seed_are_masked_and_look_alikes_are_not(seed, count, figure):
    """At least 98 of 100 leave nothing behind, and of the look-alikes at most one in a hundred is touched."""
    drawn = secrets(seed, each=count(50, 2_500, "secrets of each kind"))
    left = [one.kind for one in drawn if one.value in mask_secrets(one.text, seal)[0]]
    texts = look_alikes(seed, count(2_000, 100_000, "look-alikes"))
    wrong = [text for text in texts if mask_secrets(text, seal)[1]]
    print({kind: left.count(kind) for kind in KINDS if kind in left}, wrong[:10])

    figure("secrets masked", 100 - 100 * len(left) / len(drawn), "%", least=98)
    figure("look-alikes masked", 100 * len(wrong) / len(texts), "%", most=1)


def test_S12_every_form_and_every_way_to_say_one(seed, count, figure):
    """Credentials drawn from each issuer's form, alone, and random values in each way to say a key or a password."""
    chance = random.Random(seed)
    each = count(20, 1_000, "of each form and of each way")
    lines = [
        (line.kind, prefix + like(line.body, chance)) for line in forms.issuers() for prefix in line.prefixes for _ in range(each)
    ]
    left = [kind for kind, value in lines if value in mask_secrets(f"see {value} now", seal)[0]]
    said = [(way, drawn(chance, ALNUM, chance.choice([24, 32, 40]))) for way in KEYS for _ in range(each)]
    said += [(way, password(chance)) for way in PASSWORDS for _ in range(each)]
    unsaid = [way for way, value in said if value in mask_secrets(way.replace("{}", value), seal)[0]]
    print({kind: left.count(kind) for kind in left}, {way: unsaid.count(way) for way in unsaid})

    figure("forms masked", 100 - 100 * len(left) / len(lines), "%", least=98)
    figure("ways masked", 100 - 100 * len(unsaid) / len(said), "%", least=98)
