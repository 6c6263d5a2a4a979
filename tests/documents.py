"""Generate random Markdown documents in English, Chinese and both."""

import random

ENGLISH = "the garden needs water before noon and Ann asked who keeps the key to the shed beside version 3.2 of the plan".split()
CHINESE = "今天下午小雨去了奥斯陆的花园看望朋友并且带了一把旧钥匙关于计划的第三版还没有写完"


def sentence(chance: random.Random, language: str) -> str:
    """A sentence of either language; of mixed ones both."""
    if language == "mixed":
        return (
            f"{sentence(chance, 'en')}，{sentence(chance, 'zh')}"
            if chance.random() < 0.3
            else sentence(chance, chance.choice(["en", "zh"]))
        )
    if language == "zh":
        return "".join(chance.choices(CHINESE, k=chance.randint(5, 30))) + chance.choice(["。", "！", "？", "…"])
    return " ".join(chance.choices(ENGLISH, k=chance.randint(3, 18))).capitalize() + chance.choice([". ", "? ", "! "])


def paragraph(chance: random.Random, language: str) -> str:
    """A paragraph on one line or several; now and then one that is longer than a chunk."""
    count = chance.choice([1, 2, 4, 8, 8, 60])
    return chance.choice(["", "\n"]).join(sentence(chance, language) for _ in range(count)).strip()


def block(chance: random.Random, language: str) -> str:
    """A heading, a list, a table, a fence, a quotation, or a paragraph."""
    said = [sentence(chance, language).strip() for _ in range(chance.randint(1, 12))]
    match chance.randrange(9):
        case 0 | 1:
            return f"{'#' * chance.randint(1, 6)} {said[0]}"
        case 2:
            return "\n".join(f"{chance.choice(['-', '*', f'{k}.'])} {one}" for k, one in enumerate(said, 1))
        case 3:
            return "| a | b |\n|---|---|\n" + "\n".join(f"| {k} | {one} |" for k, one in enumerate(said))
        case 4:
            mark = chance.choice(["```", "~~~", "````"])
            return (
                f"{mark}python\n# no heading {said[0]}\n\n" + "\n".join(f"x{k} = {k}" for k in range(len(said) * 9)) + f"\n{mark}"
            )
        case 5:
            return "\n".join(f"> {one}" for one in said)
        case 6:
            return f"{said[0]}\n{chance.choice(['===', '---'])}"
    return paragraph(chance, language)


def document(seed: int) -> tuple[str, str]:
    """A document and its language."""
    chance = random.Random(seed)
    language = ("en", "zh", "mixed")[seed % 3]
    parts = [block(chance, language) for _ in range(chance.choice([1, 5, 30, 80]))]
    matter = "---\ntitle: 笔记 notes\ntags: [a, b]\n---\n" if chance.random() < 0.3 else ""
    text = matter + "".join(part + "\n" * chance.choice([1, 2, 2, 3]) for part in parts)
    return (text.replace("\n", "\r\n") if chance.random() < 0.1 else text), language
