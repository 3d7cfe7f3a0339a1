"""Harness for proofs on the interval CAM: one byte, any byte, watched beside the entries.

What is watched of the byte is what an exact set says: ``held`` from the insertion that has it to
the removal that has it, ``sure`` the same of insertions that are precise.
"""

from __future__ import annotations

from types import ModuleType

from amaranth.hdl import Assert, Assume, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.rtl.noncoherent.compactor import Compactor


class _AnyCompactor(Compactor):
    """Merges, some time after a set is full, any two entries with none between them.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.
    choice : tuple of Signal
        Inputs of the harness: whether it merges now, the lower of the two entries as one bit,
        the upper one of the next cycle, others.
    """

    def __init__(self, params: NoncoherentParams, choice: tuple[Signal, Signal, Signal, Signal]):
        self._choice = choice
        super().__init__(params)

    def elaborate(self, platform):
        m = Module()
        merges, low, wanted, others = self._choice
        was_full, high = Signal(), Signal.like(wanted)
        m.d.sync += [was_full.eq(self.i_full), high.eq(wanted)]
        m.d.comb += [
            self.o_ready.eq(~self.i_full),
            self.o_is_reading.eq(self.i_full),
            self.o_slot.eq(wanted),
            self.o_merge.eq(merges & self.i_full & was_full),
            self.o_low.eq(low),
            self.o_high.eq(high),
            self.o_others.eq(others),
        ]
        return m


