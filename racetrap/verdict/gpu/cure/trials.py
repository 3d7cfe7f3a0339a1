"""Trials of edited sources: what races in them in some runs, and what else goes wrong."""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from racetrap.golden_model.barracuda.race import RaceClass
from racetrap.golden_model.events import ALL_LANES, EventKind
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.editing.edits import (
    Edit,
    LineMap,
    diff,
    edited,
    edits_of,
    inserted_lines,
    replacements,
)
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.sim.gpu.stress.subject import Subject
from racetrap.verdict.cause import Cure
from racetrap.verdict.gpu.line_races import oracle_races_by_line
from racetrap.verdict.source_text import relative_place

_BARRIER = "a barrier that not all threads of the block reach"
_WARP_BARRIER = "a barrier that not all lanes of the warp reach"
#: What is wrong with a run that loads from outside all memory, and goes on.
OUTSIDE = "a load from outside memory"
#: Relations of threads, the nearest first.
_NEAR = list(RaceClass)
#: A barrier of the whole block or warp.
_WHOLE = re.compile(r"__sync(?:threads|warp)\(\)")
#: Places of the two accesses of a race.
Places = frozenset[str]


class Threads(NamedTuple):
    """How the two threads of a race came to its accesses.

    Parameters
    ----------
    relation : RaceClass
        Their relation; of several the widest.
    calls : tuple of str
        Places in the original sources of the calls of the functions of the accesses, inner ones
        first.
    """

    relation: RaceClass
    calls: tuple[str, ...]

    def __or__(self, other: Threads) -> Threads:
        relation = max(self.relation, other.relation, key=_NEAR.index)
        return Threads(relation, tuple(dict.fromkeys((*self.calls, *other.calls))))


@dataclass(frozen=True)
class Outcome:
    """What some runs have shown.

    Parameters
    ----------
    races : mapping of Places to Threads
        Races by their places in the original sources.
    wrong : frozenset of str
        What else is wrong: faults, results, barriers that some threads do not reach.
    """

    races: Mapping[Places, Threads] = field(default_factory=dict)
    wrong: frozenset[str] = frozenset()

    def __or__(self, other: Outcome) -> Outcome:
        races = dict(self.races)
        for places, threads in other.races.items():
            races[places] = races.get(places, threads) | threads
        return Outcome(races, self.wrong | other.wrong)

    def cures(self, races: Iterable[Places], before: Outcome) -> bool:
        """Whether races are gone, and nothing is there that was not before."""
        is_no_worse = self.races.keys() <= before.races.keys() and self.wrong <= before.wrong
        return is_no_worse and self.races.keys().isdisjoint(races)


class Program(ABC):
    """What has been compiled from sources, and runs.

    Every run differs by its number; the first takes warps in turn.
    """

    @abstractmethod
    def run(self, number: int) -> tuple[Trace | None, set[str]]:
        """Trace of a run, and what is wrong with it; no trace if it cannot be run."""

    @abstractmethod
    def subject(self) -> Subject:
        """It as a subject of stress.

        Raises
        ------
        ValueError
            If it is wrong already in sequentially consistent memory.
        """


#: Makes the program of the sources in a folder; ``None`` if they do not compile.
Compiler = Callable[[Path], Program | None]


class OutOfTime(Exception):
    """The time for trials is up."""


