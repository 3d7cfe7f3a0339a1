"""Proof: a bit unpacker shows each bit of a message until it is taken, and nothing of the next."""

from __future__ import annotations

from amaranth.hdl import Assume, Module, Mux, Signal
from amaranth.lib.wiring import In

from racetrap.golden_model.sigrace.params import FLIT_BITS, SigraceParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.planted_bugs import modules_with

_FILE = "sigrace/bit_unpacker.py"


class UnpackerHarness(Harness):
    """An unpacker with free flits whose user takes what is there; one bit is watched.

    Parameters
    ----------
    case : Case
        What is asked.
    """

    def __init__(self, case: Case):
        self._unpacker = modules_with([_FILE], case.bug)[_FILE].BitUnpacker(SigraceParams())
        super().__init__(case, {
            "i_valid": In(1), "i_data": In(FLIT_BITS), "i_last": In(1), "i_take": In(6),
            "i_swallow": In(1), "i_restart": In(1), "i_watch": In(1), "i_bit": In(5),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        part = self._unpacker
        inner = OpenComponent(part)
        m.submodules.unpacker = inner.fragment
        ended = Signal()
        m.d.comb += [
            part.i.valid.eq(self.i_valid), part.i.p.data.eq(self.i_data),
            part.i.p.last.eq(self.i_last), part.i_take.eq(self.i_take),
            part.i_swallow.eq(self.i_swallow), part.i_restart.eq(self.i_restart),
            Assume((self.i_take <= FLIT_BITS) & (self.i_take <= part.o_count)),
            Assume(~self.i_restart | ended),
        ]  # fmt: skip
        put, drops = part.i.valid & part.i.ready, self.i_swallow | self.i_restart
        held, watching, watched, ahead = Signal(8), Signal(), Signal(), Signal(8)
        m.d.sync += held.eq(Mux(drops, 0, held + Mux(put, FLIT_BITS, 0) - self.i_take))
        with m.If(self.i_restart):
            m.d.sync += ended.eq(0)
        with m.Elif(put & self.i_last):
            m.d.sync += ended.eq(1)
        with m.If(drops):
            m.d.sync += watching.eq(0)
        with m.Elif(put & self.i_watch & ~watching):
            m.d.sync += [
                watching.eq(1), watched.eq(self.i_data.bit_select(self.i_bit, 1)),
                ahead.eq(held + self.i_bit - self.i_take),
            ]  # fmt: skip
        with m.Elif(watching):
            m.d.sync += [watching.eq(ahead >= self.i_take), ahead.eq(ahead - self.i_take)]
        rules = [
            part.o_count == held, held <= 2 * FLIT_BITS, part.o_ended == ended,
            ~(watching & (ahead < FLIT_BITS)) | (part.o_bits.bit_select(ahead[:5], 1) == watched),
            (held >= FLIT_BITS) | ((part.o_bits >> held[:6]) == 0),
            # It takes in a message, and stops at its end.
            ~(part.i.ready & ended), part.i.ready | ended | (held > FLIT_BITS),
        ]  # fmt: skip
        bits = inner["held"]
        helps = [
            ~watching | ((ahead < held) & (bits.bit_select(ahead[:6], 1) == watched)),
            (bits >> held) == 0,
        ]
        events = {
            "full": held == 2 * FLIT_BITS,
            "taken-beside-a-flit": put & (self.i_take != 0) & watching,
            "watched-taken": watching & (ahead < self.i_take) & ~drops & watched,
            "second-message": ended & self.i_restart & watching,
            "restarted": ended & self.i_restart & (held != 0),
        }

        self.state(m, rules, events, helps)
        return m


PROOF = Proof(
    rule="Each bit of a message is shown in its place until it is taken or dropped, and zeros "
    "beyond the last one held. Between the last flit of a message and the restart no flit is "
    "taken.",
    sizes="flits of 32 bits, up to 32 taken a cycle",
    harness=UnpackerHarness,
    depth=2,
    events=("full", "taken-beside-a-flit", "watched-taken", "second-message", "restarted"),
    bugs={
        "next-message-taken": Patch(
            _FILE, "(self.o_count <= FLIT_BITS) & ~self.o_ended", "self.o_count <= FLIT_BITS"
        ),
        "flit-over-held-bits": Patch(
            _FILE, "self.o_count <= FLIT_BITS", "self.o_count <= FLIT_BITS + 1"
        ),
        "swallow-keeps-bits": Patch(
            _FILE, "m.d.sync += [held.eq(0), self.o_count.eq(0)]", "m.d.sync += self.o_count.eq(0)"
        ),
        "flit-placed-after-the-taken": Patch(
            _FILE, "(self.i.p.data << self.o_count)",
            "(self.i.p.data << (self.o_count - self.i_take)[:7])",
        ),
    },
    cycles=6,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
