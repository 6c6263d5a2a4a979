"""
Format a quality run as tables, as a line for later comparison, and as a chart.

All figures are per cent. Session figures are over the questions with gold sessions, turn figures over those with
gold turns; `all together` takes every question of every set once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from datasets import Case
from metrics import MEASURES, auroc, bootstrap, caught, mean
from packed import BUDGETS
from rich import box
from rich.console import Console
from rich.table import Table

ALL = "all together"
LEVELS = ("session", "turn")
SHOWN = ("any@1", "any@5", "all@5", "R@10", "MRR")  # of ten in the JSON
ABLATED = {"turn": ("any@1", "all@5", "R@10"), "session": ("any@1", "any@5")}
COMPARED = ("any@1", "any@5", "all@5")
INSIDE = (1_500, 4_000)  # tokens, of the table
A_CHANGE = 1.0  # points from which a figure is said to have risen or fallen


def about(cases: Sequence[Case], files: Sequence[str]) -> dict[str, Any]:
    """What was measured on: the names of the files, and of each set how much there is."""
    sets = {}
    for name in dict.fromkeys(case.dataset for case in cases):
        some = [case for case in cases if case.dataset == name]
        sets[name] = {
            "memories": len(some),
            "turns": sum(len(session.turns) for case in some for session in case.sessions),
            "questions": sum(len(case.questions) for case in some),
            "left_out": sum(case.left_out for case in some),
        }
    return {"files": [Path(file).name for file in files], "sets": sets}


# ------------------------------------------------------------------ figures


def report(rows: Sequence[Any], ours: str, seed: int) -> dict[str, Any]:
    """Every figure of a run, each set by itself and all together."""
    nothing = [row for row in rows if not hasattr(row, "answers")]
    rows = [row for row in rows if hasattr(row, "answers")]
    groups = {name: [row for row in rows if row.dataset == name] for name in dict.fromkeys(row.dataset for row in rows)}
    if len(groups) > 1:
        groups[ALL] = list(rows)
    sets = {}
    for name, some in groups.items():
        by_type = groupby(sorted(some, key=lambda row: row.type), key=lambda row: row.type)
        sets[name] = {
            "questions": len(some),
            "systems": {system: figures(some, system) for system in some[0].answers},
            "types": {} if name == ALL else {kind: figures(list(few), ours) for kind, few in by_type},
            "against": list(against(some, ours, seed)),
            "confidence": confidence(some),
            "nothing": told_apart(some, [row for row in nothing if name in (ALL, row.dataset)]),
        }
    return {"ours": ours, "sets": sets}


def figures(rows: Sequence[Any], system: str) -> dict[str, Any]:
    """Every measure of one system at both levels, how many questions it is over, and the evidence inside each budget."""
    answers = [row.answers[system] for row in rows]
    found: dict[str, Any] = {"questions": len(rows)}
    for level, given in (("session", [a.sessions for a in answers]), ("turn", [a.turns for a in answers])):
        with_gold = [one for one in given if one.of]
        found[level] = {name: mean(name, with_gold) for name in MEASURES} if with_gold else {}
    packed = [answer.inside for answer in answers if answer.inside]
    found["inside"] = {str(budget): 100 * sum(one[budget] for one in packed) / len(packed) for budget in BUDGETS} if packed else {}
    return found


def against(rows: Sequence[Any], ours: str, seed: int) -> Iterator[dict[str, Any]]:
    """Ours less the best of the others, over the same questions, for each measure that is compared."""
    others = [name for name in rows[0].answers if name != ours and not is_variant(name)]
    for level in LEVELS if others else ():
        with_gold = [row for row in rows if _found(row.answers[ours], level).of]
        for measure in COMPARED if with_gold else ():
            values = {name: [MEASURES[measure](_found(row.answers[name], level)) for row in with_gold] for name in (ours, *others)}
            best = max(others, key=lambda name: sum(values[name]))
            yield {
                "level": level,
                "measure": measure,
                "questions": len(with_gold),
                "ours": 100 * sum(values[ours]) / len(with_gold),
                "best": best,
                "theirs": 100 * sum(values[best]) / len(with_gold),
                "difference": bootstrap(values[ours], values[best], seed=seed),
            }


def is_variant(name: str) -> bool:
    """Whether it is ours with other weights, of an ablation, and no way of others."""
    return name.startswith("without ") or "=" in name


def confidence(rows: Sequence[Any]) -> dict[str, float] | None:
    """How well confidence tells questions from the same with their evidence forgotten."""
    pairs = [row.confidence for row in rows if row.confidence is not None]
    if not pairs:
        return None
    present, absent = zip(*pairs, strict=True)
    return _apart(present, absent)


def told_apart(rows: Sequence[Any], nothing: Sequence[Any]) -> dict[str, float] | None:
    """How well confidence tells questions that have an answer from others that nothing answers."""
    present = [row.confidence[0] for row in rows if row.confidence is not None]
    absent = [row.confidence for row in nothing]
    return _apart(present, absent) if present and absent else None


def _apart(present: Sequence[float], absent: Sequence[float]) -> dict[str, float]:
    threshold, share = caught(present, absent)
    return {"questions": len(absent), "auroc": auroc(present, absent), "caught": 100 * share, "threshold": threshold}


def _found(answer: Any, level: str) -> Any:
    return answer.sessions if level == "session" else answer.turns


# ------------------------------------------------------------------ tables


def show(report: Mapping[str, Any], console: Console) -> None:
    """The whole run, in the order in which one reads it."""
    settings, ours = report["settings"], report["ours"]
    console.print(f"\n{report['commit']}, {settings}")
    for name, data in report["data"]["sets"].items():
        console.print(
            f"{name}: {data['questions']:,} questions of {data['memories']} memories with {data['turns']:,} turns;"
            f" {data['left_out']} left out (to be abstained from, or without evidence)"
        )
    console.print(
        "User and assistant turns are indexed. A session stands where its first hit stands. Per cent, 50 hits a question."
    )
    if report["confidence_is"] != "confidence":
        console.print(f"This version says no confidence: {report['confidence_is']} stands in its place.")
    for name, group in report["sets"].items():
        systems = {system: given for system, given in group["systems"].items() if not is_variant(system)}
        console.print(_table(f"{name}, {group['questions']:,} questions", "", systems))
        if group["types"]:
            console.print(_table(f"{name}, {ours} by type", "questions", group["types"]))
    _show_ablation(report, console)
    last = [*report["sets"].values()][-1]
    if last["against"]:
        console.print(_compared(report, [*report["sets"]][-1]))
    if last["confidence"] is not None:
        console.print(_confident(report, "confidence", "each question, and the same with the sessions of its evidence forgotten"))
    if last["nothing"] is not None:
        console.print(_confident(report, "nothing", "each question that has an answer, and others that nothing answers"))
    console.print(f"recall: {report['recall_cpu_ms_p50']} ms CPU at the median; the run took {report['seconds']:,.0f} s")


def _plain(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def _table(title: str, count: str, rows: Mapping[str, Mapping[str, Any]]) -> Table:
    table = _plain(title)
    table.add_column("", no_wrap=True)
    if count:
        table.add_column(count, justify="right")
    levels = [level for level in LEVELS if any(given[level] for given in rows.values())]
    packed = any(given["inside"] for given in rows.values())
    for level in levels:
        for measure in SHOWN:
            table.add_column(f"{level}\n{measure}", justify="right")
    for budget in INSIDE if packed else ():
        table.add_column(f"inside\n{budget:,}", justify="right")
    for name, given in rows.items():
        cells = [_number(given[level].get(measure)) for level in levels for measure in SHOWN]
        cells += [_number(given["inside"].get(str(budget))) for budget in INSIDE] if packed else []
        table.add_row(name, *([str(given["questions"])] if count else []), *cells)
    return table


def _show_ablation(report: Mapping[str, Any], console: Console) -> None:
    """A column a variant: its distance from ours, in every set and figure that tells something there."""
    ours, sets = report["ours"], report["sets"]
    names = [name for name in next(iter(sets.values()))["systems"] if is_variant(name)]
    if not names:
        return
    table = _plain("what each weight is worth: ours, and the difference without it or with another, in points")
    for heading in ("", ours, *(name.replace("without ", "without\n") for name in names)):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=not heading)
    for set_, group in sets.items():
        for level, measures in ABLATED.items():
            full = group["systems"][ours][level]
            for measure in measures if full else ():
                found = [group["systems"][name][level][measure] - full[measure] for name in names]
                cells = ("same" if abs(points) < 0.05 else f"{points:+.1f}" for points in found)
                table.add_row(f"{set_} {level} {measure}", _number(full[measure]), *cells)
    console.print(table)


def _compared(report: Mapping[str, Any], name: str) -> Table:
    table = _plain(f"{name}: {report['ours']} and the best of the others, paired bootstrap")
    for heading in ("", "questions", report["ours"], "best of the others", "theirs", "difference", "95 %", ""):
        table.add_column(heading, justify="left" if heading in ("", "best of the others") else "right")
    for one in report["sets"][name]["against"]:
        points, low, high = one["difference"]
        verdict = "better" if low > 0 else "worse" if high < 0 else "not told apart"
        table.add_row(
            f"{one['level']} {one['measure']}",
            str(one["questions"]),
            _number(one["ours"]),
            one["best"],
            _number(one["theirs"]),
            f"{points:+.1f}",
            f"{low:+.1f} to {high:+.1f}",
            verdict,
        )
    return table


def _confident(report: Mapping[str, Any], of: str, title: str) -> Table:
    table = _plain(f"confidence: {title}")
    for heading in ("", "questions", "AUROC", "threshold that keeps 90 %", "others below it"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, group in report["sets"].items():
        if (one := group[of]) is not None:
            table.add_row(name, str(one["questions"]), f"{one['auroc']:.3f}", f"{one['threshold']:.3f}", _number(one["caught"]))
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


# ------------------------------------------------------------------ kept


def flat(report: Mapping[str, Any]) -> dict[str, float]:
    """Our figures under one name each, as they are kept and compared."""
    kept: dict[str, float] = {}
    for name, group in report["sets"].items():
        given = group["systems"][report["ours"]]
        for level in LEVELS:
            kept |= {f"{name} {level} {measure}": value for measure, value in given[level].items()}
        kept |= {f"{name} in {budget}": value for budget, value in given["inside"].items()}
        if group["confidence"] is not None:
            kept[f"{name} AUROC"] = 100 * group["confidence"]["auroc"]
            kept[f"{name} caught"] = group["confidence"]["caught"]
    return {name: round(value, 2) for name, value in kept.items()}


def keep(path: Path, report: Mapping[str, Any]) -> None:
    """One line more in the file of results."""
    last = [*report["sets"].values()][-1]
    line = {name: report[name] for name in ("at", "commit", "settings", "data", "recall_cpu_ms_p50", "seconds")}
    line["against"] = {
        f"{one['level']} {one['measure']}": [one["best"], *(round(value, 2) for value in one["difference"])]
        for one in last["against"]
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**line, "figures": flat(report)}, ensure_ascii=False) + "\n")


def previous(path: Path, report: Mapping[str, Any]) -> dict[str, Any] | None:
    """The last kept run over the same data with the same settings."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    kept = (json.loads(line) for line in reversed(lines))
    return next((run for run in kept if (run["data"], run["settings"]) == (report["data"], report["settings"])), None)


