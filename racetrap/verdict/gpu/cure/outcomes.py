"""Outcome of runs of edited sources: races at places of the original sources, and what is wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.barracuda.race import RaceClass
from racetrap.golden_model.events import ALL_LANES, EventKind
from racetrap.golden_model.trace import Trace
from racetrap.sim.gpu.editing.edits import Edit, LineMap, edits_of, inserted_lines
from racetrap.sim.gpu.oracle import JUDGE, run_oracle
from racetrap.verdict.gpu.line_races import oracle_races_by_line
from racetrap.verdict.line_pairs import is_unknown

_BARRIER = "a barrier that not all threads of the block reach"
#: Kinds of inserted barriers, and of what tells which threads live.
_BARRIERS = (EventKind.BARRIER, EventKind.WARP_BARRIER)
_LIVES = (EventKind.BLOCK_PLACED, EventKind.EXIT)
_WARP_BARRIER = "a barrier that not all lanes of the warp reach"
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
        far = max(self, other, key=lambda each: each.distance)
        return Threads(far.relation, tuple(dict.fromkeys((*self.calls, *other.calls))))

    @property
    def distance(self) -> int:
        """Number of the relation, the nearest first."""
        return _NEAR.index(self.relation)


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
        """Whether races are gone, and nothing is there that was not before.

        An instruction that the compiler makes of both sides of a branch has no place: its races
        may be any of those that have their other place.
        """
        gone = set(races)
        return self.wrong <= before.wrong and not any(
            _may_be(each, gone) or not _may_be(each, before.races) for each in self.races
        )


def _may_be(race: Places, races: Collection[Places]) -> bool:
    """Whether a race may be one of some."""
    known = frozenset(place for place in race if not is_unknown(place))
    return race in races if known == race else any(known <= each for each in races)


class EditedPlaces:
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
        events = trace.events
        is_barrier = np.isin(events["pc"], list(pcs)) & np.isin(events["kind"], _BARRIERS)
        chosen = events[is_barrier | np.isin(events["kind"], _LIVES)]
        rows = (
            chosen[name].tolist() for name in ("kind", "sm", "slot", "warp", "warp_count", "mask")
        )
        for kind, sm, slot, warp, count, mask in zip(*rows, strict=True):
            if kind == EventKind.BLOCK_PLACED:
                ended.discard((sm, slot))
                lanes.update({(sm, each): ALL_LANES for each in range(warp, warp + count)})
                lanes[sm, warp + count - 1] = mask or ALL_LANES
            elif kind == EventKind.EXIT:
                ended.add((sm, slot))
                lanes[sm, warp] &= ~(mask or ALL_LANES)
            elif kind == EventKind.BARRIER and (sm, slot) in ended:
                yield _BARRIER
            elif kind == EventKind.WARP_BARRIER and mask not in (0, lanes[sm, warp]):
                yield _WARP_BARRIER
