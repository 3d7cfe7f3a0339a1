"""Proof: a barrier's id counts the barriers of its block slot, and of no other."""

from __future__ import annotations

from amaranth.hdl import Array, Assume, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "scord/barrier_ids.py"
_PARAMS = ScordParams(sm_count=1, blocks_per_sm=3, warps_per_sm=3, barrier_id_bits=2)
_BLOCKS, _BITS = _PARAMS.blocks_per_sm, _PARAMS.barrier_id_bits


class BarrierHarness(Harness):
    """Counters with free slots, increments and clearings.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._ids = modules_with([_FILE], case.bug)[_FILE].BarrierIds(_PARAMS)
        super().__init__(case, {
            "i_slot": In(range(_BLOCKS)), "i_increment": In(1), "i_clear": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        ids = self._ids
        inner = OpenComponent(ids)
        m.submodules.ids = inner.fragment
        m.d.comb += [
            ids.i_slot.eq(self.i_slot), ids.i_increment.eq(self.i_increment),
            ids.i_clear.eq(self.i_clear), Assume(self.i_slot < _BLOCKS),
        ]  # fmt: skip
        # Barriers of each slot since the last clearing, more than an id can tell.
        counts = Array(Signal(_BITS + 2, name=f"barriers_{slot}") for slot in range(_BLOCKS))
        for slot, count in enumerate(counts):
            own = self.i_increment & (self.i_slot == slot)
            m.d.sync += count.eq(Mux(self.i_clear, 0, count + own))
        count = counts[self.i_slot]
        rules = [ids.o_barrier_id == count[:_BITS]]
        helps = [inner[f"barrier_id_{slot}"] == counts[slot][:_BITS] for slot in range(_BLOCKS)]
        events = {
            "wrapped": count == 1 << _BITS,
            "slots-differ": (counts[0] == 1) & (counts[2] == 2),
            "cleared-beside-a-barrier": self.i_clear & self.i_increment & (count != 0),
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="The id of a slot is the number of its barriers since the last clearing, wrapped. "
    "Barriers of other slots do not change it, and clearing wins over a barrier.",
    sizes="3 slots, ids of 2 bits",
    harness=BarrierHarness,
    depth=1,
    events=("wrapped", "slots-differ", "cleared-beside-a-barrier"),
    bugs={
        "counts-beside-a-clearing": Patch(_FILE, "with m.If(self.i_clear):",
            "with m.If(self.i_clear & ~self.i_increment):"),
        "counts-by-two": Patch(_FILE, "output + 1", "output + 2"),
        "all-slots-count": Patch(
            _FILE, "m.d.sync += ids[self.i_slot].eq(output + 1)",
            "m.d.sync += [each.eq(each + 1) for each in ids]",
        ),
    },
    cycles=7,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
