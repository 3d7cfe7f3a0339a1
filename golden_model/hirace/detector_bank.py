"""Detector bank: the entries of its words, and the state machine on them.

Ref: HiRace (SC'24).
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from racetrap.golden_model.gpu.entry_locator import entry_of
from racetrap.golden_model.gpu.model import Counters, GpuDetectorBank, has, one_for_each
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.hirace.packets import Packet, RaceKind, Step, race_kind
from racetrap.golden_model.hirace.params import STATE_BITS, HiraceParams
from racetrap.golden_model.hirace.states import Access, State
from racetrap.golden_model.hirace.transitions import FIRST, TRANSITIONS

_RACE: Final = int(State.RACE)
_STATE_MASK: Final = (1 << STATE_BITS) - 1
_RACE_KINDS: Final = {
    (int(state), int(access)): int(race_kind(state, access)) for state in State for access in Access
}
_FIRST: Final = tuple(int(FIRST[access]) for access in Access)


class Counted(NamedTuple):
    """Fields of a step that counters use."""

    kind: Any
    monitored: Any
    race: Any
    read_error: Any


#: Counters of the bank.
COUNTERS: Final[Counters] = {
    "accesses": has("monitored", 1),
    "unmonitored": has("monitored", 0),
    **one_for_each(RaceKind, "race", "races"),
    "metadata_read_errors": has("read_error", 1),
}


class DetectorBank(GpuDetectorBank):
    """Checks packets in the order in which they arrive.

    Parameters
    ----------
    params : HiraceParams
        Configuration.
    region : Region
        Monitored region.

    Attributes
    ----------
    entries
        As of ``GpuDetectorBank``.

    Raises
    ------
    ValueError
        If the region cannot be used with the parameters.
    """

    counted, counter_table = Counted, COUNTERS

    def __init__(self, params: HiraceParams, region: Region) -> None:
        super().__init__(params, region)
        layout = params.entry_layout
        self._warp, self._block = layout.offset("warp"), layout.offset("block")
        self._lane = layout.offset("lane")
        self._generation = layout.offset("generation")
        self._barriers = layout.offset("barriers")
        self._warp_barriers = layout.offset("warp_barriers")
        self._barrier_mask = (1 << params.barrier_bits) - 1
        self._warp_barrier_mask = (1 << params.warp_barrier_bits) - 1
        self._thread_mask = (1 << params.thread_layout.width) - 1

    def step(self, packet: Packet, read_error: bool = False) -> Step:
        """Check one packet.

        Parameters
        ----------
        packet : Packet
            Access of a lane to a word.
        read_error : bool
            Whether the metadata memory answers this access with an error; the entry is then
            taken as uninitialised.
        """
        index = entry_of(self._params, self._region, packet)
        if index is None:
            self._counted[packet.kind, 0, 0, 0] += 1
            return Step(packet, 0, 0, 0, 0, 0, 0, 0)
        before = 0 if read_error else self.entries.get(index, 0)
        kind, scope, _, lane, warp, block, generation, barriers, warp_barriers, _, _ = packet
        thread = (
            lane << self._lane | warp << self._warp | block << self._block
            | generation << self._generation
        )  # fmt: skip
        relation = self._relation((before ^ thread) >> self._lane & self._thread_mask)
        if before >> self._barriers & self._barrier_mask != barriers:
            sync = 2
        else:
            sync = int(before >> self._warp_barriers & self._warp_barrier_mask != warp_barriers)
        state, access = before & _STATE_MASK, kind + scope
        following = TRANSITIONS[((state << 2 | access) * 3 + sync) << 2 | relation]
        race = 0
        if following == _RACE and state != _RACE:
            race = _RACE_KINDS[state, access]
            if self._params.begin_anew:
                following = _FIRST[access]
        after = following | thread | barriers << self._barriers
        after |= warp_barriers << self._warp_barriers
        self.entries[index] = after
        self._counted[kind, 1, race, int(read_error)] += 1
        return Step(packet, 1, sync, relation, race, int(read_error), before, after)

    def _relation(self, difference: int) -> int:
        """Widest unit that two threads share, by the bits in which their identities differ."""
        if not difference:
            return 0
        if not difference >> self._warp - self._lane:
            return 1
        return 2 if not difference >> self._block - self._lane else 3
