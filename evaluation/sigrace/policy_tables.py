"""Policies of rollback as tables.

Ref: SigRace (ISCA'09) Section 5.5, Fig. 10(a).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from racetrap.evaluation.sigrace.means import mean, percent
from racetrap.evaluation.sigrace.paper import INSTRUCTION_OVERHEAD_PERCENT
from racetrap.evaluation.sigrace.policies import CHOSEN, PAPERS, POLICIES, PolicyFigures
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Cell, Table

_Results = Sequence[ProgramResult]


def policy_table(results: _Results) -> Table:
    """Overheads and races of all programs by policy."""
    return Table(
        "policies",
        "Policies of rollback: overhead of Fig. 10(a), and races",
        "A request for a rollback is answered at once (blocks, the paper's), only at a "
        "synchronisation or a full log, only if the log is full, or at the next checkpoint. With a "
        "ring of addresses, requests are answered at once, but only conflicts are analysed whose "
        "blocks have an address in common, or of which a block has left the ring (not held); the "
        "last rows have deeper BlockHistoryQueues as well. "
        "Overheads are means over the programs, and the worst: until the first race, of the "
        "program or of its first injected run with one, and of the whole run. For nothing: the "
        "share of instructions executed again that found no race. Missing: races found by the "
        "first policy, but not by this one. Entries read: of rings, for each 100 instructions.",
        ("policy", "overhead %", "worst %", "whole run %", "worst whole run %", "for nothing %",
         "rollbacks", "static", "dynamic", "missing, static", "missing, dynamic", "dismissed",
         "not held", "entries read", "entries written"),
        (*(_policy_row(results, name) for name in POLICIES),
         ("Paper", INSTRUCTION_OVERHEAD_PERCENT, *[None] * 13)),
    )  # fmt: skip


def _policy_row(results: _Results, name: str) -> tuple[Cell, ...]:
    figures = [result.policies[name] for result in results]
    first = map(until_first_race, figures)
    repeated = sum(each.repeated for each in figures)
    nothing = sum(each.repeated_for_nothing for each in figures)
    return (
        name,
        percent(policy_mean(results, name, until_first_race)),
        percent(max((each for each in first if each is not None), default=None)),
        percent(policy_mean(results, name, whole_run)),
        percent(max(map(whole_run, figures))),
        percent(nothing / repeated) if repeated else None,
        sum(_rollbacks(each) for each in figures),
        sum(each.races.static for each in figures),
        sum(each.races.dynamic for each in figures),
        sum(each.missing.static for each in figures),
        sum(each.missing.dynamic for each in figures),
        sum(each.statistics.conflicts_dismissed for each in figures),
        sum(each.statistics.conflicts_unheld for each in figures),
        percent(policy_mean(results, name, _read)),
        percent(policy_mean(results, name, _written)),
    )


def ring_table(results: _Results) -> Table:
    """The paper's policy and confirmation by a ring, by programs."""
    return Table(
        "rings",
        f"Rollback at once, and confirmation by a {CHOSEN} entries first",
        "Each pair of columns has the paper's policy first. Races are static / dynamic, of the "
        "program and its injected run.",
        ("program", "overhead %", "with ring %", "whole run %", "whole run, with ring %",
         "rollbacks", "rollbacks, with ring", "for nothing, with ring", "races", "races, with ring",
         "missing", "dismissed", "not held", "entries read"),
        tuple(_ring_row(result) for result in results),
    )  # fmt: skip


def _ring_row(result: ProgramResult) -> tuple[Cell, ...]:
    papers, ring = result.policies[PAPERS], result.policies[CHOSEN]
    both = papers, ring
    races = (f"{each.races.static} / {each.races.dynamic}" for each in both)
    return (
        result.program,
        *(percent(until_first_race(each)) for each in both),
        *(percent(whole_run(each)) for each in both),
        *map(_rollbacks, both),
        ring.repeated_for_nothing,
        *races,
        f"{ring.missing.static} / {ring.missing.dynamic}",
        ring.statistics.conflicts_dismissed,
        ring.statistics.conflicts_unheld,
        percent(_read(ring)),
    )


def policy_mean(
    results: _Results, name: str, figure: Callable[[PolicyFigures], float | None]
) -> float | None:
    """Mean of a policy's figure over the programs that have it."""
    return mean(results, lambda result: figure(result.policies[name]))


def until_first_race(figures: PolicyFigures) -> float | None:
    """Instructions executed again until the first race, of those committed until then."""
    return None if figures.first_race is None else figures.first_race.overhead


def whole_run(figures: PolicyFigures) -> float:
    """The same over the whole run."""
    return figures.statistics.overhead


def _rollbacks(figures: PolicyFigures) -> int:
    return sum(figures.statistics.rollbacks.values())


def _read(figures: PolicyFigures) -> float:
    return _of_instructions(figures, figures.statistics.ring_reads)


def _written(figures: PolicyFigures) -> float:
    return _of_instructions(figures, figures.statistics.ring_writes)


def _of_instructions(figures: PolicyFigures, count: int) -> float:
    instructions = figures.statistics.instructions
    return count / instructions if instructions else 0.0