class CamHarness(wiring.Component):
    """An interval CAM with free inputs that keep its rules, and what must hold of a byte.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration.
    modules : dict of str to ModuleType
        Modules of the monitor, perhaps with a bug.
    never : str, optional
        Instead of what must hold: that this never happens, to see that it can.
    """

    def __init__(
        self, params: NoncoherentParams, modules: dict[str, ModuleType], never: str | None = None
    ):
        self._params, self._modules, self._never = params, modules, never
        self._cam = modules["interval_cam"].IntervalCam(params)
        count = params.entries
        inputs = {
            name: member
            for name, member in self._cam.signature.members.items()
            if name.startswith("i_") and name not in ("i_read", "i_slot")
        }
        super().__init__({
            **inputs, "i_byte": In(params.address_bits), "i_merge": In(1), "i_low": In(count),
            "i_high": In(count), "i_others": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        cam, seen = self._cam, {}
        choice = (self.i_merge, self.i_low, self.i_high, self.i_others)
        module = self._modules["interval_cam"]
        original, compare = module.Compactor, cam._compare

        def observe(inner, entries, valid):
            seen["entries"], seen["valid"] = entries, valid
            seen["change"], seen["origin"], query = compare(inner, entries, valid)
            return seen["change"], seen["origin"], query

        module.Compactor = lambda params: _AnyCompactor(params, choice)
        cam._compare = observe
        try:
            m.submodules.cam = cam.elaborate(platform)
        finally:
            module.Compactor = original
        for name in self.signature.members:
            if hasattr(cam, name):
                m.d.comb += Value.cast(getattr(cam, name)).eq(Value.cast(getattr(self, name)))
        self._keep_rules(m, seen)
        self._state(m, seen)
        return m

    def _keep_rules(self, m: Module, seen: dict) -> None:
        """Assumptions on the inputs: those of the CAM's and the compactor's descriptions."""
        range_, valid = self.i_range, seen["valid"]
        command = Value.cast(self.i_command)
        m.d.comb += [
            Assume(range_.first < range_.end),
            Assume(range_.end <= 1 << self._params.address_bits),
            Assume(command != 3),
            Assume(~(self.i_clear & (command != 0))),
        ]
        # What is compared while there is no room does not count.
        meant, clears, doomed = Signal(3), Signal(3), Signal(2)
        given = self.i_valid & (self.i_clear | self.i_query | (command != 0))
        m.d.sync += [
            meant.eq(Cat(given, meant[:-1] & ~self.i_drop.replicate(2))),
            clears.eq(Cat(given & self.i_clear, clears)),
            doomed.eq(Cat(valid.all(), doomed)),
        ]
        is_meant, is_doomed = meant[-1], doomed.any() | valid.all()
        m.d.comb += [
            Assume(~(self.i_execute & is_meant & is_doomed)),
            Assume(~(is_meant & ~self.i_execute) | self.i_drop),
        ]
        self._counts = is_meant & self.i_execute
        self._clears = clears[-1]
        self._may_count = is_meant & ~is_doomed
        byte = Signal(self._params.address_bits)
        started = Signal()
        m.d.sync += [byte.eq(self.i_byte), started.eq(1)]
        m.d.comb += Assume(~started | (self.i_byte == byte))
        entries = seen["entries"]
        upper = Signal.like(self.i_high)
        m.d.sync += upper.eq(self.i_high)
        for low, before in enumerate(entries):
            for high, after in enumerate(entries):
                chosen = self.i_merge & self.i_low[low] & upper[high]
                m.d.comb += Assume(~chosen | ((before.end < after.first) & (low != high)))
                for other, entry in enumerate(entries):
                    if other not in (low, high):
                        between = (before.end < entry.first) & (entry.first < after.first)
                        m.d.comb += Assume(~chosen | ~between)
        for bits in (self.i_low, self.i_high):
            m.d.comb += [Assume(bits != 0), Assume((bits & (bits - 1)) == 0)]

    def _state(self, m: Module, seen: dict) -> None:
        entries, valid, change = seen["entries"], seen["valid"], seen["change"]
        range_, byte = change.range, self.i_byte
        held, sure = Signal(), Signal()
        is_inside = (range_.first <= byte) & (byte < range_.end)
        with m.If(self._counts):
            with m.If(self._clears):
                m.d.sync += [held.eq(0), sure.eq(0)]
            with m.Elif(change.is_insert & is_inside):
                m.d.sync += [held.eq(1), sure.eq(sure | ~seen["origin"].imprecise)]
            with m.Elif(change.is_remove & is_inside):
                m.d.sync += [held.eq(0), sure.eq(0)]
        has = Cat(
            is_valid & (entry.first <= byte) & (byte < entry.end)
            for is_valid, entry in zip(valid, entries, strict=True)
        )
        imprecise = Cat(entry.imprecise for entry in entries)
        if self._never is not None:
            happens = {
                "split": self._counts & change.is_remove & (change.lower & change.upper).any(),
                "merge": self._counts & change.is_insert & change.lower.any() & change.upper.any(),
                "compact": valid.all() & self.i_merge,
                "possible": (has & imprecise).any() & ~held,
            }
            m.d.comb += Assert(~happens[self._never])
            return
        m.d.comb += [
            Assert(~held | has.any()),
            Assert(sure | ~(has & ~imprecise).any()),
            # A range that has a byte that is held meets an entry.
            Assert(~(self._may_count & held & is_inside) | self._cam.o_overlap.any()),
        ]
        self._help(m, entries, valid, change)

    def _help(self, m: Module, entries: list, valid: Value, change) -> None:
        """What the induction needs beside: entries apart, and comparisons that are right."""
        top = 1 << self._params.address_bits
        for slot, entry in enumerate(entries):
            m.d.comb += Assert(~valid[slot] | ((entry.first < entry.end) & (entry.end <= top)))
            for other in range(slot):
                apart = (entry.end < entries[other].first) | (entries[other].end < entry.first)
                m.d.comb += Assert(~(valid[slot] & valid[other]) | apart)
        range_ = change.range
        for slot, entry in enumerate(entries):
            reaches = Mux(change.is_insert, entry.end >= range_.first, entry.end > range_.first)
            begins = Mux(change.is_insert, entry.first <= range_.end, entry.first < range_.end)
            meets = reaches & begins
            is_right = (
                (self._cam.o_overlap[slot] == meets)
                & (~meets | (change.lower[slot] == (entry.first < range_.first)))
                & (~meets | (change.upper[slot] == (entry.end > range_.end)))
            )
            m.d.comb += Assert(~(self._may_count & valid[slot]) | is_right)
