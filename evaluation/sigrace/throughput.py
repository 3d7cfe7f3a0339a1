"""Throughput of SigRace and of the recorder of threads: figures of `racetrap bench`, and their
tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from racetrap.evaluation.sigrace import cycles, recorder_rates
from racetrap.evaluation.sigrace.workload import SigraceWorkload
from racetrap.evaluation.throughput.figures import SIZE, BenchTable
from racetrap.evaluation.throughput.rates import timed
from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS

#: What co-simulation counts, and what it plays.
UNIT, WORKLOAD = "events", SigraceWorkload
HAS_MEMORY = False
#: Instructions of a block, from the paper's to one that is too short.
_BLOCKS = (2000, 1500, 1000, 500)


def measurements(latency: int | None) -> Mapping[str, Callable[[], Any]]:
    """What measures each figure, by its key in JSON; nothing of it is in memory."""
    return {
        "worst_scan": lambda: asdict(cycles.worst_scan()),
        "sustained": lambda: [asdict(cycles.sustained(block)) for block in _BLOCKS],
        "recorder": _recorder,
        "programs": lambda: [program_rates(name, SIZE) for name in PROGRAMS],
    }


def _recorder() -> list[dict[str, Any]]:
    measured = map(recorder_rates.recorder_rates, recorder_rates.MEASURED)
    ratios = ("slowdown", "sigrace_ratio")
    return [asdict(rates) | {name: getattr(rates, name) for name in ratios} for rates in measured]


def program_rates(name: str, size: str) -> dict[str, Any]:
    """Rates on a program with threads.

    Returns
    -------
    dict
        Its ``name``, the ``events`` of its trace, and events a second of the oracle (``exact``)
        and of the golden model of the whole machine (``sigrace``).

    Raises
    ------
    RecordError
        If the program cannot be recorded.
    """
    params = SigraceParams()
    trace = program_trace(name, size, params.threads)
    exact, _ = timed(lambda: HappensBefore().run(trace))
    sigrace, _ = timed(lambda: Sigrace(params).run(trace))
    events = len(trace)
    return {"name": name, "events": events, "exact": events / exact, "sigrace": events / sigrace}


def tables(figures: Mapping[str, Any]) -> Iterator[BenchTable]:
    """Tables of the figures."""
    scan = figures["worst_scan"]
    yield (
        "Longest scan of a message, sigrace",
        ["message", "comparisons", "cycles"],
        [["full queues, no predecessor", scan["comparisons"], scan["cycles"]]],
    )
    yield (
        "All cores at an access a cycle, no block ordered with another, sigrace",
        ["instructions of a block", "messages", "comparisons a message", "cycles a message",
         "core stalls", "link stalls"],
        [list(row.values()) for row in figures["sustained"]],
    )  # fmt: skip
    names = ("recorded", "merged", "checked", "sigrace")
    yield (
        "Recording, exact check and SigRace: million events a second; bytes an event",
        ["program", "events", "recorded", "merged", "exact check", "SigRace", "times as long",
         "its conflicts", "memory"],
        [
            [row["name"], row["events"], *(row[name]["median"] / 1e6 for name in names),
             round(row["sigrace_ratio"], 1), row["conflicts"], row["bytes_per_event"]]
            for row in figures["recorder"]
        ],
    )  # fmt: skip
    yield (
        "The same programs under ThreadSanitizer, and from their start to the exact verdict",
        ["program", "seconds, ThreadSanitizer", "seconds, exact verdict", "times as long"],
        [
            [row["name"], round(row["sanitizer_seconds"], 3),
             round(row["sanitizer_seconds"] * row["slowdown"], 2), round(row["slowdown"], 1)]
            for row in figures["recorder"]
        ],
    )  # fmt: skip
    yield (
        f"Programs with threads, size {SIZE}: trace events a second",
        ["program", "events", "oracle", "SigRace, golden model"],
        [list(row.values()) for row in figures["programs"]],
    )
