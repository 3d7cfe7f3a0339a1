"""Verdicts on our CUDA programs with host code: each form of each is run and checked.

``python -m tests.cuda_verdicts`` runs all of them (``make programs``).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.sim.gpu.cuda.context import RunSettings
from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.program_run import run_program
from racetrap.sim.gpu.cuda.runtime_library import runtime_library
from racetrap.sim.gpu.cuda.toolkit import ToolkitError, compile_program
from racetrap.verdict.gpu.program_check import ProgramCheck
from racetrap.verdict.gpu.trace_check import TraceCheck
from tests.support import REPOSITORY

#: Programs by name, each with a race-free and a racy form; those that begin with ``scor_`` are of
#: ScoRD (ISCA'20) Table II.
PROGRAMS = {
    path.stem: path
    for path in sorted((REPOSITORY / "sim" / "gpu" / "cuda" / "programs").glob("*.cu"))
}
#: Macro with which the racy form is compiled.
_RACY = "RACY"
#: Programs whose race-free form is so by the ScoRD paper's rule alone: by PTX's, an acquire is
#: missing.  Behind the ticket of RED's last block there is no fence.
_LACK_ACQUIRE = frozenset({"scor_reduction"})


@dataclass(frozen=True)
class ProgramVerdict:
    """What came of one form of a program.

    Parameters
    ----------
    name : str
        Program.
    racy : bool
        Whether it is the racy form.
    pairs : int
        Pairs of source lines with a race.
    status : int
        Exit status of the program: 0 if its own check passed.
    launches, events : int
        Launches, and events of the trace.
    seconds : float
        From source to verdict.
    problems : tuple of str
        Faults, and what could not be done for the program.
    """

    name: str
    racy: bool
    pairs: int
    status: int
    launches: int
    events: int
    seconds: float
    problems: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether races were found if they are there; a race-free form must pass its check."""
        if self.problems or (self.status and not self.racy):
            return False
        return bool(self.pairs) == (self.racy or self.name in _LACK_ACQUIRE)


def check_source(
    source: Path, options: CompilerOptions, folder: Path, others: Sequence[Path] = ()
) -> tuple[ProgramCheck, str]:
    """Compile a program, run it and check it; what was found, and what it printed.

    Parameters
    ----------
    source : Path
        CUDA source.
    options : CompilerOptions
        How it is compiled.
    folder : Path
        Where it is compiled.
    others : sequence of Path
        Further sources of it.

    Raises
    ------
    ToolkitError
        If it does not compile, or the compiler is not installed.
    ProgramError
        If it cannot be run.
    """
    target, printed = folder / source.stem, folder / "output"
    compile_program([source, *others], target, runtime_library(), options)
    check = ProgramCheck(TraceCheck())
    with printed.open("wb") as output:
        check.add(run_program([str(target)], RunSettings(output=output.fileno())))
    return check, printed.read_text(encoding="utf-8", errors="replace")


def check_program(name: str, racy: bool) -> ProgramVerdict:
    """Compile a form of a program, run it and check it.

    Raises
    ------
    ToolkitError
        If the compiler is not installed.
    ProgramError
        If the program cannot be run.
    """
    begin = time.perf_counter()
    options = CompilerOptions((f"-D{_RACY}",) if racy else ())
    with tempfile.TemporaryDirectory(prefix="racetrap-") as folder:
        check, _ = check_source(PROGRAMS[name], options, Path(folder))
    (run,) = check.runs
    return ProgramVerdict(
        name, racy, len(check.traces.pairs), run.status, len(run.launches), len(run.trace),
        time.perf_counter() - begin, (*check.faults, *check.problems),
    )  # fmt: skip


def main() -> None:
    """Print the verdict on every form of every program; fail if one is wrong."""
    wrong = 0
    for name in PROGRAMS:
        for racy in (False, True):
            try:
                found = check_program(name, racy)
            except ToolkitError as error:
                raise SystemExit(str(error)) from None
            wrong += not found.is_right
            print(
                f"{'right' if found.is_right else 'WRONG'}  {name}, "
                f"{'racy' if racy else 'race-free'}: {found.pairs} pairs of lines race, "
                f"own check {'failed' if found.status else 'passed'}, {found.launches} launches, "
                f"{found.events} events, {found.seconds:.1f} s",
                flush=True,
            )
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
