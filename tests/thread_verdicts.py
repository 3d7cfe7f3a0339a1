"""Verdicts on the small programs: the exact detector's, and the compiler's own one's.

`python -m tests.thread_verdicts` judges all of them and prints a table.  Its exit status
is 1 if a verdict is not the program's, or differs from ThreadSanitizer's without a reason.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from racetrap.sim.cpu.compiler import compile_program
from racetrap.sim.cpu.recorder import record_program
from racetrap.sim.cpu.thread_sanitizer import LinePair, SanitizedProgram
from racetrap.sim.cpu.verdicts import race_lines
from tests.support.threads.small_programs import SMALL_PROGRAMS, SmallProgram


class SmallVerdict(NamedTuple):
    """Races that both detectors found in a small program, as pairs of source lines.

    Parameters
    ----------
    program : SmallProgram
        The program.
    exact : frozenset of (str, str)
        Races of the exact detector in a recording.
    sanitizer : frozenset of (str, str)
        Races of ThreadSanitizer in runs of its own.
    """

    program: SmallProgram
    exact: frozenset[LinePair]
    sanitizer: frozenset[LinePair]

    @property
    def is_right(self) -> bool:
        """Whether the exact verdict is the program's."""
        return bool(self.exact) == self.program.is_racy

    @property
    def agrees(self) -> bool:
        """Whether both verdicts, racy or clean, are equal."""
        return bool(self.exact) == bool(self.sanitizer)

    @property
    def is_explained(self) -> bool:
        """Whether both verdicts are equal, or ThreadSanitizer does not see all of the source."""
        return self.agrees or bool(self.program.unseen)


def small_verdicts(
    programs: Iterable[SmallProgram] = tuple(SMALL_PROGRAMS.values()), runs: int = 2
) -> Iterator[SmallVerdict]:
    """Verdicts on small programs; each source is compiled once for each detector.

    Parameters
    ----------
    programs : iterable of SmallProgram
        The programs, those of a source together.
    runs : int
        Runs of each racy one under ThreadSanitizer, of which each may miss a race; of the others
        one.

    Raises
    ------
    RecordError, SanitizerError
        If a program cannot be compiled, recorded or run.
    """
    for (source, options), cases in groupby(programs, attrgetter("source", "options")):
        with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
            ours, theirs = Path(name) / "recorded", Path(name) / "sanitized"
            ours.mkdir()
            theirs.mkdir()
            program = compile_program([source], ours, (), options)
            sanitized = SanitizedProgram([source], theirs, options=options)
            for case in cases:
                trace = record_program(program, [case.name]).trace
                found = sanitized.races([case.name], runs if case.is_racy else 1)
                yield SmallVerdict(case, race_lines(trace), found)


def main() -> int:
    """Print the table; the exit status."""
    wrong = 0
    words = {True: "racy", False: "clean"}
    for verdict in small_verdicts():
        program = verdict.program
        remark = "" if verdict.agrees else f"not seen: {program.unseen}"
        if not (verdict.is_right and verdict.is_explained):
            wrong, remark = wrong + 1, f"WRONG, must be {words[program.is_racy]}"
        print(
            f"{program.source.name:14} {program.name:36} {words[bool(verdict.exact)]:6}"
            f"{words[bool(verdict.sanitizer)]:6} {remark}".rstrip()
        )
    print(f"{len(SMALL_PROGRAMS)} programs, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
