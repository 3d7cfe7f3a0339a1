"""Tables of the results with a GPU as the subject, made from those that are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import quantiles
from typing import Any

from docs.site.markdown import table
from tests.support.gpu.on_gpu.results import kept

_SUITES = ("constructs", "concurrency", "micro", "weak_memory", "")
Results = Mapping[str, Any]


def _of_suite(results: Results, suite: str) -> dict[str, Any]:
    return {name: row for name, row in results["kernels"].items() if name.startswith(suite)}


def _has_run(row: Results) -> bool:
    return "lines" in row["gpu"]


def machine_sentence(results: Results) -> str:
    """On what was measured, and how much."""
    gpu, driver = results["machine"].split(", ")
    return (
        f"Measured on an {gpu}, driver {driver}: {len(results['kernels'])} kernels and "
        f"{len(results['programs'])} forms of programs.\n"
    )


def kernels_table(results: Results) -> str:
    """Counts of kernels by suite."""
    rows = []
    for suite in _SUITES:
        every = _of_suite(results, suite).values()
        run = [row for row in every if _has_run(row)]
        free = [row for row in run if not row["ours"]]
        lines = [(row["ours"], row["gpu"]["lines"]) for row in run]
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


def differences_table(results: Results) -> str:
    """Kernels that were not run, or whose pairs are others on the GPU."""
    rows = []
    for name, row in results["kernels"].items():
        if not _has_run(row):
            rows.append((f"`{name}`", row["gpu"]["refused"], ""))
        elif row["gpu"]["lines"] != row["ours"]:
            sides = (row["ours"], row["gpu"]["lines"]), (row["gpu"]["lines"], row["ours"])
            missing, more = (
                ", ".join(" and ".join(each[:2]) for each in own if each not in other)
                for own, other in sides
            )
            rows.append((f"`{name}`", f"not seen: {missing}" if missing else "", more))
    return table(("kernel", "not run, or pairs not seen on the GPU", "pairs only there"), rows)


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
    """What ``racetrap run`` finds in each form of a program."""
    rows = []
    for name, row in results["programs"].items():
        ours, gpu = row["ours"], row.get("gpu")
        if gpu is None:
            cells: tuple[object, ...] = ("not run", "", "", "")
        elif gpu["status"] and not gpu["lines"]:
            cells = ("a kernel did not end", "", gpu["runs"], gpu["seconds"])
        else:
            both = sum(each in gpu["lines"] for each in ours["lines"])
            cells = (len(gpu["lines"]), both, gpu["runs"], gpu["seconds"])
        rows.append((f"`{name}`", len(ours["lines"]), *cells, ours["seconds"]))
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
    "on-gpu-programs": programs_table,
}


def on_gpu_table(name: str) -> str:
    """A table from the kept results."""
    return ON_GPU_TABLES[name](kept())
