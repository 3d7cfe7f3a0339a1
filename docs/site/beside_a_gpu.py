"""Tables of the comparison with a GPU, made from its kept results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from docs.site.markdown import table
from tests.cccl_drivers import kept_rows
from tests.support.gpu.comparison.comparing import (
    Disagreement,
    LitmusRow,
    Results,
    disagreements,
    explanations,
    litmus_rows,
)
from tests.support.gpu.comparison.results import kept

#: Groups of programs: title, and whether a name is of it.
_GROUPS: dict[str, Callable[[str], bool]] = {
    "lack a barrier of the block": lambda name: name.startswith("barrier/"),
    "lack a barrier of the warp": lambda name: name.startswith("warp/"),
    "lack a fence or a scope": lambda name: name.startswith("fence/"),
    "right": lambda name: name.startswith("right/"),
    "cured": lambda name: name.startswith("cured/"),
    "own, race-free form": lambda name: name.startswith("programs/") and name.endswith("/free"),
    "own, racy form": lambda name: name.startswith("programs/") and name.endswith("/racy"),
}
#: Parts of CCCL by the beginning of a driver's name.
_PARTS = {
    "block": "CUB's of a block", "warp": "CUB's of a warp", "device": "CUB's of a grid",
    "thrust": "Thrust's",
}  # fmt: skip
_SUITES = ("constructs", "concurrency", "micro", "weak_memory")


@cache
def compared() -> tuple[dict[str, Any], list[LitmusRow]]:
    """The kept results, and the litmus tests among them, judged."""
    results = kept()
    return results, litmus_rows(results["gpu"]["litmus"])


def _gravest(program: Results) -> str:
    levels = {level for _, _, level in program["hazards"]}
    if not program["racecheck"]:
        return "clean"
    return next((level for level in ("error", "warning", "info") if level in levels), "not read")


def _pairs(program: Results) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """Pairs of lines that racecheck names, and ours in shared memory."""
    return (
        {tuple(pair) for *pair, level in program["hazards"] if level != "info"},
        {tuple(pair) for *pair, space in program["races"] if space == "shared"},
    )


def machine_sentence(results: Results) -> str:
    """On what was measured."""
    machine = results["gpu"]["machine"]
    return (
        f"Measured on an {machine['gpu']}, driver {machine['driver']}, CUDA "
        f"{machine['compiler']}, Compute Sanitizer {machine['sanitizer']}.\n"
    )


def programs_table(results: Results) -> str:
    """Counts of programs by group."""
    gpu, ours = results["gpu"]["programs"], results["ours"]["programs"]
    rows = []
    for title, belongs in _GROUPS.items():
        every = [each | ours[name] for name, each in gpu.items() if belongs(name)]
        levels = Counter(map(_gravest, every))
        both = [_pairs(each) for each in every]
        runs = sum(count for each in every for count, _ in each["outputs"].values())
        wrong = sum(failed for each in every for _, failed in each["outputs"].values())
        rows.append((
            title, len(every), sum(bool(each["races"]) for each in every),
            levels["error"], levels["warning"], levels["clean"],
            sum(each["synccheck"] != 0 for each in every),
            f"{sum(len(theirs & own) for theirs, own in both)} / "
            f"{sum(len(own - theirs) for theirs, own in both)} / "
            f"{sum(len(theirs - own) for theirs, own in both)}",
            sum(any(failed for _, failed in each["outputs"].values()) for each in every),
            f"{wrong} of {runs}", sum(each["wrong"] for each in every),
        ))  # fmt: skip
    columns = (
        "programs", "number", "we find a race", "racecheck: error", "only warnings", "clean",
        "synccheck reports", "pairs of lines in shared memory: both / only we / only racecheck",
        "fail on the GPU", "failing runs there", "fail in our executor",
    )  # fmt: skip
    return table(columns, rows)


def each_program(results: Results) -> str:
    """Each program that lacks something, or of which something is reported."""
    gpu, ours = results["gpu"]["programs"], results["ours"]["programs"]
    rows = []
    for name, found in gpu.items():
        each = found | ours[name]
        if not each["races"] and not each["racecheck"]:
            continue
        spaces = Counter(space for *_, space in each["races"])
        printed = "; ".join(
            f"{text} ({count}{', fails' if failed else ''})"
            for text, (count, failed) in each["outputs"].items()
        )
        rows.append((
            f"`{name}`", ", ".join(f"{count} {space}" for space, count in sorted(spaces.items())),
            _gravest(each), each["racecheck"], printed, "yes" if each["wrong"] else "no",
        ))  # fmt: skip
    columns = (
        "program", "our pairs of lines", "racecheck", "its hazards",
        "printed on the GPU (runs)", "fails in our executor",
    )  # fmt: skip
    return table(columns, rows)


def disagreements_table(results: Results, rows: list[LitmusRow]) -> str:
    """Each disagreement with its sentence."""
    return explained_table(disagreements(results, rows), explanations())


def explained_table(found: list[Disagreement], known: Mapping[tuple[str, str], str]) -> str:
    """Disagreements with their sentences; those of one sentence in one row."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for each in found:
        reason = known.get((each.about, each.name), "not explained")
        text = f"`{each.name}`" + (f" ({each.details})" if each.details else "")
        grouped.setdefault((each.about, reason), []).append(text)
    return table(
        ("disagreement", "number", "of", "why"),
        [
            (about, len(names), ", ".join(names), reason)
            for (about, reason), names in grouped.items()
        ],
    )  # fmt: skip


