"""Figures 8 to 11 of the ScoRD paper as tables, with the paper's numbers beside ours.

Ref: ScoRD (ISCA'20) Section V; its text has no other numbers of these figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

from racetrap.evaluation.scord.overhead import COSTS, MEMORIES, VARIATIONS, Overhead
from racetrap.evaluation.scord.overhead_forms import HARDWARE, MODELS
from racetrap.evaluation.scord.overhead_statements import MEAN, statements_table
from racetrap.evaluation.table import Cell, Table

_SLOWDOWN = {"paper: ScoRD": {"1DC": 1.88, MEAN: 1.35}}
#: The paper's numbers by table, column and program: slowdown of ScoRD, and shares in percent.
PAPER: Mapping[str, Mapping[str, Mapping[str, float]]] = MappingProxyType({
    "execution": _SLOWDOWN, "figure-8": _SLOWDOWN,
    "figure-10": {
        "paper: LHD": {MEAN: 16.5}, "paper: NOC": {MEAN: 36.2}, "paper: MD": {MEAN: 47.3},
    },
})  # fmt: skip


def _rows(
    found: Sequence[Overhead], values: Callable[[Overhead], Sequence[float]], *,
    table: str = "", digits: int = 3,
) -> tuple[tuple[Cell, ...], ...]:  # fmt: skip
    """A row for each application and their mean, with the paper's numbers of ``table``."""
    rows = {each.program: values(each) for each in found}
    if rows:
        rows[MEAN] = [fmean(column) for column in zip(*rows.values(), strict=True)]
    paper = PAPER.get(table, {}).values()
    return tuple(
        (name, *(round(value, digits) for value in row), *(of.get(name) for of in paper))
        for name, row in rows.items()
    )


def make_tables(found: Sequence[Overhead]) -> list[Table]:
    """All tables, from the results of the applications."""
    cycles = ("base design", "ScoRD", "ScoRD, distant words")
    traffic = ("base design", "ScoRD")
    tables = [
        Table(
            "execution", "Cycles for each without detection, executed (Figure 8)",
            "The application is executed under each configuration, in simulated time: a warp that "
            "waits for another polls as often as it has time to. Means over schedules.",
            ("program", *cycles, *PAPER["execution"]),
            _rows(
                found, lambda each: [fmean(each.slowdowns_executed(name)) for name in cycles],
                table="execution",
            ),
        ),
        Table(
            "schedules", "Least and most of the schedules, executed (Figure 8)",
            "In a schedule each block begins so many cycles later, up to 255, with and without "
            "detection alike; in the first none does.",
            ("program", *(f"{name}: {which}" for name in cycles for which in ("least", "most"))),
            _rows(found, lambda each: [
                which(each.slowdowns_executed(name)) for name in cycles for which in (min, max)
            ]),
        ),
        Table(
            "figure-8", "Cycles for each without detection, replayed (Figure 8)",
            "An entry of ScoRD's metadata is for 16 neighbouring words; of its hardware here for "
            "words a sixteenth of the region apart, which does not help streams of data.",
            ("program", *cycles, *PAPER["figure-8"]),
            _rows(found, lambda each: list(map(each.slowdown, cycles)), table="figure-8"),
        ),
        Table(
            "figure-9", "DRAM accesses for each without detection (Figure 9)",
            "Reads of lines, and writes of lines and of segments that miss in the L2. Lines that "
            "are in the L2 at the end are not counted.",
            ("program", *(f"{name}: {what}" for name in traffic for what in ("data", "metadata"))),
            _rows(found, lambda each: [x for name in traffic for x in each.traffic(name)]),
        ),
        Table(
            "figure-10", "Shares of the overhead in percent (Figure 10)",
            "Of each cost, what is saved without its time: packets for L1 hits (LHD), identity of "
            "the warp in packets (NOC), accesses to metadata (MD).",
            ("program", *(cost.upper() for cost in COSTS), *PAPER["figure-10"]),
            _rows(found, lambda each: [*each.shares().values()], table="figure-10", digits=1),
        ),
        Table(
            "figure-11", "Cycles of ScoRD for each without detection, by memory (Figure 11)",
            "Low: 6 channels and 768 KB of L2; high: 24 channels and 3 MB. The paper does not "
            "give its values.",
            ("program", *MEMORIES),
            _rows(found, lambda each: [_slowdown(each, memory) for memory in MEMORIES]),
        ),
        Table(
            "sensitivity", "Cycles of ScoRD for each without detection, one setting changed",
            "A packet of 40 bytes is one flit of 40, and two with the 5 bytes that name its warp.",
            ("program", *VARIATIONS),
            _rows(found, lambda each: [_slowdown(each, change) for change in VARIATIONS]),
        ),
        Table(
            "models", "Cycles with ScoRD's hardware for each without detection, by a model",
            "The model has the hardware's cycles. In flight are the segments of a port between the "
            "read of their metadata and the answer to their write; presets are named.",
            ("program", "no time of its own", *MODELS),
            _rows(found, lambda each: [
                each.slowdown("ScoRD, distant words"),
                *(each.slowdown_of(each.models, name) for name in MODELS),
            ]),
        ),
        Table(
            "hardware", "Cycles with the hardware of a preset for each without detection",
            "The Verilated hardware runs beside the GPU.",
            ("program", *HARDWARE),
            _rows(
                [each for each in found if each.hardware],
                lambda each: [each.slowdown_of(each.hardware, name) for name in HARDWARE],
            ),
        ),
    ]  # fmt: skip
    rows = {table.name: {str(row["program"]): row for row in table.to_json()} for table in tables}
    return [*tables, statements_table(rows)]


def _slowdown(each: Overhead, change: str) -> float:
    is_changed = {**MEMORIES, **VARIATIONS}[change]
    return each.slowdown_with(change) if is_changed else each.slowdown()


def problems_of(found: Sequence[Overhead]) -> list[str]:
    """What must not be: a detector without costs that takes time, or a model that takes another
    time than its hardware."""
    return [
        *(
            f"{each.program}: ScoRD without costs takes other cycles than no detection"
            for each in found
            if each.counts["ScoRD without costs"].cycles != each.counts["none"].cycles
        ),
        *(
            f"{each.program}: the model of {name} must take the cycles of the hardware, "
            f"{counts.cycles}, not {each.models[name].cycles}"
            for each in found
            for name, counts in each.hardware.items()
            if name in each.models and each.models[name] != counts
        ),
    ]
