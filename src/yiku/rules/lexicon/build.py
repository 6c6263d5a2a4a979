"""
Build a Lexicon from the languages' TOML tables: word classes, phrases, predicates, sentence templates, word lists.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from yiku.rules.lexicon import FORMS, Entry, Gap, Lexicon, Literal, Phrase, Predicate, Template
from yiku.rules.lexicon.flags import mask
from yiku.rules.text.analyze import UNSPACED_RUN
from yiku.rules.text.folding import folded

_FILES_OF_WORDS = ("persons", "moods", "changes", "functions", "times", "numbers", "units", "values", "synonyms", "attributes")
_FILES_OF_NOUNS = ("units", "values", "synonyms", "attributes")
FILES_OF_LISTS = ("slots", "asking", "records", "secrets", "clock", "forms", "erasing", "identity", "night")
_TABLES_OF_VALUES = (  # which are looked up by themselves, too
    ("numbers", "number"),
    ("units", "unit"),
    ("times", "month"),
    ("times", "weekday"),
    ("synonyms", "same"),
    ("synonyms", "value"),
    ("synonyms", "city"),
)
LEFT_OUT = (*FILES_OF_LISTS, "characters", "compounds", "labels", "search")  # by a language that is only read
_NOT_CLASSES = ("contraction", "plural", "mark", "ending")  # tables of words that are of no class
_PART = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]|\{([a-z:]*)\}|([^\s()\[\]{}]+)")
WORD = re.compile(r"[^\W_]+(?:['.\-/][^\W_]+)*|'\w+")


def lexicon(languages: Sequence[Mapping[str, Any]]) -> Lexicon:
    """
    Build one lexicon of several languages, each a mapping from file names to tables.

    Raises ValueError where a template has a gap of a sort that does not exist: it would never match.
    """
    words = _word_classes(languages)
    contractions = {short: tuple(long.split()) for short, long in _entries(languages, "contraction")}
    marks: dict[str, int] = defaultdict(int)
    for entry, several in _entries(languages, "mark"):
        for word in several:
            marks[folded(word)] |= mask([f"mark.{entry}"])
    endings: dict[str, dict[str, None]] = {name: {} for name in ("clitic", "laugh", "hour", "ordinal")}
    for entry, several in _entries(languages, "ending"):
        endings[entry] |= dict.fromkeys(several)
    firsts = {word for entry, several in _entries(languages, "names") if entry == "first" for word in several}
    abbreviations = {word for _, several in _entries(languages, "abbreviation") for word in several}
    attributes = {
        entry: table for tables in languages for table, entries in tables.get("attributes", {}).items() for entry in entries
    }
    lists: dict[str, dict[str, None]] = defaultdict(dict)
    labels: dict[str, dict[str, str]] = defaultdict(dict)
    for tables in languages:
        for name, several in _lists(tables):
            lists[name] |= dict.fromkeys(map(folded, several))
        for name, fields in tables.get("labels", {}).items():
            if name != "language":
                code = tables["labels"]["language"]["code"]
                labels[code] |= {f"{name}.{key}": text for key, text in fields.items()}
    compounds = [word for tables in languages for word in tables.get("compounds", {}).get("words", ())]
    predicates = _predicates(languages)
    sorts = FORMS | {sort for sort, _ in _entries(languages, "sort")}
    templates = [
        _template(name, folded(says), fields["takes"], sorts)
        for tables in languages
        for name, fields in tables.get("predicates", {}).items()
        for says in fields["says"]
    ]
    for template in templates:
        for part in template.parts:
            if isinstance(part, Literal):
                for literal in part.words:
                    if UNSPACED_RUN.match(literal[0]):
                        words["".join(literal)].setdefault("verb.template", None)
    every = {word: _entry(classes) for word, classes in words.items()}
    return Lexicon(
        every,
        _phrases(every, contractions),
        _runs([*every, *compounds]),
        contractions,
        frozenset(abbreviations),
        frozenset(firsts),
        dict(marks),
        {name: tuple(each) for name, each in endings.items()},
        tuple(dict.fromkeys(_entries(languages, "plural"))),
        attributes,
        predicates,
        _anchored(templates),
        frozenset(compounds),
        {name: tuple(each) for name, each in lists.items()},
        dict(labels),
    )


def _entries(languages: Sequence[Mapping[str, Any]], table: str) -> Iterator[tuple[str, Any]]:
    """Yield the entries of one table, from all files of words of all languages."""
    for tables in languages:
        for name in _FILES_OF_WORDS:
            yield from tables.get(name, {}).get(table, {}).items()


def _word_classes(languages: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, None]]:
    """Return the classes of each word, in order: `table.entry` for each entry that lists it."""
    words: dict[str, dict[str, None]] = defaultdict(dict)
    for tables in languages:
        capitals = tables.get("values", {}).get("names", {}).get("nouns", False)  # whether all nouns have them
        for name in _FILES_OF_WORDS:
            for table, entries in tables.get(name, {}).items():
                if table in _NOT_CLASSES:
                    continue
                for entry, several in entries.items():
                    if table == "names" and entry in ("first", "nouns"):
                        continue
                    for word in several:
                        if capitals and name in _FILES_OF_NOUNS and not entry.startswith("place_"):
                            words[folded(word)]["names.common"] = None
                        words[folded(word)][f"{'has' if name == 'attributes' else table}.{entry}"] = None
                        if name == "attributes" and table == "person":
                            words[folded(word)][f"holder.{entry}"] = None
    return words


def _predicates(languages: Sequence[Mapping[str, Any]]) -> dict[str, Predicate]:
    """Return the predicates, each with the questions and names of all languages."""
    predicates: dict[str, Predicate] = {}
    for tables in languages:
        for name, fields in tables.get("predicates", {}).items():
            known = predicates.get(name)
            asks = tuple(tuple(folded(word) for word in line) for line in fields["asks"])
            predicates[name] = Predicate(
                name,
                fields["takes"],
                fields["one"],
                fields.get("kind", "fact"),
                fields.get("of", "person"),
                (*(known.asks if known else ()), *asks),
                (*(known.names if known else ()), *map(folded, fields.get("names", ()))),
                fields.get("opposite", "") or (known.opposite if known else ""),
            )
    return predicates


def _lists(tables: Mapping[str, Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the word lists of a language by name: `asking.who`, and from tables of lists `forms.thing.peanut`."""
    for name in FILES_OF_LISTS:
        for key, fields in tables.get(name, {}).items():
            if isinstance(fields, dict):
                yield from ((f"{name}.{key}.{each}", words) for each, words in fields.items())
            else:
                yield f"{name}.{key}", fields
    for name, table in _TABLES_OF_VALUES:
        yield from ((f"{name}.{table}.{key}", fields) for key, fields in tables.get(name, {}).get(table, {}).items())


