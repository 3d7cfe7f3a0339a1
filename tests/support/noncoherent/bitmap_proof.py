"""Harness for proofs on the bitmap: one granule of the window, any granule, watched beside it.

``held`` is what an exact set says of it: from the insertion that has it to the removal that has it.
"""

from __future__ import annotations

from types import ModuleType, SimpleNamespace

from amaranth.hdl import Array, Assert, Assume, Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from racetrap.golden_model.noncoherent.params import NoncoherentParams


class _Registers(wiring.Component):
    """A memory of registers, which assertions can look at."""

    def __init__(self, shape, depth, init):
        self.words = [Signal(shape, name=f"word_{index}") for index in range(depth)]
        place = range(depth)
        self._read = SimpleNamespace(addr=Signal(place), data=Signal(shape))
        self._write = SimpleNamespace(addr=Signal(place), data=Signal(shape), en=Signal())
        super().__init__({})

    def read_port(self):
        return self._read

    def write_port(self):
        return self._write

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self._read.data.eq(Array(self.words)[self._read.addr])
        for index, word in enumerate(self.words):
            with m.If(self._write.en & (self._write.addr == index)):
                m.d.sync += word.eq(self._write.data)
        return m


class BitmapHarness(wiring.Component):
    """A bitmap with free inputs that keep its rules, and what must hold of a granule.

    Parameters
    ----------
    params : NoncoherentParams
        Configuration, with granules of one byte and a window that begins at address 0.
    modules : dict of str to ModuleType
        Modules of the monitor, perhaps with a bug.
    never : str, optional
        Instead of what must hold: that this never happens, to see that it can.
    """

    def __init__(
        self, params: NoncoherentParams, modules: dict[str, ModuleType], never: str | None = None
    ):
        self._params, self._module, self._never = params, modules["bitmap"], never
        self._bitmap = self._module.Bitmap(params)
        members = self._bitmap.signature.members.items()
        inputs = {name: member for name, member in members if name.startswith("i_")}
        super().__init__({**inputs, "i_byte": In(range(params.window_bytes)), "i_drop": In(1)})

    def elaborate(self, platform):
        m = Module()
        bitmap, seen, access = self._bitmap, {}, self._bitmap._access
        original = self._module.Memory

        def keep(shape, depth, init):
            seen["memory"] = _Registers(shape, depth, init)
            return seen["memory"]

        def observe(inner, steps, mask, takes_effect):
            seen["rests"] = Cat(bitmap._feeds, *(one.is_rest for one in steps[1:]))
            seen["step"], seen["mask"], seen["takes_effect"] = steps[-1], mask, takes_effect
            return access(inner, steps, mask, takes_effect)

        self._module.Memory, bitmap._access = keep, observe
        try:
            m.submodules.bitmap = bitmap.elaborate(platform)
        finally:
            self._module.Memory = original
        for name in self.signature.members:
            if hasattr(bitmap, name):
                m.d.comb += Value.cast(getattr(bitmap, name)).eq(Value.cast(getattr(self, name)))
        self._keep_rules(m)
        self._state(m, SimpleNamespace(**seen))
        return m

    def _keep_rules(self, m: Module) -> None:
        """Assumptions on the inputs: those of the bitmap's and the interval CAM's descriptions."""
        range_, command = self.i_range, Value.cast(self.i_command)
        meant, waits = Signal(3), Signal(2)
        self._ranges = ranges = [Signal.like(range_, name=f"range_{stage}") for stage in range(3)]
        byte, started = Signal.like(self.i_byte), Signal()
        m.d.sync += [
            Cat(ranges).eq(Cat(range_, *ranges[:-1])),
            meant.eq(Cat(self.i_valid, meant[:-1] & ~self.i_drop.replicate(2))),
            waits.eq(Cat(~self._bitmap.o_ready, waits)),
            byte.eq(self.i_byte), started.eq(1),
        ]  # fmt: skip
        m.d.comb += [
            Assume(range_.first < range_.end),
            Assume(range_.end <= 1 << self._params.address_bits),
            Assume(command != 3),
            Assume(~(self.i_clear & (self.i_query | (command != 0)))),
            Assume(~self.i_execute | (meant[-1] & self._bitmap.o_ready & ~waits.any())),
            Assume(~started | (self.i_byte == byte)),
        ]

    def _state(self, m: Module, seen: SimpleNamespace) -> None:
        bitmap, step, byte = self._bitmap, seen.step, self.i_byte
        range_ = self._ranges[-1]
        index, place = byte[5:], byte[:5]
        stored = Cat(word.dirty for word in seen.memory.words).bit_select(byte, 1)
        is_inside = (range_.first <= byte) & (byte < range_.end)
        visits = (
            seen.takes_effect & step.query & (step.low[5:] == index)
            & seen.mask.bit_select(place, 1)
        )  # fmt: skip
        held, wanted = Signal(), Signal()
        with m.If(self.i_execute):
            with m.If(step.clear):
                m.d.sync += held.eq(0)
            with m.Elif(is_inside & (step.is_insert | step.is_remove)):
                m.d.sync += held.eq(step.is_insert)
        asks = self.i_execute & step.query & is_inside
        is_alone = asks & (range_.end - range_.first == 1)
        due, denied = Signal(2), Signal(2)
        m.d.sync += [
            wanted.eq((wanted | asks) & ~visits),
            due.eq(Cat(visits & stored, due)),
            denied.eq(Cat(is_alone & ~stored, denied)),
        ]
        hit = bitmap.o_hit
        if self._never is not None:
            happens = {
                "several-words": step.is_rest & step.is_insert,
                "hit": due[-1],
                "no-hit": denied[-1],
            }
            m.d.comb += Assert(~happens[self._never])
            return
        m.d.comb += [
            Assert(~bitmap.o_ready | (stored == held)),
            Assert(~bitmap.o_ready | ~wanted),
            # The induction needs it.
            Assert(~bitmap.o_ready | ~seen.rests.any()),
            Assert(~due[-1] | (hit.found & hit.definite)),
            Assert(~denied[-1] | ~hit.definite),
        ]
