"""Verdicts on programs: the exact detector on our recording against the compiler's own detector.

They share the compiler's instrumentation and nothing else: not the runtime, not the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from racetrap.golden_model.happens_before.happens_before import HappensBefore
from racetrap.golden_model.threads.thread_trace import ThreadTrace
from racetrap.sim.cpu.program_traces import program_trace
from racetrap.sim.cpu.programs.catalogue import PROGRAMS
from racetrap.sim.cpu.programs.small_programs import SMALL_PROGRAMS
from racetrap.sim.cpu.recorder import record
from racetrap.sim.cpu.thread_sanitizer import LinePair, line_pair, sanitize

__all__ = ["Verdict", "program_verdict", "program_verdicts", "race_lines", "small_verdict"]


class Verdict(NamedTuple):
    """What both detectors found in a program.

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
        Static races of the exact detector and of ThreadSanitizer, as pairs of source lines.
    """

    name: str
    arguments: tuple[str, ...]
    events: int
    expected: bool
    exact: frozenset[LinePair]
    sanitizer: frozenset[LinePair]

    @property
    def agrees(self) -> bool:
        """Whether both say racy, or both clean, and that is what is expected."""
        return bool(self.exact) == bool(self.sanitizer) == self.expected

    @property
    def only_exact(self) -> frozenset[LinePair]:
        """Pairs that ThreadSanitizer missed: it forgets accesses, and had another schedule."""
        return self.exact - self.sanitizer

    @property
    def only_sanitizer(self) -> frozenset[LinePair]:
        """Pairs that did not occur in our recording, which had another schedule."""
        return self.sanitizer - self.exact

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name,
            "arguments": list(self.arguments),
            "events": self.events,
            "expected": self.expected,
            "exact": sorted(self.exact),
            "sanitizer": sorted(self.sanitizer),
            "agrees": self.agrees,
        }


def race_lines(trace: ThreadTrace) -> frozenset[LinePair]:
    """Pairs of source lines that race in a trace, by the exact detector.

    Accesses to different bytes of one granule are no race of the program and are left out.
    """
    locations = trace.header.locations
    result = HappensBefore().run(trace)
    places = (
        [locations.get(party.pc, f"{party.pc:#x}") for party in (race.first, race.second)]
        for race in result.races
        if race not in result.false_sharing
    )
    return frozenset(line_pair(*pair) for pair in places)


def _verdict(
    name: str, source: Path, arguments: Sequence[str], trace: ThreadTrace, expected: bool, runs: int
) -> Verdict:
    found = sanitize([source], arguments, runs=runs)
    exact = race_lines(trace)
    return Verdict(name, tuple(arguments), len(trace.events), expected, exact, found)


def small_verdict(name: str, runs: int = 3) -> Verdict:
    """Verdict on a small program.

    Parameters
    ----------
    name : str
        Name in ``SMALL_PROGRAMS``.
    runs : int
        Runs under ThreadSanitizer.
    """
    case = SMALL_PROGRAMS[name]
    trace = record([case.source], [name])
    return _verdict(name, case.source, (name,), trace, case.is_racy, runs)


def program_verdict(name: str, size: str = "tiny", threads: int = 4, runs: int = 3) -> Verdict:
    """Verdict on a program of the catalogue; see :func:`program_trace`."""
    trace = program_trace(name, size, threads)
    program = PROGRAMS[name]
    arguments = program.command_line(size, threads)
    return _verdict(name, program.source, arguments, trace, bool(program.benign_races), runs)


def program_verdicts(
    names: Iterable[str] = tuple(PROGRAMS), size: str = "tiny", threads: int = 4
) -> list[Verdict]:
    """Verdicts on several programs of the catalogue."""
    return [program_verdict(name, size, threads) for name in names]
