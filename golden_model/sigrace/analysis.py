"""Analysis: accesses of the conflicting threads that hit the Conflict Signatures, and races.

Ref: SigRace (ISCA'09) Section 3.4.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from racetrap.golden_model.happens_before.epoch_index import CollectedAccess
from racetrap.golden_model.happens_before.race import RaceParty, ThreadRace
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import (
    CoreEvent,
    CoreOp,
    LogEntry,
    Mode,
    Relation,
)
from racetrap.golden_model.sigrace.params import ADDRESS_BITS, WORD_BITS, SigraceParams
from racetrap.golden_model.sigrace.timestamp import relation
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2, bytes_used

_CONFLICTING = 1 << 2  # the CT flag of CoreOp.MODE
_ADDRESS_MASK = (1 << ADDRESS_BITS) - 1
_WORD_MASK = (1 << WORD_BITS) - 1


class Hit(NamedTuple):
    """A trap record, completed by information from the trap handler.

    Parameters
    ----------
    number : int
        Number of the access's event in the trace.
    granule : int
        Byte address of the granule, including bits above those in signatures.
    pc : int
        Instruction.
    is_write : bool
        Whether it writes.
    bytes_used : int
        A bit for each byte of the granule that the access touches.
    """

    number: int
    granule: int
    pc: int
    is_write: bool
    bytes_used: int


class AnalysisPass:
    """Conflicts that one Re-execution and Analysis can handle together.

    Each conflicting thread stops at one epoch, and none of these is ordered after another.

    Attributes
    ----------
    stops : dict of int to tuple of int
        Timestamp of the epoch at which each conflicting thread stops.
    signatures : dict of int to int
        Conflict Signature of each conflicting thread: the union over all its conflicts.
    entries : list of LogEntry
        The conflicts.
    """

    def __init__(self) -> None:
        self.stops: dict[int, tuple[int, ...]] = {}
        self.signatures: dict[int, int] = {}
        self.entries: list[LogEntry] = []

    def add(self, entry: LogEntry) -> bool:
        """Add a conflict, if its stops are compatible with those of the others."""
        parties = (
            (entry.thread, entry.thread_timestamp),
            (entry.other, entry.other_timestamp),
        )
        if not all(self._fits(thread, timestamp) for thread, timestamp in parties):
            return False
        for thread, timestamp in parties:
            self.stops[thread] = timestamp
            self.signatures[thread] = self.signatures.get(thread, 0) | entry.signature
        self.entries.append(entry)
        return True

    def _fits(self, thread: int, timestamp: tuple[int, ...]) -> bool:
        if thread in self.stops:
            return self.stops[thread] == timestamp
        return all(
            relation(stop, other, timestamp, thread) == Relation.UNORDERED
            for other, stop in self.stops.items()
        )


def plan_passes(entries: Iterable[LogEntry]) -> list[AnalysisPass]:
    """Put each conflict into the first compatible pass."""
    passes: list[AnalysisPass] = []
    for entry in entries:
        if not any(each.add(entry) for each in passes):
            passes.append(AnalysisPass())
            passes[-1].add(entry)
    return passes


def analysis_events(
    params: SigraceParams, thread: int, timestamp: Sequence[int], signature: int
) -> list[CoreEvent]:
    """Events that bring a core unit to the start of an epoch to be analysed.

    Re-execution has given the thread the timestamp of its epoch, the last one that its TRT had;
    then it enters Analysis as a conflicting thread.

    Parameters
    ----------
    params : SigraceParams
        Configuration.
    thread : int
        SigRaceID.
    timestamp : sequence of int
        Timestamp of the epoch.
    signature : int
        Conflict Signature of the thread.
    """
    words = (signature >> WORD_BITS * word for word in range(params.signature_words))
    return [
        CoreEvent(CoreOp.RESET),
        CoreEvent(CoreOp.SWITCH_IN, index=thread),
        CoreEvent(CoreOp.MODE, data=Mode.REEXECUTION),
        *(CoreEvent(CoreOp.TRT_WRITE, ts, index=i) for i, ts in enumerate(timestamp)),
        *(CoreEvent(CoreOp.TS_WRITE, ts, index=i) for i, ts in enumerate(timestamp)),
        *(CoreEvent(CoreOp.CONFLICT_WRITE, w & _WORD_MASK, index=i) for i, w in enumerate(words)),
        CoreEvent(CoreOp.MODE, data=Mode.ANALYSIS | _CONFLICTING),
        CoreEvent(CoreOp.COLLECT_ON),
    ]


def hits(
    unit: CoreUnit, setup: Iterable[CoreEvent], accesses: Iterable[CollectedAccess]
) -> Iterator[Hit]:
    """Trap records of an epoch.

    Traps are precise: the handler sees the whole address and PC of the access, of which the
    hardware's record may hold fewer bits.

    Parameters
    ----------
    unit : CoreUnit
        Unit of the thread; ``setup`` begins with its RESET.
    setup : iterable of CoreEvent
        ``analysis_events`` of the epoch.
    accesses : iterable of CollectedAccess
        Accesses in the epoch; those that hit no Conflict Signature may be left out.
    """
    for event in setup:
        unit.take(event)
    pc_mask = (1 << unit.params.pc_bits) - 1
    for access in accesses:
        number, address, size, pc, is_write = access
        op = CoreOp.STORE if is_write else CoreOp.LOAD
        unit.take(CoreEvent(op, address & _ADDRESS_MASK, size, pc=pc & pc_mask))
        for trap in unit.traps:
            first = address >> GRANULE_LOG2 << GRANULE_LOG2
            granule = first + (trap.address - first & _ADDRESS_MASK)
            used = bytes_used(granule, address, size)
            yield Hit(number, granule, pc, bool(trap.is_write), used)
        unit.traps.clear()
    unit.blocks.clear()


def races_of(
    found: Mapping[RaceParty, Iterable[tuple[int, int, int]]],
) -> tuple[set[ThreadRace], set[ThreadRace]]:
    """Pairs of hits of different threads in unordered epochs.

    Parameters
    ----------
    found : mapping
        For each instruction of each thread, (granule, allocation, bytes used) of its hits.

    Returns
    -------
    races : set of ThreadRace
        Pairs that share a byte.
    false_sharing : set of ThreadRace
        The others, which share only their granule.
    """
    places: defaultdict[tuple[int, int], list[tuple[RaceParty, int]]] = defaultdict(list)
    for party, where in found.items():
        for granule, life, used in where:
            places[granule, life].append((party, used))
    races: set[ThreadRace] = set()
    false_sharing: set[ThreadRace] = set()
    for (granule, _), hits_there in places.items():
        for (one, used), (other, other_used) in combinations(hits_there, 2):
            if one.thread != other.thread and (one.is_write or other.is_write):
                kind = races if used & other_used else false_sharing
                kind.add(ThreadRace.of(granule, one, other))
    return races, false_sharing - races
