"""Barrier ids and generations: wrapping counters for each block slot of an SM.

Ref: ScoRD (ISCA'20) Section IV, Fig. 6.
"""

from __future__ import annotations

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from racetrap.golden_model.scord.params import ScordParams


class SlotCounters(wiring.Component):
    """One wrapping counter for each block slot.

    The output is combinational in ``i_slot``; an increment shows in the next cycle.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    name : str
        Name of a counter.
    bits : int
        Its width.

    Members
    -------
    i_slot : ``In(slot_bits)``
        Block slot that is read and incremented.
    i_increment : ``In(1)``
        Count once.
    i_clear : ``In(1)``
        Set every counter to 0.
    o_<name> : ``Out(bits)``
        Counter of the slot.
    """

    def __init__(self, params: ScordParams, name: str, bits: int):
        self._blocks, self._name, self._bits = params.blocks_per_sm, name, bits
        super().__init__({
            "i_slot": In(params.slot_bits),
            "i_increment": In(1),
            "i_clear": In(1),
            f"o_{name}": Out(bits),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        output = getattr(self, f"o_{self._name}")
        ids = Array(Signal(self._bits, name=f"{self._name}_{slot}") for slot in range(self._blocks))
        m.d.comb += output.eq(ids[self.i_slot])
        with m.If(self.i_increment):
            m.d.sync += ids[self.i_slot].eq(output + 1)
        with m.If(self.i_clear):
            m.d.sync += [each.eq(0) for each in ids]
        return m


class BarrierIds(SlotCounters):
    """Counts the barriers of each block slot; gives ``o_barrier_id``.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    """

    def __init__(self, params: ScordParams):
        super().__init__(params, "barrier_id", params.barrier_id_bits)


class Generations(SlotCounters):
    """Counts the blocks that have started in each block slot; gives ``o_generation``.

    Parameters
    ----------
    params : ScordParams
        Configuration, with at least one of ``slot_generation_bits``.
    """

    def __init__(self, params: ScordParams):
        super().__init__(params, "generation", params.slot_generation_bits)