def show_change(before: Mapping[str, Any], report: Mapping[str, Any], console: Console) -> None:
    """Which figures rose and fell by a point or more since the last kept run."""
    now, then = flat(report), before["figures"]
    moved = {name: now[name] - then[name] for name in now if name in then and abs(now[name] - then[name]) >= A_CHANGE}
    console.print(f"\nsince {before['at']} ({before['commit']}):" + ("" if moved else " no figure moved by a point"))
    for name, points in sorted(moved.items(), key=lambda pair: pair[1]):
        console.print(f"  {points:+6.1f}  {name}  {now[name]:.1f}")


# ------------------------------------------------------------------ the picture

WIDTH, HEIGHT, LEFT, TOP = 300, 230, 44, 46  # of one panel, and where its axes cross from its corner
LINES = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#8c564b")
GREY = "#808080"  # reads on white and on black


def picture(report: Mapping[str, Any]) -> str:
    """The share of the gold turns in a prompt against its tokens, a panel a set, as SVG."""
    panels = {name: group for name, group in report["sets"].items() if name != ALL and group["systems"][report["ours"]]["inside"]}
    systems = [name for name in next(iter(panels.values()))["systems"] if not is_variant(name)] if panels else []
    width, height = max(1, len(panels)) * (WIDTH + LEFT + 16), TOP + HEIGHT + 44 + 18 * len(systems)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        "<title>Share of the evidence inside a prompt, against its tokens</title>",
    ]
    for place, (name, group) in enumerate(panels.items()):
        parts += _panel(
            place * (WIDTH + LEFT + 16) + LEFT, name, {system: group["systems"][system]["inside"] for system in systems}
        )
    for place, system in enumerate(systems):
        y = TOP + HEIGHT + 52 + 18 * place
        parts.append(f'<line x1="{LEFT}" y1="{y - 4}" x2="{LEFT + 24}" y2="{y - 4}" {_stroke(place)}/>')
        parts.append(f'<text x="{LEFT + 32}" y="{y}" fill="{GREY}">{system}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(left: int, title: str, lines: Mapping[str, Mapping[str, float]]) -> list[str]:
    def x(tokens: float) -> float:
        return round(left + WIDTH * tokens / BUDGETS[-1], 1)

    def y(share: float) -> float:
        return round(TOP + HEIGHT * (1 - share / 100), 1)

    parts = [f'<text x="{left}" y="{TOP - 20}" fill="{GREY}" font-weight="bold">{title}: gold turns inside, per cent</text>']
    for share in (0, 25, 50, 75, 100):
        parts.append(
            f'<line x1="{left}" y1="{y(share)}" x2="{left + WIDTH}" y2="{y(share)}" stroke="{GREY}" stroke-opacity="0.3"/>'
        )
        parts.append(f'<text x="{left - 8}" y="{y(share) + 4}" fill="{GREY}" text-anchor="end">{share}</text>')
    for tokens in BUDGETS[1:]:
        parts.append(f'<text x="{x(tokens)}" y="{TOP + HEIGHT + 18}" fill="{GREY}" text-anchor="middle">{tokens:,}</text>')
    for place, line in enumerate(lines.values()):
        points = " ".join(f"{x(float(tokens))},{y(share)}" for tokens, share in line.items())
        parts.append(f'<polyline points="{points}" fill="none" {_stroke(place)}/>')
    return parts


def _stroke(place: int) -> str:
    """Ours is drawn thick, the others thin."""
    return f'stroke="{LINES[place % len(LINES)]}" stroke-width="{3 if place == 0 else 1.5}"'
