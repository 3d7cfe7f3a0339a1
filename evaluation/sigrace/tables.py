"""All tables of the SigRace evaluation.

Ref: SigRace (ISCA'09) Section 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from racetrap.evaluation.sigrace.cost_tables import (
    hardware_table,
    instruction_table,
    message_table,
    storage_table,
    verdict_table,
)
from racetrap.evaluation.sigrace.figure_tables import (
    figure_7a,
    figure_7a_programs,
    figure_7b,
    figure_7b_programs,
    figure_8,
)
from racetrap.evaluation.sigrace.line_tables import (
    figure_9a,
    figure_9b,
    figure_9c,
    figure_9d,
    figure_10c,
    figure_10d,
)
from racetrap.evaluation.sigrace.opportunities import figure_9
from racetrap.evaluation.sigrace.pace_table import pace_table
from racetrap.evaluation.sigrace.policy_tables import policy_table, ring_table
from racetrap.evaluation.sigrace.race_tables import (
    existing_table,
    injected_table,
    outcome_table,
)
from racetrap.evaluation.sigrace.runs import ProgramResult
from racetrap.evaluation.table import Table
from racetrap.golden_model.sigrace.params import SigraceParams


def make_tables(results: Sequence[ProgramResult], params: SigraceParams) -> list[Table]:
    """Tables of some programs, in the order in which they are shown.

    Parameters
    ----------
    results : sequence of ProgramResult
        At least one program.
    params : SigraceParams
        Their configuration.
    """
    return [
        figure_7a(results, params),
        figure_7a_programs(results),
        figure_7b(results),
        figure_7b_programs(results),
        figure_8(results, params),
        existing_table(results),
        injected_table(results),
        outcome_table(results),
        figure_9(results),
        figure_9a(results),
        figure_9b(results),
        figure_9c(results),
        figure_9d(results),
        instruction_table(results),
        policy_table(results),
        ring_table(results),
        message_table(results),
        figure_10c(results),
        figure_10d(results),
        storage_table(params),
        verdict_table(results),
        hardware_table(results),
        pace_table(results),
    ]


def problems(results: Sequence[ProgramResult]) -> list[str]:
    """Problems that no run may show, a sentence each."""
    return [problem for result in results for problem in _problems(result)]


def _problems(result: ProgramResult) -> Iterator[str]:
    name = result.program
    if result.existing.unreal:
        unreal = result.existing.unreal
        yield f"{name}: SigRace reports {unreal} races that the oracle does not have"
    if unreal := sum(run.unreal for run in result.injected):
        yield (
            f"{name}: SigRace reports {unreal} races that the oracle does not have in runs with "
            "injected races"
        )
    if result.verdict is not None and not result.verdict.agrees:
        yield f"{name}: verdicts of the oracle and ThreadSanitizer do not agree"
    if result.hardware is not None and result.hardware.difference:
        yield f"{name}: hardware and golden model differ: {result.hardware.difference}"
