"""Races of the exact oracle in a recorded program, and SigRace's outcome of each.

Ref: SigRace (ISCA'09) Section 5.4.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from racetrap.golden_model.happens_before.happens_before import (
    HappensBefore,
    HappensBeforeResult,
)
from racetrap.golden_model.happens_before.race import ThreadRace
from racetrap.golden_model.sigrace.missed import RaceOutcome, race_outcomes
from racetrap.golden_model.sigrace.result import SigraceResult
from racetrap.golden_model.sigrace.sigrace import Sigrace
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.sigrace.compiled_sigrace import run_sigrace


class OracleComparison(NamedTuple):
    """Comparison of the oracle's races with SigRace's.

    Parameters
    ----------
    exact : HappensBeforeResult
        Races of the oracle.
    outcomes : dict of ThreadRace to RaceOutcome
        SigRace's outcome of each.
    ideal : SigraceResult
        Races of Ideal SigRace with the same checkpoints.
    unconfirmed : list of ThreadRace
        Races of SigRace that the oracle does not have.
    """

    exact: HappensBeforeResult
    outcomes: dict[ThreadRace, RaceOutcome]
    ideal: SigraceResult
    unconfirmed: list[ThreadRace]


def compare_with_oracle(
    trace: ThreadTrace, sigrace: Sigrace, found: SigraceResult
) -> OracleComparison:
    """Run the oracle and Ideal SigRace over a trace that ``sigrace`` has found ``found`` in."""
    exact = HappensBefore().run(trace)
    limitless = Sigrace(
        sigrace.params, sigrace.environment, sigrace.checkpoint_interval, unbounded=True,
        instruction_limit=sigrace.instruction_limit,
    )  # fmt: skip
    ideal = run_sigrace(limitless, trace)
    became = race_outcomes(exact, found, ideal)
    return OracleComparison(exact, became, ideal, unconfirmed(found.races, exact))


def unconfirmed(reports: Iterable[ThreadRace], exact: HappensBeforeResult) -> list[ThreadRace]:
    """Reports that are not races of the oracle; if its list is incomplete, by their two
    instructions only."""
    if exact.is_complete:
        there = set(exact.races)
        return [race for race in reports if race not in there]
    return [race for race in reports if race.static_key not in exact.static]
