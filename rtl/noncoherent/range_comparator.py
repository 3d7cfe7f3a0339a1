"""Range comparator: how entries will lie to a range once a change that is under way is done.

Ref: ``golden_model/noncoherent/interval_cam.py`` (what changes do).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.bits import one_hot_select
from racetrap.rtl.noncoherent.layouts import range_layout

__all__ = ["RangeComparator", "change_layout", "relation_layout"]


def relation_layout(entries: int) -> data.StructLayout:
    """A bit an entry, and last one of the entry that is new: it ends behind the range's first
    byte, begins before its end, has bytes to its left, to its right."""
    return data.StructLayout({
        name: data.ArrayLayout(1, entries + 1) for name in ("reaches", "begins", "left", "right")
    })  # fmt: skip


def change_layout(params: NoncoherentParams) -> data.StructLayout:
    """A change of entries: one that takes ``lower`` and ``upper`` into a new entry, or cuts them.

    ``lower`` and ``upper`` are the entries that meet its range and have bytes to the left or to
    the right, ``fresh`` the slot of the entry that is new, if one is.
    """
    return data.StructLayout({
        "is_insert": 1, "is_remove": 1, "range": range_layout(params),
        "lower": params.entries, "upper": params.entries, "fresh": params.entries,
    })  # fmt: skip


class RangeComparator(wiring.Component):
    """Compares a range with all entries as they are after a change of this cycle.

    Combinational.  No comparison waits for the change: an entry that is new begins and ends where
    the change's range or an old entry does, and all of these are compared at once.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.

    Members
    -------
    i_range : ``In({first, end})``
        The range.
    i_touch : ``In(1)``
        Entries reach it, and begin before its end, if they touch it, too.
    i_entries : ``In({first, end} of each entry)``
        Entries before the change.
    i_change : ``In(change_layout)``
        The change.
    o_relation : ``Out(relation_layout)``
        How valid entries lie after it; anything for others.  Of the slot that gets the new entry
        it says how what was there lies.
    """

    def __init__(self, params: NoncoherentParams):
        self._params = params
        super().__init__({
            "i_range": In(range_layout(params)),
            "i_touch": In(1),
            "i_entries": In(data.ArrayLayout(range_layout(params), params.entries)),
            "i_change": In(change_layout(params)),
            "o_relation": Out(relation_layout(params.entries)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        change, relation = self.i_change, self.o_relation
        entries = list(self.i_entries)
        ends = [self._of_end(m, f"end_{slot}", entry.end) for slot, entry in enumerate(entries)]
        firsts = [
            self._of_first(m, f"first_{slot}", entry.first) for slot, entry in enumerate(entries)
        ]
        first, end = change.range.first, change.range.end
        end_at_first, end_at_end = (
            self._of_end(m, f"cut_{name}", point)
            for name, point in (("end", first), ("whole", end))
        )
        first_at_first, first_at_end = (
            self._of_first(m, f"cut_{name}", point)
            for name, point in (("begin", first), ("rest", end))
        )
        # What is selected is known before comparisons are done: only ANDs and ORs follow them.
        keeps_first = change.lower & change.is_insert.replicate(len(entries))
        fresh_end = one_hot_select(Cat(change.upper, ~change.upper.any()), [*ends, end_at_end])
        fresh_first = one_hot_select(
            Cat(keeps_first, change.is_insert & ~change.lower.any(), ~change.is_insert),
            [*firsts, first_at_first, first_at_end],
        )
        m.d.comb += [
            Cat(relation.reaches[-1], relation.right[-1]).eq(fresh_end),
            Cat(relation.begins[-1], relation.left[-1]).eq(fresh_first),
        ]
        for slot in range(len(entries)):
            cuts_end = change.is_remove & change.lower[slot]
            cuts_first = change.is_remove & change.upper[slot] & ~change.lower[slot]
            m.d.comb += [
                Cat(relation.reaches[slot], relation.right[slot]).eq(
                    Mux(cuts_end, end_at_first, ends[slot])
                ),
                Cat(relation.begins[slot], relation.left[slot]).eq(
                    Mux(cuts_first, first_at_end, firsts[slot])
                ),
            ]
        return m

    def _of_end(self, m: Module, name: str, point: Value) -> Signal:
        """Whether an entry that ends there reaches the range, and has bytes to its right."""
        # One bit more turns `less` into `less or equal` without another comparison.
        reaches = Cat(self.i_touch, point) > Cat(Const(0, 1), self.i_range.first)
        relation = Signal(2, name=name)
        m.d.comb += relation.eq(Cat(reaches, point > self.i_range.end))
        return relation

    def _of_first(self, m: Module, name: str, point: Value) -> Signal:
        """Whether an entry that begins there begins before its end, and has bytes to its left."""
        begins = Cat(Const(0, 1), point) < Cat(self.i_touch, self.i_range.end)
        relation = Signal(2, name=name)
        m.d.comb += relation.eq(Cat(begins, point < self.i_range.first))
        return relation
