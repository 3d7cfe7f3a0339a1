"""Programs on a live system under many delays of the engine: omissions that the bus monitor
reports, and after how many delays a read is wrong, which timing hides until then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from racetrap.evaluation.noncoherent.programs import COMPLETE
from racetrap.golden_model.noncoherent.oracle import racy_bytes
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS


@dataclass(frozen=True)
class LivePart:
    """A program, the most delays of the engine for each case of it, the first one's seed, and the
    system."""

    program: str
    delays: int
    seed: int
    system: str = "picorv32"


@dataclass(frozen=True)
class LiveCase:
    """A program on a live system with one thing left out, or nothing.

    Parameters
    ----------
    program, omission : str
        Their names.
    is_harmful : bool
        Whether bytes of the first run's operations race on the exhaustive machine.
    is_reported : bool
        Whether the monitor reports a race in every run.
    runs : int
        Runs under different delays: one if there is no report, otherwise until a read is wrong.
    is_wrong : bool
        Whether a read was wrong in the last one.
    is_late : bool
        Whether no report came at or before that read.
    lost : int
        Operations that the queue in front of the monitor has lost in all runs.
    """

    program: str
    omission: str
    is_harmful: bool
    is_reported: bool
    runs: int
    is_wrong: bool
    is_late: bool
    lost: int


def run_live(part: LivePart) -> list[LiveCase]:
    """All cases of a program."""
    omissions = (COMPLETE, *ACCELERATOR_PROGRAMS[part.program].omissions)
    return [_run_case(part, omission) for omission in omissions]


def _run_case(part: LivePart, omission: str) -> LiveCase:
    # Needs an extra, which other evaluations do not.
    from racetrap.sim.soc.firmware import image_of
    from racetrap.sim.soc.image import read_image
    from racetrap.sim.soc.run import run_firmware
    from racetrap.sim.soc.systems import SYSTEMS

    program, params = ACCELERATOR_PROGRAMS[part.program], SYSTEMS[part.system].params
    image = read_image(image_of(part.program))
    arguments = [str(program.least), *([] if omission == COMPLETE else [omission])]
    is_harmful, is_reported, is_wrong, is_late, runs, lost = False, True, False, False, 0, 0
    while is_reported and not is_wrong and runs < part.delays:
        run = run_firmware(part.system, params, image, arguments, seed=part.seed + runs)
        if not runs:
            is_harmful = bool(racy_bytes(params.taps.monitor.memory, list(run.trace)))
        runs += 1
        lost += run.lost_operations
        is_reported = bool(run.races)
        if run.first_wrong is not None:
            is_wrong = True
            first = min((race.later for race in run.races), default=None)
            is_late = first is None or first > run.first_wrong[1]
    return LiveCase(
        part.program, omission, is_harmful, is_reported, runs, is_wrong, is_late, lost
    )  # fmt: skip


def live_problems(cases: Sequence[LiveCase]) -> list[str]:
    """Violations of requirements on all cases, in sentences."""
    found = []
    for case in cases:
        name = f"Program {case.program} without {case.omission} on the live system"
        if case.is_reported != case.is_harmful:
            found.append(
                f"{name}: a report must be there if the exhaustive machine's is, only then"
            )
        if case.omission == COMPLETE and (case.is_reported or case.is_wrong):
            found.append(f"{name}: the complete program must be silent and right")
        if case.is_late:
            found.append(f"{name}: a report must come at or before the first wrong read")
        if case.lost:
            found.append(f"{name}: {case.lost} operations are lost")
    return found
