"""The programs with accelerators, whole and with single syncs, flushes and paddings left out.

Each is recorded and checked in both modes, its trace goes through the exhaustive machine, and its
result is compared under random timings.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent, has_races
from racetrap.golden_model.noncoherent.oracle import racy_bytes
from racetrap.golden_model.noncoherent.races import Race
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS, AcceleratorProgram
from racetrap.sim.accelerator.programs.traces import record_program
from racetrap.sim.accelerator.timings import TimingProgram

#: Behind the name of a rule: no byte that either operation uses can come out wrong by it.
_FALSE_SHARING = " (false sharing)"
#: Name of the case in which nothing is left out.
COMPLETE = "nothing"


@dataclass(frozen=True)
class ProgramPart:
    """A program and how often to run each case of it."""

    program: str
    timings: int
    seed: int


@dataclass(frozen=True)
class ProgramCase:
    """A program with one thing left out, or nothing.

    Parameters
    ----------
    program, omission : str
        Their names.
    operations : int
        Operations of the trace.
    strict, thesis : tuple of str
        Rules that each mode reports; those of false sharing have ``(false sharing)`` behind.
    is_reported : bool
        Whether mode ``strict`` finds a race that counts.
    racy_bytes : int
        Bytes that race on the exhaustive machine.
    is_first_same : bool
        Whether the machine's first racy operation is that of mode ``strict``.
    timings, wrong : int
        Runs under random timings, and those with another result than without deferral.
    """

    program: str
    omission: str
    operations: int
    strict: tuple[str, ...]
    thesis: tuple[str, ...]
    is_reported: bool
    racy_bytes: int
    is_first_same: bool
    timings: int
    wrong: int

    @property
    def is_harmful(self) -> bool:
        """Whether the machine or some timing shows that the result can be wrong."""
        return self.racy_bytes > 0 or self.wrong > 0

    @property
    def explanation(self) -> str:
        """Why a case without harm is reported, or an omission does no harm; empty: none."""
        if self.is_harmful or self.omission == COMPLETE:
            return ""
        if not self.thesis:
            return "no line in common in this layout"
        return "false sharing" if all(name.endswith(_FALSE_SHARING) for name in self.thesis) else ""


def run_program(part: ProgramPart) -> list[ProgramCase]:
    """All cases of a program."""
    program = ACCELERATOR_PROGRAMS[part.program]
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        timing = TimingProgram([program.source], Path(folder))
        return [
            _run_case(program, timing, omission, part)
            for omission in (COMPLETE, *program.omissions)
        ]


def _run_case(
    program: AcceleratorProgram, timing: TimingProgram, omission: str, part: ProgramPart
) -> ProgramCase:
    omissions = () if omission == COMPLETE else (omission,)
    trace = record_program(program, program.small, *omissions)
    memory, operations = trace.header.memory, list(trace)
    strict, thesis = (
        run_compiled(Noncoherent(memory, mode), operations) for mode in ("strict", "thesis")
    )
    racy = racy_bytes(memory, operations)
    runs = timing.run(
        [str(program.small), *omissions], part.timings, memory=memory,
        allocator=program.allocator, seed=part.seed,
    )  # fmt: skip
    return ProgramCase(
        program=program.name,
        omission=omission,
        operations=len(operations),
        strict=_rules(strict.races),
        thesis=_rules(thesis.races),
        is_reported=has_races(strict.races),
        racy_bytes=sum(one.last - one.first + 1 for one in racy),
        is_first_same=strict.first == (racy[0].operation if racy else None),
        timings=part.timings,
        wrong=runs.wrong,
    )


def _rules(races: Iterable[Race]) -> tuple[str, ...]:
    marks = {True: _FALSE_SHARING, False: ""}
    return tuple(sorted({f"{one.rule.value}{marks[one.is_false_sharing]}" for one in races}))


def program_problems(cases: Sequence[ProgramCase]) -> list[str]:
    """Violations of requirements on all cases, in sentences."""
    found = []
    for case in cases:
        name = f"Program {case.program} without {case.omission}"
        if case.is_harmful and not case.is_reported:
            found.append(f"{name}: harm must be reported")
        if case.is_reported and not case.racy_bytes:
            found.append(f"{name}: a report must be of bytes that race on the exhaustive machine")
        if case.thesis and not case.is_harmful and not case.explanation:
            found.append(f"{name}: reports without harm must be false sharing")
        if not case.is_first_same:
            found.append(f"{name}: the first race must be that of the exhaustive machine")
        if case.omission == COMPLETE and (case.strict or case.thesis or case.is_harmful):
            found.append(f"{name}: the complete program must be silent and right")
    return found
