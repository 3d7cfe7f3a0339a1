"""Tables of the results with a GPU as the subject, made from those that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import quantiles
from typing import Any

from docs.site.beside_a_gpu import explained_table
from docs.site.markdown import table
from tests.support.gpu.on_gpu.differences import (
    differences,
    known,
    pairs_of,
    racecheck_hazards,
    shared_pairs,
)
from tests.support.gpu.on_gpu.results import kept

_SUITES = ("constructs", "concurrency", "micro", "weak_memory", "")
#: Forms of programs by title: whether a name is of it.
_FORMS: Mapping[str, Callable[[str], bool]] = {
    "ours, race-free": lambda name: name.startswith("programs/") and name.endswith("/free"),
    "ours, racy": lambda name: name.startswith("programs/") and name.endswith("/racy"),
    "of others": lambda name: name.startswith("foreign/"),
    "drivers over CCCL": lambda name: name.startswith("drivers/") and name.endswith("/free"),
    "drivers without a barrier": lambda name: (
        name.startswith("drivers/") and name.endswith("/racy")
    ),
}
#: What may be cured, by the beginnings of names.
_CURED: Mapping[str, tuple[str, ...]] = {
    "constructs": ("constructs/",),
    "micro-benchmarks": ("micro/",),
    "weak memory, without acquires or fences": ("weak_memory/",),
    "programs that lack a barrier of the block": ("barrier/",),
    "programs that lack one of the warp": ("warp/",),
    "programs that lack a fence or a scope": ("fence/",),
}
Results = Mapping[str, Any]


def _of_suite(results: Results, suite: str) -> dict[str, Any]:
    return {name: row for name, row in results["kernels"].items() if name.startswith(suite)}


def _has_run(row: Results) -> bool:
    return "lines" in row["gpu"]


def machine_sentence(results: Results) -> str:
    """On what was measured, and how much."""
    gpu, driver = results["machine"].split(", ")
    return (
        f"Measured on an {gpu}, driver {driver}: {len(results['kernels'])} kernels, "
        f"{len(results['programs'])} forms of whole programs, and {len(results['cured'])} kernels "
        "and small programs to be cured.\n"
    )


def kernels_table(results: Results) -> str:
    """Counts of kernels by suite."""
    rows = []
    for suite in _SUITES:
        every = _of_suite(results, suite).values()
        run = [row for row in every if _has_run(row)]
        free = [row for row in run if not row["ours"]]
        lines = [(pairs_of(row["ours"]), row["gpu"]["lines"]) for row in run]
        rows.append((
            suite.replace("_", " ") or "all", len(every),
            sum(row["executor"] == row["ours"] for row in every), len(run),
            sum(own == theirs for own, theirs in lines),
            sum(len(own) for own, _ in lines),
            sum(each in theirs for own, theirs in lines for each in own),
            sum(each not in own for own, theirs in lines for each in theirs),
            len(free), sum(bool(row["gpu"]["lines"]) for row in free),
        ))  # fmt: skip
    columns = (
        "suite", "kernels", "same pairs from the log, on the executor", "run on the GPU",
        "same pairs from its log", "pairs of the executor", "of these from the GPU", "only from it",
        "kernels without a race", "of these reported",
    )  # fmt: skip
    return table(columns, rows)


def racecheck_table(results: Results) -> str:
    """Races in shared memory beside what racecheck reports, by suite."""
    hazards, rows = racecheck_hazards(), []
    for suite in _SUITES:
        every = [
            (row, *shared_pairs(row, hazards[name]))
            for name, row in _of_suite(results, suite).items()
        ]
        rows.append((
            suite.replace("_", " ") or "all", sum(bool(ours) for _, ours, _ in every),
            sum(bool(ours & theirs) for _, ours, theirs in every),
            sum(not row["ours"] for row, _, _ in every),
            sum(bool(theirs) and not row["ours"] for row, _, theirs in every),
            sum(len(ours & theirs) for _, ours, theirs in every),
            sum(len(ours - theirs) for _, ours, theirs in every),
            sum(len(theirs - ours) for _, ours, theirs in every),
        ))  # fmt: skip
    columns = (
        "suite", "kernels that race in shared memory", "of these reported",
        "kernels without a race", "of these reported", "pairs of lines of both", "only ours",
        "only racecheck's",
    )  # fmt: skip
    return table(columns, rows)


def differences_table(results: Results) -> str:
    """All that is otherwise on the GPU, each with its reason."""
    return explained_table(differences(results), known())


def forms_table(results: Results) -> str:
    """Counts of forms of whole programs."""
    rows = []
    for title, belongs in _FORMS.items():
        every = [row for name, row in results["programs"].items() if belongs(name)]
        both = [(row["ours"], row["gpu"]) for row in every]
        rows.append((
            title, len(every), sum(bool(ours["lines"]) for ours, _ in both),
            sum(bool(gpu["lines"]) for _, gpu in both),
            sum(ours["status"] == gpu["status"] for ours, gpu in both),
            sum(ours["lines"] == gpu["lines"] for ours, gpu in both),
            sum("printed" not in row for row in every), sum(gpu["right"] for _, gpu in both),
            sum("not_done" in gpu for _, gpu in both),
        ))  # fmt: skip
    columns = (
        "programs", "number", "race on the executor", "on the GPU", "same exit status",
        "same pairs of lines", "same output", "right on the GPU in all runs",
        "not run to the end there",
    )  # fmt: skip
    return table(columns, rows)


def _edited_runs(row: Results) -> bool:
    return "edits" in row and "lines" in row.get("gpu", {})


def _was_seen(results: Results, name: str) -> bool:
    """Whether a race was seen on the GPU before an edit ended it."""
    before = results["cured"][name].get("before") or results["kernels"][name]
    return bool(before["gpu"].get("lines"))


def cured_table(results: Results) -> str:
    """Kernels and small programs before and behind the edits that end their races."""
    rows = []
    for title, beginnings in _CURED.items():
        every = {n: row for n, row in results["cured"].items() if n.startswith(beginnings)}
        edited = {name: row for name, row in every.items() if "edits" in row}
        run = {name: row for name, row in edited.items() if _edited_runs(row)}
        rows.append((
            title, len(edited) + sum(bool(row.get("uncured")) for row in every.values()),
            len(edited), len(run), sum(_was_seen(results, name) for name in run),
            sum(bool(row["gpu"]["lines"]) for row in run.values()),
            sum(bool(row["gpu"].get("wrong")) for row in run.values()),
        ))  # fmt: skip
    columns = (
        "kernels and programs", "race on the executor", "with an edit", "run on the GPU with it",
        "race there before", "race there with it", "wrong results there with it",
    )  # fmt: skip
    return table(columns, rows)


def cost_table(results: Results) -> str:
    """Times of kernels that log, beside those of the same ones as they are, and bytes logged."""
    run = [row["gpu"] for row in results["kernels"].values() if _has_run(row)]
    factors = [row["logged"] / row["plain"] for row in run if row.get("plain")]
    sizes = [row["bytes"] for row in run]
    per_event = [row["bytes"] / row["events"] for row in run]
    rows = []
    for title, values, form in (
        ("time of a kernel that logs, as a multiple of its time as it is", factors, "{:.1f}"),
        ("bytes of a log", sizes, "{:,.0f}"),
        ("bytes for an event of the trace", per_event, "{:.0f}"),
    ):
        quarters = quantiles(values, n=4)
        shown = (form.format(each) for each in (*quarters, max(values)))
        rows.append((title, len(values), *shown))
    return table(("", "kernels", "lower quartile", "median", "upper quartile", "most"), rows)


def programs_table(results: Results) -> str:
    """What ``racetrap run`` finds in each form of a program; of drivers, those that race."""
    rows = []
    for name, row in results["programs"].items():
        ours, gpu = row["ours"], row["gpu"]
        if name.startswith("drivers/") and not ours["lines"] and not gpu["lines"]:
            continue
        both = sum(each in gpu["lines"] for each in ours["lines"])
        rows.append((
            f"`{name}`", len(ours["lines"]), len(gpu["lines"]), both, gpu["runs"],
            gpu["seconds"], ours["seconds"],
        ))  # fmt: skip
    columns = (
        "program", "pairs of lines on the executor", "on the GPU", "the same", "runs there",
        "seconds, with compiling", "on the executor",
    )  # fmt: skip
    return table(columns, rows)


#: Tables of the page by name.
ON_GPU_TABLES: Mapping[str, Callable[[Results], str]] = {
    "on-gpu-machine": machine_sentence,
    "on-gpu-kernels": kernels_table,
    "on-gpu-differences": differences_table,
    "on-gpu-cost": cost_table,
    "on-gpu-forms": forms_table,
    "on-gpu-cured": cured_table,
    "on-gpu-racecheck": racecheck_table,
    "on-gpu-programs": programs_table,
}


def on_gpu_table(name: str) -> str:
    """A table from the kept results."""
    return ON_GPU_TABLES[name](kept())