def plain(languages: Sequence[Mapping[str, Any]]) -> dict[str, str | frozenset[str]]:
    """Return what folding and search need, under the names in rules/text/compiled.py."""

    def joined(name: str, table: str, form: str) -> str:
        return "".join(line for tables in languages for line in tables.get(name, {}).get(table, {}).get(form, ()))

    search = [tables["search"] for tables in languages if "search" in tables]

    return {
        "HASHED": joined("characters", "hashed", "traditional"),
        "HASHED_SIMPLIFIED": joined("characters", "hashed", "simplified"),
        "FURTHER": joined("characters", "further", "traditional"),
        "FURTHER_SIMPLIFIED": joined("characters", "further", "simplified"),
        "STOP_WORDS": frozenset(word for each in search for word in each["stop_words"]),
        "FUNCTION_CHARACTERS": frozenset(character for each in search for character in each["function_characters"]),
    }


_CONCEPTS = ("same.", "value.", "city.", "has.", "kin.", "month.", "weekday.")


def _entry(classes: Mapping[str, object]) -> Entry:
    means = tuple(dict.fromkeys(each.partition(".")[2] for each in classes if each.startswith(_CONCEPTS)))
    kin = next((each[4:] for each in classes if each.startswith("kin.")), "")
    has = next((each[4:] for each in classes if each.startswith("has.")), "")
    sorts = tuple(each[5:] for each in classes if each.startswith("sort."))
    return Entry(mask(classes), means, kin, has, sorts)


def _template(predicate: str, says: str, takes: str, sorts: Collection[str]) -> Template:
    """Parse a template into its parts. Raises ValueError for a gap of another sort than these."""
    parts: list[Literal | Gap] = []
    for match in _PART.finditer(says.removesuffix("$")):
        if match[3] is not None:
            name, _, given = match[3].partition(":")
            sort = given or (takes if name else "thing")
            if sort not in sorts:
                raise ValueError(f"{predicate}: {says}: {sort} is no sort and no list of values; known are {sorted(sorts)}")
            parts.append(Gap(sort, bool(name)))
            continue
        optional = match[2] is not None
        choices = (match[2] if optional else match[1] if match[1] is not None else match[4]).split("|")
        parts.append(Literal(tuple(sorted((split(choice) for choice in choices), key=len, reverse=True)), optional))
    anchor = next(place for place, part in enumerate(parts) if isinstance(part, Literal) and not part.optional)
    return Template(predicate, tuple(parts), anchor, says.endswith("$"))


def split(phrase: str) -> tuple[str, ...]:
    """Split a phrase into words as the tokenizer does; without spaces it is one word."""
    return (phrase,) if UNSPACED_RUN.match(phrase) else tuple(WORD.findall(phrase))


def _anchored(templates: Sequence[Template]) -> dict[str, tuple[Template, ...]]:
    found: dict[str, list[Template]] = defaultdict(list)
    for template in templates:
        part = template.parts[template.anchor]
        assert isinstance(part, Literal)
        for first in dict.fromkeys(words[0] for words in part.words):
            found[first].append(template)
    return {word: tuple(each) for word, each in found.items()}


def _phrases(words: Mapping[str, Entry], contractions: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[Phrase, ...]]:
    found: dict[str, list[Phrase]] = defaultdict(list)
    for phrase, entry in words.items():
        said = split(phrase)
        if len(said) > 1:
            parts = tuple(part for word in said for part in contractions.get(word, (word,)))
            found[parts[0]].append(Phrase(parts, entry))
    return {first: tuple(sorted(each, key=lambda one: -len(one.words))) for first, each in found.items()}


def _runs(words: Iterable[str]) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = defaultdict(set)
    for word in words:
        if UNSPACED_RUN.match(word):
            found[word[0]].add(len(word))
    return {first: tuple(sorted(lengths, reverse=True)) for first, lengths in found.items()}
