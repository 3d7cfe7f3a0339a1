"""Overheads, storage, verdicts and hardware runs as tables.

Ref: SigRace (ISCA'09) Section 5.5, Fig. 10.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from racetrap.evaluation.sigrace.means import mean, of_kind, percent
from racetrap.evaluation.sigrace.paper import (
    BYTES_PER_1000_INSTRUCTIONS,
    CORE_BYTES,
    FALSE_POSITIVE_SHARE,
    INSTRUCTION_OVERHEAD_PERCENT,
    MESSAGE_BYTES,
    THREAD_BYTES,
)
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Cell, Table
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.result import FirstRace, SigraceStatistics
from racetrap.golden_model.sigrace.state import core_state_bits, thread_state_bits

_BYTE = 8
#: Mean, 99th percentile (not given), bytes for 1,000 instructions.
_PAPER_MESSAGES = (MESSAGE_BYTES, None, BYTES_PER_1000_INSTRUCTIONS)
_Results = Sequence[ProgramResult]


def message_table(results: _Results) -> Table:
    """Bytes of Summary messages in both forms."""
    rows = [_message_row(result.program, [result]) for result in results]
    if regular := of_kind(results, "regular"):
        rows.append(_message_row("Mean of regular programs", regular))
    rows.append(_message_row("Mean of programs", results))
    return Table(
        "messages",
        "Summary messages (Fig. 10(b))",
        "Bytes of a message (mean, and what 99 of 100 messages do not exceed) and for each 1,000 "
        "committed instructions, in form sets, as built, and in form hashed. The paper gives "
        "about 100 bytes for its hashed signatures, compressed in a way that it does not describe.",
        ("program", "messages", "sets: mean", "sets: 99 %", "sets: per 1,000", "hashed: mean",
         "hashed: 99 %", "hashed: per 1,000"),
        (*rows, ("Paper", None, *_PAPER_MESSAGES, *_PAPER_MESSAGES)),
    )  # fmt: skip


def _message_row(name: str, results: _Results) -> tuple[Cell, ...]:
    """Messages of some programs, and the means of their figures."""
    count = sum(result.figures.messages[Form.SETS].messages for result in results)
    return (name, count, *map(fmean, zip(*map(_message_figures, results), strict=True)))


def _message_figures(result: ProgramResult) -> tuple[float, ...]:
    sizes = [result.figures.messages[form] for form in (Form.SETS, Form.HASHED)]
    return tuple(
        figure
        for each in sizes
        for figure in (each.mean, each.percentile_99, each.per_1000_instructions)
    )


def first_race(result: ProgramResult) -> FirstRace | None:
    """Costs until the first race: of the program, or else of its first injected race."""
    found = [result.existing.statistics.first_race, *(run.first_race for run in result.injected)]
    return next((race for race in found if race is not None), None)


def instruction_table(results: _Results) -> Table:
    """Instructions executed again until the first race, and over the whole run."""
    rows: list[tuple[Cell, ...]] = []
    for result in results:
        race, whole = first_race(result), result.existing.statistics
        source = "existing" if whole.first_race else "injected" if race else None
        rows.append((
            result.program, source,
            race.committed if race else None,
            race.repeated if race else None,
            percent(_overhead(race)),
            percent(_for_nothing(race)),
            percent(whole.overhead),
            sum(whole.rollbacks.values()),
            percent(_of_a_rollback(whole)),
            result.existing.conflicts,
            result.existing.false_positives,
        ))  # fmt: skip
    overhead = mean(results, lambda result: _overhead(first_race(result)))
    share = mean(results, lambda result: _for_nothing(first_race(result)))
    whole_run = mean(results, lambda result: result.existing.statistics.overhead)
    rollback = mean(results, lambda result: _of_a_rollback(result.existing.statistics))
    return Table(
        "instructions",
        "Instructions executed again in Re-execution and Analysis (Fig. 10(a))",
        "Until the first race was analysed, as the paper counts; in programs without a race the "
        "first one of an injected run. For nothing: the share of rollbacks that found no race. "
        "Whole run: of all committed instructions, when the run continues after each race, "
        "with its rollbacks, and the mean share that one of them executes again. "
        "False positives: conflicts analysed that had no race.",
        ("program", "first race", "committed", "executed again", "overhead %", "for nothing %",
         "whole run %", "rollbacks", "a rollback %", "conflicts", "false positives"),
        (*rows,
         ("Mean", None, None, None, percent(overhead), percent(share), percent(whole_run),
          None, percent(rollback), None, None),
         ("Paper", None, None, None, INSTRUCTION_OVERHEAD_PERCENT,
          percent(FALSE_POSITIVE_SHARE), None, None, None, None, None)),
    )  # fmt: skip


def _overhead(race: FirstRace | None) -> float | None:
    return None if race is None else race.overhead


def _of_a_rollback(whole: SigraceStatistics) -> float | None:
    rollbacks = sum(whole.rollbacks.values())
    return whole.overhead / rollbacks if rollbacks else None


def _for_nothing(race: FirstRace | None) -> float | None:
    if race is None or not race.repeated:
        return None
    return race.repeated_for_nothing / race.repeated


def storage_table(params: SigraceParams) -> Table:
    """Bytes of state, counted from the parameters."""
    rows: list[tuple[Cell, ...]] = []
    forms = {form: replace(params, form=form) for form in (Form.HASHED, Form.SETS)}
    cores = {form: core_state_bits(each) for form, each in forms.items()}
    for kind in cores[Form.HASHED]:
        name = f"core: {kind.replace('_', ' ')}"
        rows.append((name, *(bits[kind] / _BYTE for bits in cores.values()), None))
    totals = (sum(bits.values()) / _BYTE for bits in cores.values())
    queues = (thread_state_bits(each) / _BYTE for each in forms.values())
    return Table(
        "storage",
        "Storage in bytes, counted from the parameters (Section 5.5)",
        "The RDM holds signatures in both forms; a core of form sets collects address portions.",
        ("what", "form hashed", "form sets", "paper"),
        (*rows, ("core", *totals, CORE_BYTES), ("RDM, a thread", *queues, THREAD_BYTES)),
    )


def verdict_table(results: _Results) -> Table:
    """The oracle on our recording, and ThreadSanitizer on a run of its own."""
    return Table(
        "verdicts",
        "Verdicts: oracle on our recording, and ThreadSanitizer on a run of its own",
        "Static races as pairs of source lines, without false sharing. Verdicts agree if both "
        "find races, or none, as the program's source says; the schedules differ, so the pairs "
        "need not.",
        ("program", "expected", "exact", "ThreadSanitizer", "in both", "agree"),
        tuple(
            (verdict.name, "races" if verdict.expected else "none",
             len(verdict.exact), len(verdict.sanitizer), len(verdict.exact & verdict.sanitizer),
             "yes" if verdict.agrees else "no")
            for result in results
            if (verdict := result.verdict) is not None
        ),
    )  # fmt: skip


def hardware_table(results: _Results) -> Table:
    """Results of the generated hardware."""
    return Table(
        "hardware",
        "Generated hardware, each step compared with the golden model",
        "",
        ("program", "events", "steps compared", "messages", "cycles", "races", "difference"),
        tuple(
            (result.program, run.events, run.steps, run.messages, run.cycles, run.races,
             run.difference or "none")
            for result in results
            if (run := result.hardware) is not None
        ),
    )  # fmt: skip