class Sources:
    """Sources that may be edited, and trials of them.

    Parameters
    ----------
    folder : Path
        Where they are.
    texts : mapping of str to bytes
        Those that are compiled or included, by name below the folder, as places in traces have it.
    compiler : Compiler
        Compiles a copy of them, in another folder.

    Attributes
    ----------
    trials : int
        Compiled versions so far.
    end : float
        When no run may begin any more, by the monotonic clock.
    """

    def __init__(self, folder: Path, texts: Mapping[str, bytes], compiler: Compiler) -> None:
        self.folder, self.texts = folder, texts
        self._compiler, self.trials, self.end = compiler, 0, float("inf")

    @contextmanager
    def compiled(self, edits: Sequence[Edit]) -> Iterator[Program | None]:
        """The program with edits, as long as the context lasts; ``None`` if it does not compile."""
        self.trials += 1
        with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
            folder = Path(name).resolve()
            for file, text in self.texts.items():
                target = folder / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(edited(text, edits_of(edits, file)))
            yield self._compiler(folder)

    def require_time(self) -> None:
        """Raise ``OutOfTime`` if no run may begin any more."""
        if monotonic() > self.end:
            raise OutOfTime

    def cure(self, edits: tuple[Edit, ...]) -> Cure:
        """A cure by edits, with all that reports show of it."""
        names = {name: name for name in self.texts}
        edits = tuple(map(self._named, edits))
        return Cure(
            edits, replacements=replacements(self.texts, edits, self.folder),
            diff=diff(self.texts, edits, names),
        )  # fmt: skip

    def _named(self, edit: Edit) -> Edit:
        """An edit that names its source as reports do."""
        name = relative_place(f"{(self.folder / edit.file).resolve()}:")
        return replace(edit, words=edit.words.replace(f" {edit.file}:", f" {name}"))

    def compiles(self, edits: Sequence[Edit]) -> bool:
        """Whether the program with edits compiles."""
        with self.compiled(edits) as program:
            return program is not None

    def outcome(
        self, edits: Sequence[Edit], runs: range,
        is_enough: Callable[[Outcome], bool] = lambda outcome: False,
    ) -> Outcome | None:  # fmt: skip
        """What runs of the program with edits show, up to where that is enough; ``None`` if it does
        not compile.

        Raises
        ------
        OutOfTime
            If time is up before.
        """
        self.require_time()
        with self.compiled(edits) as program:
            if program is None:
                return None
            found, edited_places = Outcome(), _EditedPlaces(self.texts, edits)
            for number in runs:
                self.require_time()
                trace, wrong = program.run(number)
                found |= Outcome(wrong=frozenset(wrong))
                if trace is not None:
                    found |= edited_places.outcome(trace)
                if is_enough(found):
                    break
            return found


class _EditedPlaces:
    """Places in edited sources, and what a trace of these shows at the original ones.

    Parameters
    ----------
    texts : mapping of str to bytes
        The original sources by name.
    edits : sequence of Edit
        Edits of them.
    """

    def __init__(self, texts: Mapping[str, bytes], edits: Sequence[Edit]) -> None:
        own = {file: edits_of(edits, file) for file in texts}
        self._lines = {file: LineMap(text, own[file]) for file, text in texts.items()}
        #: Lines of barriers that were inserted.
        self._added = {
            f"{file}:{line}"
            for file, text in texts.items() for line in inserted_lines(text, own[file], _WHOLE)
        }  # fmt: skip

    def outcome(self, trace: Trace) -> Outcome:
        """Races in a trace, and what is wrong with barriers."""
        header = trace.header
        result = run_oracle(trace, JUDGE, bool(header.independent_threads))
        races: dict[Places, Threads] = {}
        for race in oracle_races_by_line(result, header):
            places = frozenset(map(self._original, race.places))
            calls = (frame.place for _, side in race.sides for frame in side.stack if frame.place)
            threads = Threads(RaceClass(race.relation), tuple(map(self._original, calls)))
            races[places] = races.get(places, threads) | threads
        wrong = {
            *self._missed_barriers(trace), *(_BARRIER for _ in result.barrier_divergences),
        }  # fmt: skip
        return Outcome(races, frozenset(wrong))

    def _original(self, place: str) -> str:
        """The place in the original sources of one in the edited ones."""
        file, _, line = place.rpartition(":")
        return f"{file}:{self._lines[file].original(int(line))}" if file in self._lines else place

    def _missed_barriers(self, trace: Trace) -> Iterator[str]:
        """What is wrong with inserted barriers: threads that had ended, or that are elsewhere."""
        pcs = {pc for pc, place in trace.header.locations.items() if place in self._added}
        if not pcs:
            return
        lanes: dict[tuple[int, int], int] = {}
        ended: set[tuple[int, int]] = set()
        for event in trace:
            block = event.sm, event.slot
            if event.kind == EventKind.BLOCK_PLACED:
                ended.discard(block)
                last = event.warp + event.warp_count - 1
                for warp in range(event.warp, last + 1):
                    lanes[event.sm, warp] = event.mask if warp == last and event.mask else ALL_LANES
            elif event.kind == EventKind.EXIT:
                ended.add(block)
                lanes[event.sm, event.warp] &= ~(event.mask or ALL_LANES)
            elif event.pc not in pcs:
                continue
            elif event.kind == EventKind.BARRIER and block in ended:
                yield _BARRIER
            elif event.kind == EventKind.WARP_BARRIER and event.mask not in (
                0,
                lanes[event.sm, event.warp],
            ):
                yield _WARP_BARRIER
