"""Runs of a program under random timings: deferred DMA and delayed write-backs.

A race-free program gives the same result under all timings.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from racetrap.golden_model.trace.noncoherent.operations import MemorySystem
from racetrap.sim.accelerator.recorder import Allocator
from racetrap.sim.accelerator.runtimes import TIMING
from racetrap.sim.cpu.compiler import compile_program
from racetrap.sim.cpu.errors import RecordError

#: Seconds after which one run is ended.
_SECONDS = 10


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run.

    Parameters
    ----------
    status : int
        Exit status, or the number of the signal that ended it, negative.
    digest : str
        Hash of what it printed.
    text : str
        Beginning of what it printed.
    """

    status: int
    digest: str
    text: str


@dataclass(frozen=True)
class TimingRuns:
    """Runs of a program.

    Parameters
    ----------
    reference : Outcome
        Outcome without deferral.
    outcomes : Counter of Outcome
        Outcomes under random timings.
    first_wrong : int or None
        Seed of the first run with another outcome.
    """

    reference: Outcome
    outcomes: Counter[Outcome]
    first_wrong: int | None

    @property
    def wrong(self) -> int:
        """Runs with an outcome other than the reference."""
        return self.outcomes.total() - self.outcomes[self.reference]


class TimingProgram:
    """A program compiled for runs under random timings.

    Parameters
    ----------
    sources : sequence of Path
        C and C++ files.
    folder : Path
        Folder of the compiled program.
    include : sequence of Path
        Folders of header files.
    options : sequence of str
        Options for compiler and linker.

    Raises
    ------
    RecordError
        If the program cannot be compiled.
    """

    def __init__(
        self, sources: Sequence[Path], folder: Path, include: Sequence[Path] = (),
        options: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._program = compile_program(sources, folder, include, options, TIMING)

    def run(
        self, arguments: Sequence[str], timings: int, *, memory: MemorySystem,
        allocator: Allocator | None = None, seed: int = 1,
    ) -> TimingRuns:  # fmt: skip
        """Run the program once without and ``timings`` times with random deferral.

        Parameters
        ----------
        arguments : sequence of str
            Arguments of the program.
        timings : int
            How many.
        memory : MemorySystem
            The hardware; lines and granules are at least 4 bytes.
        allocator : Allocator or None
            The target's heap.
        seed : int
            Seed of the first; consecutive for the others.

        Raises
        ------
        ValueError
            If uncached accesses snoop: the model's bypass the cache.
        RecordError
            If the model cannot run the program, or it fails without any deferral.
        """
        if memory.uncached_snoops_cache:
            raise ValueError("Uncached accesses of the timing model must bypass the cache")
        allocator = allocator or Allocator()
        with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
            results = Path(name) / "results"
            environment = os.environ | {
                "RACETRAP_RESULTS": str(results),
                "RACETRAP_SEED": str(seed),
                "RACETRAP_TIMINGS": str(timings),
                "RACETRAP_SECONDS": str(_SECONDS),
                "RACETRAP_LINE": str(memory.line_bytes),
                "RACETRAP_GRANULE": str(memory.granule_bytes),
                "RACETRAP_PREFETCH": str(int(memory.prefetch)),
                "RACETRAP_WRITE_THROUGH": str(int(memory.write_through)),
                **allocator.environment(),
            }
            done = subprocess.run(
                [str(self._program), *arguments], env=environment,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise RecordError(f"Program cannot be run: {done.stderr[:400]}")
            return _runs(results)


def _runs(results: Path) -> TimingRuns:
    reference, wrong, outcomes = None, None, Counter[Outcome]()
    for line in results.read_text(encoding="ascii").splitlines():
        number, status, digest, text = line.split(" ")
        shown = bytes.fromhex(text).decode(errors="replace")
        outcome = Outcome(int(status), digest, shown)
        if reference is None:
            if outcome.status:
                raise RecordError(f"Program must return 0, not {outcome.status}: {shown}")
            reference = outcome
            continue
        outcomes[outcome] += 1
        if wrong is None and outcome != reference:
            wrong = int(number)
    if reference is None:
        raise RecordError("Program left no result")
    return TimingRuns(reference, outcomes, wrong)
