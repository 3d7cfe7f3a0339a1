"""Proof: a bit packer sends each bit of the fields once and in order, and ends each message."""

from __future__ import annotations

from amaranth.hdl import Assume, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/bit_packer.py"


class PackerHarness(Harness):
    """A packer with free fields of at least one bit and a free listener; one bit is watched.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._packer = modules_with([_FILE], case.bug)[_FILE].BitPacker(SigraceParams())
        super().__init__(case, {
            "i_valid": In(1), "i_data": In(FLIT_BITS), "i_width": In(6), "i_last": In(1),
            "i_ready": In(1), "i_watch": In(1), "i_bit": In(5),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        packer = self._packer
        inner = OpenComponent(packer)
        m.submodules.packer = inner.fragment
        m.d.comb += [
            packer.i.valid.eq(self.i_valid), packer.i.p.data.eq(self.i_data),
            packer.i.p.width.eq(self.i_width), packer.i.p.last.eq(self.i_last),
            packer.o.ready.eq(self.i_ready),
            Assume((self.i_width >= 1) & (self.i_width <= FLIT_BITS)),
            Assume((self.i_data >> self.i_width) == 0),
        ]  # fmt: skip
        put, got = packer.i.valid & packer.i.ready, packer.o.valid & packer.o.ready
        # Whole flits in the packer, bits behind them, and flits up to the end of a message.
        flits, tail, end = Signal(3), Signal(5), Signal(3)
        total, more = Signal(6), Signal(2)
        m.d.comb += [
            total.eq(tail + self.i_width),
            more.eq(Mux(self.i_last, (total + FLIT_BITS - 1) >> 5, total >> 5)),
        ]
        after = flits - got
        with m.If(put):
            m.d.sync += [flits.eq(after + more), tail.eq(Mux(self.i_last, 0, total))]
        with m.Else():
            m.d.sync += flits.eq(after)
        with m.If(put & self.i_last):
            m.d.sync += end.eq(after + more)
        with m.Elif(got & (end != 0)):
            m.d.sync += end.eq(end - 1)
        watching, watched, ahead = Signal(), Signal(), Signal(7)
        room = (more << 5) - tail  # of a message that ends
        may_watch = (self.i_bit < self.i_width) | (self.i_last & (self.i_bit < room))
        with m.If(put & self.i_watch & ~watching & may_watch):
            m.d.sync += [
                watching.eq(1), watched.eq(self.i_data.bit_select(self.i_bit, 1)),
                ahead.eq((after << 5) + tail + self.i_bit),
            ]  # fmt: skip
        with m.Elif(got & watching):
            m.d.sync += [watching.eq(ahead >= FLIT_BITS), ahead.eq(ahead - FLIT_BITS)]
        flit = packer.o.p
        rules = [
            packer.o.valid == (flits != 0),
            ~(packer.o.valid & watching & (ahead < FLIT_BITS))
            | (flit.data.bit_select(ahead[:5], 1) == watched),
            ~packer.o.valid | (flit.last == (end == 1)),
            packer.o_is_empty == ((flits == 0) & (tail == 0)),
            flits <= 2,
        ]
        rest, filled, flushes = inner["rest"], inner["filled"], inner["is_flushing"]
        place = (ahead - Mux(packer.o.valid, FLIT_BITS, 0))[:7]
        in_rest = watching & ((ahead >= FLIT_BITS) | ~packer.o.valid)
        helps = [
            flits == packer.o.valid + flushes, ~flushes | (packer.o.valid & (tail == 0)),
            flushes | (filled == tail), flushes | ((rest >> filled) == 0), end <= flits,
            ~flushes | (end == 2),
            ~in_rest | ((place < FLIT_BITS) & (rest.bit_select(place[:5], 1) == watched)),
            ~in_rest | flushes | (place < filled),
        ]  # fmt: skip
        events = {
            "last-field-in-two-flits": flushes,
            "watched-fill-at-the-end": watching & (ahead < FLIT_BITS) & got & flit.last & (end == 1)
            & (ahead == FLIT_BITS - 1),
            "field-in-two-flits": put & (total > FLIT_BITS) & ~self.i_last & (tail != 0),
            "next-message-at-once": put & got & flit.last,
        }  # fmt: skip
        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="Each bit of the fields is in the flits once, in order and unchanged. The flit with the "
    "last bit of a message is marked, is filled with zeros, and nothing of the next is in it. The "
    "packer is empty if and only if it holds no bit.",
    sizes="flits of 32 bits, fields of 1 to 32",
    harness=PackerHarness,
    depth=2,
    events=("last-field-in-two-flits", "watched-fill-at-the-end", "field-in-two-flits",
            "next-message-at-once"),
    bugs={
        "end-of-a-message-not-flushed": Patch(
            _FILE, "is_flushing.eq(field.last & (total > FLIT_BITS))", "is_flushing.eq(0)"
        ),
        "rest-kept-at-the-end": Patch(
            _FILE, "with m.If(field.last & (total <= FLIT_BITS)):", "with m.If(0):"
        ),
        "last-one-flit-early": Patch(
            _FILE, "flit.last.eq(field.last & (total <= FLIT_BITS))", "flit.last.eq(field.last)"
        ),
        "bits-over-the-rest": Patch(
            _FILE, "rest.eq(Mux(is_complete, merged[FLIT_BITS:], merged))",
            "rest.eq(merged[FLIT_BITS:])",
        ),
        "taken-while-a-flit-waits": Patch(
            _FILE, "self.i.ready.eq(can_send & ~is_flushing)", "self.i.ready.eq(~is_flushing)"
        ),
    },
    cycles=7,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
