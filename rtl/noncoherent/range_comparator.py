"""Range comparator: relation of entries to a range, before and after a change.

Ref: ``golden_model/noncoherent/interval_cam.py`` (what changes do).
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.common.bits import is_less
from racetrap.rtl.noncoherent.layouts import range_layout


def relation_layout(count: int) -> data.StructLayout:
    """Relation of intervals to a range, a bit each: an interval ends behind the range's first byte,
    has bytes to its right, begins before its end, has bytes to its left."""
    return data.StructLayout(dict.fromkeys(("reaches", "right", "begins", "left"), count))


def change_layout(params: NoncoherentParams) -> data.StructLayout:
    """A change of entries: merges ``lower`` and ``upper`` into a new entry, or cuts them.

    ``overlap`` are the entries that overlap its range, ``lower`` and ``upper`` those of them that
    have bytes to the left and to the right; ``free`` is the slot of the new entry, if there is one.
    """
    return data.StructLayout({
        "is_insert": 1, "is_remove": 1, "range": range_layout(params),
        **dict.fromkeys(("overlap", "lower", "upper", "free"), params.entries),
    })  # fmt: skip


class RangeComparator(wiring.Component):
    """Compares a range with intervals: entries, the range of a change, and what lies around it.

    Combinational.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.
    ranges : int
        Ranges of changes.

    Members
    -------
    i_range : ``In({first, end})``
        The range.
    i_touch : ``In(1)``
        Count intervals that only touch it as reaching it and as beginning before its end.
    i_entries : ``In({first, end} of each entry)``
        Entries.
    i_ranges : ``In({first, end} of each range)``
        Ranges of changes; an entry cut by one ends where it begins, or begins where it ends.
    o_entries : ``Out(relation_layout)``
        Relation of the entries.
    o_ranges : ``Out(relation_layout of two for each range)``
        Relation of each range, and of an interval that begins where it ends and ends where it
        begins.
    """

    def __init__(self, params: NoncoherentParams, ranges: int):
        one = range_layout(params)
        super().__init__({
            "i_range": In(one),
            "i_touch": In(1),
            "i_entries": In(data.ArrayLayout(one, params.entries)),
            "i_ranges": In(data.ArrayLayout(one, ranges)),
            "o_entries": Out(relation_layout(params.entries)),
            "o_ranges": Out(data.ArrayLayout(relation_layout(2), ranges)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        entries = [(entry.first, entry.end) for entry in self.i_entries]
        self._compare(m, self.o_entries, entries)
        for relation, change in zip(self.o_ranges, self.i_ranges, strict=True):
            self._compare(m, relation, [(change.first, change.end), (change.end, change.first)])
        return m

    def _compare(self, m: Module, relation: data.View, intervals: list) -> None:
        first, end = self.i_range.first, self.i_range.end
        for number, (begin, behind) in enumerate(intervals):
            m.d.comb += [
                # One bit more turns `less` into `less or equal` without another comparison.
                relation.reaches[number].eq(
                    is_less(Cat(Const(0, 1), first), Cat(self.i_touch, behind))
                ),
                relation.right[number].eq(is_less(end, behind)),
                relation.begins[number].eq(
                    is_less(Cat(Const(0, 1), begin), Cat(self.i_touch, end))
                ),
                relation.left[number].eq(is_less(begin, first)),
            ]


def left_by(
    change: data.View, entries: data.View, of_change: data.View
) -> tuple[dict[str, Value], dict[str, Value]]:
    """Relation of entries to a range after a change.

    Parameters
    ----------
    change : View of change_layout
        The change.
    entries, of_change : View of relation_layout
        Relation to the range of the entries before it, and of the two intervals of the change.

    Returns
    -------
    tuple of dict
        The relation of entries that stay, and of the new one, if there is one.
    """
    count = len(change.lower)
    removes = change.is_remove.replicate(count)
    cuts_end, cuts_first = change.lower & removes, change.upper & removes & ~change.lower
    stays, new = {}, {}
    for name, cuts in (("reaches", cuts_end), ("right", cuts_end),
                       ("begins", cuts_first), ("left", cuts_first)):  # fmt: skip
        whole, around = of_change[name]
        old = entries[name]
        stays[name] = (old & ~cuts) | (cuts & around.replicate(count))
        if name in ("reaches", "right"):
            # An upper entry ends behind the change's range, so what holds for the range's end holds
            # for the entry's, too: nothing has to be deselected.
            new[name] = Cat(old & change.upper, whole).any()
        else:
            taken = change.lower & change.is_insert.replicate(count)
            new[name] = Cat(old & taken, whole & change.is_insert, around).any()
    return stays, new
