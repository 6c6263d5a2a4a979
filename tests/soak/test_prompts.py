"""S5, S23: prompts and printed output with hostile texts are parsed back unchanged."""

import random

from interfaces import test_cli_printing
from prompts import TROUBLE, misread


def test_S5_S23_texts_forge_no_line_no_id_and_no_mark(seed, count, figure):
    """Thousands of prompts of turns, of statements and of rules, made of closing marks, ids, roles and characters that nobody sees."""
    chance, wrong = random.Random(seed), []
    for _ in range(count(4_000, 250_000, "prompts")):
        said = [
            ("".join(chance.choices(TROUBLE, k=chance.randint(1, 9))), "".join(chance.choices(TROUBLE, k=chance.randint(1, 4))))
            for _ in range(4)
        ]
        if found := misread(said, memory=chance.random() < 0.5, rules=chance.random() < 0.3):
            wrong.append(found)
    print(*wrong[:5], sep="\n")

    figure("prompts misread", len(wrong), most=0)


def test_S5_no_verb_prints_what_nobody_sees(tmp_path, figure):
    """Every verb that prints texts, for a person and as JSON, on a home in which each text is of the worst sort."""
    home = test_cli_printing.hostile(tmp_path / "home")
    wrong = test_cli_printing.printing(home, test_cli_printing.VERBS)
    print(*wrong, sep="\n")

    figure("verbs tried", len(test_cli_printing.VERBS))
    figure("verbs that print what nobody sees", len(wrong), most=0)
