"""The programs with accelerators on the live systems, whole and with each omission.

``python -m tests.soc_programs`` runs each once on each system, under the first delays of the
engine, and prints the rows of a table.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.evaluation.noncoherent.live import LiveCase, LivePart, live_problems, run_live
from racetrap.evaluation.noncoherent.programs import COMPLETE
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.soc.systems import SYSTEMS


def row_of(system: str, cases: Sequence[LiveCase]) -> str:
    """Whole programs without a report and with right data; reported of the harmful and of the
    harmless omissions; those with wrong data, and with a report by then; operations lost."""
    whole = [case for case in cases if case.omission == COMPLETE]
    left_out = [case for case in cases if case.omission != COMPLETE]
    harmful = [case for case in left_out if case.is_harmful]
    harmless = [case for case in left_out if not case.is_harmful]
    wrong = [case for case in left_out if case.is_wrong]
    parts = (
        f"`{system}`",
        f"{sum(not (case.is_reported or case.is_wrong) for case in whole)} of {len(whole)}",
        f"{sum(case.is_reported for case in harmful)} of {len(harmful)}",
        f"{sum(case.is_reported for case in harmless)} of {len(harmless)}",
        f"{len(wrong)}; {sum(not case.is_late for case in wrong)}",
        f"{sum(case.lost for case in cases)}",
    )
    return f"| {' | '.join(parts)} |"


def _main() -> None:
    for system in SYSTEMS:
        cases = [
            case for program in ACCELERATOR_PROGRAMS
            for case in run_live(LivePart(program, 1, 1, system))
        ]  # fmt: skip
        print(row_of(system, cases))
        harmless = [f"{each.program} {each.omission}" for each in cases
                    if not each.is_harmful and each.omission != COMPLETE]  # fmt: skip
        print(f"harmless on {system}: {', '.join(harmless)}")
        for problem in live_problems(cases):
            print(problem)


if __name__ == "__main__":
    _main()
