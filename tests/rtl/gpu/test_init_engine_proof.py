"""Proof: the initialisation engine writes each segment of its port once, and awaits the answers."""

from __future__ import annotations

import pytest
from amaranth.hdl import Assume, Module, Signal, Value
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.params import ScordParams
from racetrap.rtl.gpu.region import index_bits
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.formal.prover import holds_always
from tests.support.planted_bugs import modules_with

_FILE = "gpu/init_engine.py"


def _params(banks: int) -> ScordParams:
    return ScordParams(
        sm_count=1, blocks_per_sm=1, warps_per_sm=1, banks=banks, address_bits=16, pc_bits=8
    )


class EngineHarness(Harness):
    """An engine that is started while it is idle; one segment, any, is watched.

    Parameters
    ----------
    params : ScordParams
        Configuration with one region.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        self._engine = modules_with([_FILE], case.bug)[_FILE].InitEngine(params)
        super().__init__(case, {
            "i_port": In(range(params.metadata_ports)), "i_start": In(1),
            "i_entries_log2": In(params.address_bits.bit_length()), "i_ready": In(1),
            "i_done": In(1), "i_segment": In(index_bits(params)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        engine, params, bits = self._engine, self._params, index_bits(self._params)
        inner = OpenComponent(engine)
        m.submodules.engine = inner.fragment
        port, log2, segment, begun = (
            Signal.like(self.i_port), Signal.like(self.i_entries_log2),
            Signal.like(self.i_segment), Signal(),
        )  # fmt: skip
        # Writes without an answer, and whether the watched segment is still to be written.
        open_writes, due = Signal(bits + 2), Signal()
        sent = engine.o.valid & self.i_ready
        low, odd = params.port_bits, params.odd_ports
        residue = (self.i_segment >> low)[: params.residue_bits or 1]
        own = (self.i_segment & ((1 << low) - 1)) == (self.i_port & ((1 << low) - 1))
        if odd > 1:
            own &= residue % odd == self.i_port >> low
        exists = own & ((self.i_segment >> (self.i_entries_log2 - params.lane_bits)[:5]) == 0)
        largest = bits + params.lane_bits
        m.d.sync += [
            port.eq(self.i_port), log2.eq(self.i_entries_log2), segment.eq(self.i_segment),
            begun.eq(1),
            open_writes.eq(open_writes + sent - (self.i_done & engine.o_busy)),
        ]  # fmt: skip
        m.d.comb += [
            engine.i_port.eq(self.i_port), engine.i_start.eq(self.i_start),
            engine.i_entries_log2.eq(self.i_entries_log2), engine.o.ready.eq(self.i_ready),
            engine.i_done.eq(self.i_done),
            Assume(~begun | ((self.i_port == port) & (self.i_entries_log2 == log2))),
            Assume(~begun | (self.i_segment == segment)),
            Assume(self.i_port < params.metadata_ports),
            # A region has as many segments as ports deal out, and fits into an index.
            Assume(self.i_entries_log2 >= params.residue_bits + low + params.lane_bits),
            Assume(self.i_entries_log2 <= largest),
            Assume(~self.i_start | ~engine.o_busy), Assume(~self.i_done | (open_writes != 0)),
        ]  # fmt: skip
        is_watched = engine.o.valid & (engine.o.p.index == self.i_segment)
        with m.If(self.i_start):
            m.d.sync += due.eq(exists)
        with m.Elif(sent & is_watched):
            m.d.sync += due.eq(0)
        fresh = Signal()
        m.d.sync += fresh.eq(self.i_start)
        rules = [
            # Only what is due is written, so nothing twice and nothing of another port.
            ~is_watched | due, engine.o_busy | (~due & (open_writes == 0)),
            ~engine.o.valid | engine.o_busy, ~fresh | engine.o_busy,
            *(
                ~engine.o.valid | (entry == params.uninitialised_entry)
                for entry in engine.o.p.entries
            ),
        ]  # fmt: skip
        index, following = inner["index"], inner["following"]
        end = Signal(bits + 2)
        m.d.comb += end.eq(1 << (self.i_entries_log2 - params.lane_bits)[:5])
        ours = (index & ((1 << low) - 1)) == (self.i_port & ((1 << low) - 1))
        if odd > 1:
            ours &= (index >> low)[: params.residue_bits] % odd == self.i_port >> low
        unanswered = inner["unanswered"]
        is_sending = inner["sending"]
        helps = [
            unanswered == open_writes[: len(unanswered)], open_writes <= index,
            ~is_sending | (ours & (index < end)), ~is_sending | engine.o_busy,
            due == (is_sending & exists & (self.i_segment >= index)) ,
            ~engine.o_busy | (open_writes <= end), Value.cast(following) >= index,
        ]  # fmt: skip
        events = {
            "second-segment": sent & is_watched & (self.i_segment >> low == 1 + 2 * (odd > 1)),
            "answered-late": engine.o_busy & ~engine.o.valid & (open_writes == 2),
            "started-again": self.i_start & begun & ~due & (index != 0),
            "other-port": sent & ~exists & (self.i_port != 0),
        }
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="From its start on, the engine writes each segment of its port in the region once, "
    "uninitialised, and no other; it is busy until the last one is answered.",
    sizes="3 ports, regions of 128 entries or more, 16 address bits; also 1, 2, 4 and 6 ports",
    harness=lambda case: EngineHarness(_params(3), case),
    depth=2,
    events=("second-segment", "answered-late", "started-again", "other-port"),
    bugs={
        "idle-before-the-answers": Patch(
            _FILE, "with m.If(~sending & (unanswered == 0)):", "with m.If(~sending):"
        ),
        "first-of-port-0": Patch(_FILE, "index.eq(self.i_port), sending", "index.eq(0), sending"),
        "residue-not-wrapped": Patch(
            _FILE, "Mux(is_last, self.i_port[low:], residue)", "Mux(is_last, 0, residue)"
        ),
        "answers-not-counted": Patch(_FILE, "unanswered + sent - (self.i_done & self.o_busy)",
            "unanswered + sent - self.i_done - (self.i_done & sent)"),
    },
    cycles=60,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
@pytest.mark.parametrize("banks", [1, 2, 4, 6])
def test_other_numbers_of_ports(banks):
    assert holds_always(EngineHarness(_params(banks), Case()), depth=2)
