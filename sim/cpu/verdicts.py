"""Verdicts on programs: the oracle on a recording, and the compiler's own detector.

They share only the compiler's instrumentation, neither the runtime nor the run.
"""

from __future__ import annotations

from typing import NamedTuple

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.thread_sanitizer import (
    LinePair,
    line_pair,
    sanitize,
)


class ProgramVerdict(NamedTuple):
    """Races that both detectors found in a program.

    Parameters
    ----------
    name : str
        Program.
    arguments : tuple of str
        Its arguments.
    events : int
        Events of our recording.
    expected : bool
        Whether the program has races, by its catalogue.
    exact, sanitizer : frozenset of (str, str)
        Static races of the oracle and of ThreadSanitizer, as pairs of source lines. ThreadSanitizer
        keeps only a few accesses of a word, and of a thread's accesses of one kind between two
        synchronisations only the first; its runs also have other schedules.
    """

    name: str
    arguments: tuple[str, ...]
    events: int
    expected: bool
    exact: frozenset[LinePair]
    sanitizer: frozenset[LinePair]

    @property
    def agrees(self) -> bool:
        """Whether both verdicts, racy or clean, are the expected one."""
        return bool(self.exact) == bool(self.sanitizer) == self.expected


def race_lines(trace: ThreadTrace) -> frozenset[LinePair]:
    """Pairs of source lines that race in a trace, by the oracle."""
    locations = trace.header.locations
    result = HappensBefore().run(trace)
    places = (
        [locations.get(party.pc, f"{party.pc:#x}") for party in (race.first, race.second)]
        for race in result.races
    )
    return frozenset(line_pair(*pair) for pair in places)


def program_verdict(
    name: str, size: str = "tiny", threads: int = 4, runs: int = 3
) -> ProgramVerdict:
    """Verdict on a program of the catalogue.

    Parameters
    ----------
    name, size, threads
        As of :func:`program_trace`.
    runs : int
        Runs under ThreadSanitizer.

    Raises
    ------
    ValueError
        If program, size, threads or runs are out of range.
    RecordError, SanitizerError
        If the program cannot be recorded or judged.
    """
    trace = program_trace(name, size, threads)
    program = PROGRAMS[name]
    arguments = program.command_line(size, threads)
    found = sanitize([program.source], arguments, runs)
    expected = bool(program.benign_lines)
    return ProgramVerdict(name, arguments, len(trace.events), expected, race_lines(trace), found)