def kernels_table(results: Results) -> str:
    """Counts of kernels by suite."""
    gpu, ours = results["gpu"]["kernels"], results["ours"]["kernels"]
    rows = []
    for suite in (*_SUITES, ""):
        every = [
            each | {"ours": ours[name]} for name, each in gpu.items() if name.startswith(suite)
        ]
        racy = [each for each in every if each["ours"]["racy"]]
        free = [each for each in every if not each["ours"]["racy"]]
        memories = sum(len(each["states"]) for each in every)
        weak, missing = (
            sum(len(each["ours"].get(key, ())) for each in every) for key in ("weak", "missing")
        )
        rows.append((
            suite.replace("_", " ") or "all", len(every), len(racy),
            sum(bool(each["hazards"]) for each in racy),
            sum(bool(each["hazards"]) for each in free),
            sum(sum(each["states"].values()) for each in every), memories,
            memories - weak - missing, weak, missing,
            sum(each["ours"]["states"] for each in every),
        ))  # fmt: skip
    columns = (
        "suite", "kernels", "racy", "racecheck reports of the racy ones", "of the others",
        "runs on the GPU", "different memories", "shown by our executor",
        "only under `--memory views`", "never", "memories that our executor shows",
    )  # fmt: skip
    return table(columns, rows)


def drivers_table(results: Results) -> str:
    """Counts of the drivers over CCCL's headers by part."""
    executor = {row.name for row in kept_rows() if row.result and not row.is_racy}
    parts: dict[str, dict[str, Any]] = {}
    for name, found in results["gpu"]["drivers"].items():
        parts.setdefault(_PARTS[name.partition("_")[0]], {})[name] = found
    rows = [
        (
            part, len(every), sum(sum(each["outputs"].values()) for each in every.values()),
            sum(len(each["outputs"]) == 1 for each in every.values()),
            sum(each["right"] == sum(each["outputs"].values()) for each in every.values()),
            sum(name in executor for name in every),
        )
        for part, every in parts.items()
    ]  # fmt: skip
    columns = (
        "algorithms", "drivers", "runs on the GPU", "the same result in all runs",
        "NumPy's result on the GPU", "on the executor",
    )  # fmt: skip
    return table(columns, rows)


def _values(row: LitmusRow, outcome: Iterable[int]) -> str:
    return ", ".join(
        f"{column} = {value}" for column, value in zip(row.columns, outcome, strict=True)
    )


def litmus_totals(rows: list[LitmusRow]) -> str:
    """Counts of litmus tests and of outcomes."""
    weak = [(row, each) for row in rows for each in row.weak]
    ordinary = [
        (row, each) for row in rows for each, is_sequential in row.allowed.items() if is_sequential
    ]
    covered = [(row, each) for row, each in weak if row.views is not None]

    def seen(pairs: list[tuple[LitmusRow, tuple[int, ...]]]) -> int:
        return sum(bool(row.counts.get(each)) for row, each in pairs)

    return table(
        ("", "number", "seen on the GPU"),
        [
            ("litmus tests", len(rows), sum(bool(row.counts) for row in rows)),
            ("instances", "", f"{sum(sum(row.counts.values()) for row in rows):,}"),
            ("allowed outcomes that an interleaving has", len(ordinary), seen(ordinary)),
            ("allowed outcomes that no interleaving has", len(weak), seen(weak)),
            (
                "of these: shown by `--memory views`",
                sum(each in (row.views or ()) for row, each in covered),
                seen([(row, each) for row, each in covered if each in (row.views or ())]),
            ),
            (
                "tests with an outcome that the axioms forbid", "",
                sum(bool(row.forbidden) for row in rows),
            ),
        ],
    )  # fmt: skip


def weak_outcomes(rows: list[LitmusRow]) -> str:
    """Weak outcomes that the GPU shows, with their counts."""
    found = [
        (f"`{row.name}`", _values(row, each), f"{row.counts[each]:,}",
         f"{sum(row.counts.values()):,}",
         "not covered" if row.views is None else "yes" if each in row.views else "no")
        for row in rows for each in row.weak if row.counts.get(each)
    ]  # fmt: skip
    return table(
        ("test", "outcome that no interleaving has", "instances", "of", "`--memory views`"), found
    )


def never_seen(rows: list[LitmusRow]) -> str:
    """Outcomes that are allowed, and that the GPU never showed."""
    found = []
    for kind, wanted in (("weak", False), ("interleaving", True)):
        for row in rows:
            missing = [
                _values(row, each) for each, is_sequential in sorted(row.allowed.items())
                if is_sequential is wanted and not row.counts.get(each)
            ]  # fmt: skip
            if missing:
                found.append((f"`{row.name}`", kind, "; ".join(missing)))
    return table(("test", "kind", "outcomes"), found)


#: Tables of the page by name.
PAGE_TABLES: Mapping[str, Callable[[Results, list[LitmusRow]], str]] = {
    "gpu-machine": lambda results, _: machine_sentence(results),
    "gpu-programs": lambda results, _: programs_table(results),
    "gpu-disagreements": disagreements_table,
    "gpu-kernels": lambda results, _: kernels_table(results),
    "gpu-drivers": lambda results, _: drivers_table(results),
    "gpu-litmus": lambda _, rows: litmus_totals(rows),
    "gpu-weak-outcomes": lambda _, rows: weak_outcomes(rows),
    "gpu-never-seen": lambda _, rows: never_seen(rows),
    "gpu-each-program": lambda results, _: each_program(results),
}


def page_table(name: str) -> str:
    """A table from the kept results."""
    return PAGE_TABLES[name](*compared())
