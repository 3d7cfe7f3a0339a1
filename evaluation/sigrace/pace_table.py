"""Cores at their own pace, by the RDM's scanners, as a table.

Ref: SigRace (ISCA'09) Sections 3.2 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.evaluation.sigrace.pace import Pace
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Table


def pace_table(results: Sequence[ProgramResult]) -> Table:
    """Cycles and stalls of each program by scanners and decompressors."""
    rows = [(result.program, pace) for result in results for pace in result.pace]
    machines = dict.fromkeys((pace.scanners, pace.decompressors) for _, pace in rows)
    totals = [
        ("Total", _total([pace for _, pace in rows if _machine(pace) == machine]))
        for machine in machines
    ]
    return Table(
        "pace",
        "Cores at their own pace, by scanners and decompressors of the RDM",
        "Cycles a message: from one message's end to the next one's, with cores that commit as "
        "fast as their units take events. In these cycles the RDM compares a message, only "
        "decompresses, or has none, because the cores send too few. "
        "All else: cores commit an instruction a cycle, and wait where their threads waited. "
        "Stalls are cycles in which an event of a core waits, over all cores; for the RDM, if the "
        "core's link takes nothing either. Each step was compared with the golden model.",
        ("program", "scanners", "decompressors", "messages", "cycles a message", "comparing",
         "decompressing", "none", "cycles", "core stalls", "for the RDM"),
        tuple(
            (program, *_machine(pace), pace.messages, pace.message_cycles, pace.search_cycles,
             pace.decompression_cycles, pace.idle_cycles, pace.cycles, pace.core_stalls,
             pace.rdm_stalls)
            for program, pace in [*rows, *totals]
        ),
    )  # fmt: skip


def _machine(pace: Pace) -> tuple[int, int]:
    return pace.scanners, pace.decompressors


def _total(paces: Sequence[Pace]) -> Pace:
    """Sums, and the mean over all messages but each program's first."""
    steps = sum(pace.messages - 1 for pace in paces)

    def mean(name: str) -> float:
        whole = sum(getattr(pace, name) * (pace.messages - 1) for pace in paces)
        return whole / steps if steps else 0.0

    return Pace(
        *_machine(paces[0]), sum(pace.messages for pace in paces), mean("message_cycles"),
        mean("search_cycles"), mean("decompression_cycles"), mean("idle_cycles"),
        sum(pace.cycles for pace in paces), sum(pace.core_stalls for pace in paces),
        sum(pace.rdm_stalls for pace in paces),
    )  # fmt: skip
