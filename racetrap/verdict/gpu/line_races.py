"""Races of a GPU's trace between lines of its sources: those of the oracle, and a detector's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from racetrap.golden_model.barracuda import Party, Race, RaceClass
from racetrap.golden_model.call_stacks import call_stack, chain_of
from racetrap.golden_model.events import COPY_KINDS, EventKind, Space, TraceHeader
from racetrap.sim.gpu.editing.access_marks import Mark, MemoryAccess, access_mark
from racetrap.verdict.cause import Cause, Instruction, MemoryObject
from racetrap.verdict.gpu.causes import RaceCause
from racetrap.verdict.gpu.findings import Access, Finding
from racetrap.verdict.gpu.memory_names import MemoryNames
from racetrap.verdict.line_pairs import LineRace, Side, place_of
from racetrap.verdict.source_text import source_text

#: Bytes of an access at most.
_MOST_BYTES = 16
#: What a thread does that is no access.
_NAMES = {EventKind.EXIT: "end of the block"}
_IN_A_BLOCK = (RaceClass.DIVERGENCE, RaceClass.INTRA_BLOCK)


def oracle_races_by_line(
    races: Iterable[Race],
    header: TraceHeader,
    outcomes: Sequence[str] = (),
    causes: Sequence[Cause] = (),
) -> Iterator[LineRace]:
    """Races of the oracle.

    Parameters
    ----------
    races : iterable of Race
        Races of one run.
    header : TraceHeader
        Header of its trace, with the source places of program counters.
    outcomes : sequence of str
        A detector's outcome of each; empty without a detector.
    causes : sequence of Cause
        Cause of each; empty if there are no races.
    """

    def side(party: Party, memory: MemoryObject | None, element: str, space: str) -> Side:
        has_thread = party.access not in COPY_KINDS
        return _side(
            party.pc, header, _NAMES.get(party.access, party.access.name.lower().replace("_", " ")),
            f"thread {party.thread} of block {party.grid_block}" * has_thread,
            _known(memory, element, space, party.size),
            {
                "kind": party.access.name.lower(), "pc": party.pc, "event": party.event,
                "grid_block": party.grid_block, "thread": party.thread,
            },
        )  # fmt: skip

    names = MemoryNames(header)
    for number, race in enumerate(races):
        outcome = outcomes[number] if outcomes else ""
        space = race.space.name.lower()
        cause = causes[number] if causes else None
        size = min(filter(None, (race.first.size, race.second.size)), default=1)
        memory, element = names.named(race.space, race.address, race.kernel, size)
        where = _where(memory, element, space, race.address)
        details = {"space": space, "address": race.address, "launch": race.kernel}
        if race.owner is not None:
            where, details = f"{where} of block {race.owner}", details | {"owner": race.owner}
        yield LineRace(
            side(race.first, memory, element, space), side(race.second, memory, element, space),
            race.kind.value,
            cause.missing.reason if cause else race.reason,
            race.race_class.value, f"{where}, launch {race.kernel}",
            race.instances,
            0 if race.race_class in _IN_A_BLOCK else race.block_pairs, outcome=outcome, cause=cause,
            memory_object=memory, element=element, is_least=race.is_least,
            details=details,
        )  # fmt: skip


def named_causes(
    causes: Iterable[RaceCause], header: TraceHeader, events: np.ndarray
) -> list[Cause]:
    """Causes with places instead of program counters."""

    def instruction(pc: int) -> Instruction:
        kind = EventKind(events["kind"][np.argmax(events["pc"] == pc)])
        place = place_of(pc, header.locations)
        chain = chain_of(place, header.frames, header.stacks.get(pc, 0))
        return Instruction(kind.name.lower(), chain, pc)

    return [
        Cause(
            cause.missing, tuple(map(instruction, cause.changes)),
            None if cause.fence is None else instruction(cause.fence),
        )
        for cause in causes
    ]  # fmt: skip


def _side(
    pc: int, header: TraceHeader, access: str, actor: str, known: MemoryAccess,
    details: Mapping[str, Any] = MappingProxyType({}),
) -> Side:  # fmt: skip
    place, frame = place_of(pc, header.locations), header.stacks.get(pc, 0)
    mark = Mark(header.columns.get(pc, 0), 1)
    if mark.column:
        mark = _mark(place, known._replace(kind=access)) or mark
    return Side(
        place, access, actor, mark.column, tuple(call_stack(header.frames, frame)),
        chain_of(place, header.frames, frame), details, width=mark.width,
    )  # fmt: skip


@lru_cache(maxsize=1 << 12)
def _mark(place: str, access: MemoryAccess) -> Mark | None:
    """The part of a line that makes an access, if that is known."""
    path, _, line = place.rpartition(":")
    text = source_text(path)
    return access_mark(text, int(line), access) if text else None


def _known(memory: MemoryObject | None, element: str, space: str, size: int) -> MemoryAccess:
    """What is known of an access besides its kind."""
    if memory is None:
        return MemoryAccess("", "", "", space, size)
    if memory.origin.startswith("allocated"):
        # A pointer of that name may point to another element than the first.
        element = re.sub(r"^\[\d+\]", "", element)
    return MemoryAccess("", memory.name, element, space, size)


def finding_races(header: TraceHeader, events: np.ndarray) -> Callable[[Finding], LineRace]:
    """What makes races of those that a detector reports in a trace with a header and events."""
    names, begins = MemoryNames(header), np.flatnonzero(events["kind"] == EventKind.KERNEL_BEGIN)

    def race(finding: Finding) -> LineRace:
        report, last = finding.report, finding.access.event
        launch = max(int(np.searchsorted(begins, last)) - 1, 0)
        size = _least_size(events, finding.earlier.event, last)
        space = Space[report.space.upper()]
        memory, element = names.named(space, report.address, launch, size)
        where = _where(memory, element, report.space, report.address)

        def side(access: Access) -> Side:
            actor = f"warp {access.warp} of block {access.grid_block}"
            known = _known(memory, element, report.space, int(events["size"][access.event]))
            return _side(access.pc, header, access.kind, actor, known)

        return LineRace(
            side(finding.earlier), side(finding.access), report.kind_words, report.reason,
            f"{report.race_scope.name.lower()} scope", where, memory_object=memory,
            element=element,
        )  # fmt: skip

    return race


def _least_size(events: np.ndarray, *numbers: int) -> int:
    """Bytes of the smallest of some accesses."""
    sizes = events["size"][list(numbers)]
    return int(sizes[sizes > 0].min(initial=_MOST_BYTES)) if sizes.any() else 1


def _where(memory: MemoryObject | None, element: str, space: str, address: int) -> str:
    """What is accessed, in words."""
    has_name = memory is not None and memory.name
    return f"{memory.name}{element}" if memory and has_name else f"{space} address {address:#x}"
