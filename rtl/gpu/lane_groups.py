"""Lane groups: the active lanes of an instruction by what each accesses, group after group.

Ref: ScoRD (ISCA'20) Section IV, Table V for the line size.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.rtl.common.bits import is_less, lowest_one_hot, one_hot_select

#: Lanes of which the one with the least key is found by comparisons made once for an instruction.
_TOGETHER = 4


class LaneGroups(wiring.Component):
    """Finds a lane that leads, and the lanes with the same key; then the next, until none is left.

    The lowest lane left leads, or with ``ascending`` one with the least key.  The first lead is
    valid two cycles after the start, three with ``ascending``.  A next one follows in the next
    cycle, unless the lane that was chosen meanwhile has left with the group: that takes a cycle.

    Parameters
    ----------
    lanes : int
        Lanes of a warp.
    key_bits : int
        Bits of a key.
    low_bits : int
        Low bits of a key in which lanes that are near may differ.
    ascending : bool
        Whether groups come by ascending keys.

    Members
    -------
    i_start : ``In(1)``
        Begin again with ``i_lanes``; their keys are valid from the next cycle on.
    i_lanes : ``In(lanes)``
        Active lanes.
    i_keys : ``In(lanes * key_bits)``
        Key of each lane, stable until the last group has left.
    i_next : ``In(1)``
        The lead is valid and leaves, with the lanes ``i_group``.
    i_group : ``In(lanes)``
        Lanes that leave, the lead one of them.
    o_valid, o_lead : ``Out(1)``, ``Out(lanes)``
        There is a lead; its bit.
    o_key : ``Out(key_bits)``
        Its key.
    o_same, o_near : ``Out(lanes)``
        Active lanes with that key, and with that but for its low bits, gone or not.
    o_left : ``Out(lanes)``
        Lanes that have not left.
    o_busy : ``Out(1)``
        Some lanes are left, or may be.
    """

    def __init__(self, lanes: int, key_bits: int, *, low_bits: int = 0, ascending: bool = False):
        self._lanes, self._bits = lanes, key_bits
        self._low_bits, self._ascending = low_bits, ascending
        super().__init__({
            "i_start": In(1),
            "i_lanes": In(lanes),
            "i_keys": In(lanes * key_bits),
            "i_next": In(1),
            "i_group": In(lanes),
            "o_valid": Out(1),
            "o_lead": Out(lanes),
            "o_key": Out(key_bits),
            "o_same": Out(lanes),
            "o_near": Out(lanes),
            "o_left": Out(lanes),
            "o_busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        keys = [self.i_keys.word_select(lane, self._bits) for lane in range(self._lanes)]
        left, pool = self.o_left, Signal(self._lanes, name="pool")
        active = Signal(self._lanes, name="active", reset_less=True)
        has_lead, begins, compares = (
            Signal(name=name) for name in ("has_lead", "begins", "compares")
        )
        chosen, key = Signal(self._lanes, name="chosen"), Signal(self._bits, name="key")
        if self._ascending:
            self._choose_least(m, chosen, key, pool, keys)
        else:
            m.d.comb += [chosen.eq(lowest_one_hot(pool)), key.eq(one_hot_select(chosen, keys))]
        near, same = Signal(self._lanes, name="near"), Signal(self._lanes, name="same")
        low = self._low_bits
        m.d.comb += [
            near.eq(Cat(each[low:] == self.o_key[low:] for each in keys)),
            same.eq(Cat(each[:low] == self.o_key[:low] for each in keys)),
        ]
        m.d.comb += [
            # The group that leaves is not known before the next lead is chosen.
            pool.eq(left & ~Mux(has_lead, self.o_lead, 0)),
            self.o_valid.eq(has_lead & (self.o_lead & left).any()),
            self.o_busy.eq(has_lead | begins | compares),
            self.o_near.eq(near & active),
            self.o_same.eq(near & same & active),
        ]
        with m.If(self.i_next):
            m.d.sync += left.eq(left & ~self.i_group)
        with m.If(begins | (has_lead & (self.i_next | ~self.o_valid))):
            m.d.sync += [has_lead.eq(pool.any()), self.o_lead.eq(chosen), self.o_key.eq(key)]
        m.d.sync += [begins.eq(compares), compares.eq(0)]
        with m.If(self.i_start):
            m.d.sync += [
                left.eq(self.i_lanes), active.eq(self.i_lanes), has_lead.eq(0),
                (compares if self._ascending else begins).eq(1),
            ]  # fmt: skip
        return m

    def _choose_least(
        self, m: Module, chosen: Value, key: Value, pool: Value, keys: list[Value]
    ) -> None:
        """Find a lane of the pool with the least key, and the key.

        Of a few lanes each, the order was found before; only the least ones are compared.
        """
        firsts, heads = [], []
        for first in range(0, self._lanes, _TOGETHER):
            own = keys[first : first + _TOGETHER]
            ahead = Signal(len(own), name=f"ahead_{first}")
            head = Signal(self._bits, name=f"head_{first}")
            known = self._order(m.d.sync, own, f"known_{first}")
            m.d.comb += [
                ahead.eq(_first(pool[first : first + len(own)], known)),
                head.eq(one_hot_select(ahead, own)),
            ]
            firsts.append(ahead)
            heads.append(head)
        some, least = Signal(len(heads), name="some"), Signal(len(heads), name="least")
        order = self._order(m.d.comb, heads, "now")
        m.d.comb += [
            some.eq(Cat(ahead.any() for ahead in firsts)),
            least.eq(_first(some, order)),
            chosen.eq(
                Cat(Mux(is_least, ahead, 0) for ahead, is_least in zip(firsts, least, strict=True))
            ),
            key.eq(one_hot_select(least, heads)),
        ]

    def _order(self, domain: Any, keys: list[Value], name: str) -> dict[tuple[int, int], Value]:
        """Whether the second of two keys is less than the first, by their places."""
        precedes = {}
        for one, other in combinations(range(len(keys)), 2):
            precedes[one, other] = is_second = Signal(name=f"{name}_{one}_{other}")
            domain += is_second.eq(is_less(keys[other], keys[one]))
        return precedes


def _first(some: Value, precedes: dict[tuple[int, int], Value]) -> Value:
    """The first in order of those in ``some``; of equal ones that of the lower place."""
    return Cat(
        bit
        & ~Cat(
            some[other] & (precedes[place, other] if place < other else ~precedes[other, place])
            for other in range(len(some))
            if other != place
        ).any()
        for place, bit in enumerate(some)
    )
