"""Proof: an access buffer keeps the order, and leaves out only what its policy may leave out."""

from __future__ import annotations

from unittest import mock

import pytest
from amaranth.hdl import Array, Module, Mux, Signal, Value
from amaranth.lib import fifo
from amaranth.lib.wiring import In

from racetrap.golden_model.scord.packets import TransactionKind
from racetrap.golden_model.scord.params import AccessPolicy, ScordParams
from racetrap.rtl.common.layout import struct_layout
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.internals import OpenComponent, OpenMemory
from tests.support.formal.passage import Passage
from tests.support.formal.proof import Case, Harness, Proof, proof_tests
from tests.support.formal.prover import holds_always
from tests.support.planted_bugs import modules_with

_STREAM, _FILE = "common/stream.py", "scord/access_buffer.py"
_DEPTH = 3


def _params(policy: AccessPolicy) -> ScordParams:
    return ScordParams(
        sm_count=1, blocks_per_sm=2, warps_per_sm=2, address_bits=16, pc_bits=8,
        access_buffer_depth=_DEPTH, access_policy=policy,
        sample_log2=2 if policy == AccessPolicy.SAMPLE else 0,
    )  # fmt: skip


class BufferHarness(Harness):
    """A buffer with free transactions and a free tracker; one transaction, any, is watched.

    Parameters
    ----------
    params : ScordParams
        Configuration.
    case : Case
        What is asked.
    """

    def __init__(self, params: ScordParams, case: Case):
        self._params = params
        self._buffer = modules_with([_STREAM, _FILE], case.bug)[_FILE].AccessBuffer(params)
        super().__init__(case, {
            "i_valid": In(1), "i_transaction": In(struct_layout(params.transaction_layout)),
            "i_ready": In(1), "i_enable": In(1), "i_watch": In(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        part, params, given = self._buffer, self._params, self.i_transaction
        with mock.patch.object(fifo, "Memory", OpenMemory):
            inner = OpenComponent(part)
        m.submodules.buffer = inner.fragment
        m.d.comb += [
            part.i.valid.eq(self.i_valid), part.i.payload.eq(given),
            part.o.ready.eq(self.i_ready), part.i_enable.eq(self.i_enable),
        ]  # fmt: skip
        put, got = part.i.valid & part.i.ready, part.o.valid & part.o.ready
        passage = Passage(
            m, put=put & ~part.o_left_out, payload=given, got=got, watch=self.i_watch, most=_DEPTH
        )
        counted, words = Signal(6), Signal(6)
        plain = (given.kind == TransactionKind.LOAD) | (given.kind == TransactionKind.STORE)
        plain |= (given.kind == TransactionKind.ATOMIC) & (given.lock_mask == 0)
        m.d.comb += words.eq(sum(bit for bit in given.mask))
        m.d.sync += counted.eq(Mux(part.o_left_out, words, 0))
        full = passage.held == _DEPTH
        # Lines that differ in one bit are not both kept, and line 0 is.
        sampled = params.access_policy == AccessPolicy.SAMPLE
        rules = [
            *passage.rules(part.o.valid, part.o.payload),
            ~part.o_left_out | (put & self.i_enable & plain),
            part.o_idle == (passage.held == 0), part.o_count == counted,
            part.i.ready | (passage.held >= _DEPTH - 1),
            # With room, and while it waits, only a sampled line is left out.
            *[~part.o_left_out | (passage.held >= _DEPTH - 1)] * (not sampled),
            *[~(part.o_left_out & (given.line == 0))] * sampled,
            *[part.o_left_out | ~put | ~self.i_enable | ~plain | (given.line != 4)] * sampled,
        ]  # fmt: skip
        events = {
            "left-out": part.o_left_out,
            "fence-waits": part.i.valid & ~part.i.ready & (given.kind == TransactionKind.FENCE),
            "watched-of-many": passage.watching & (passage.ahead == _DEPTH - 1) & full,
            "disabled": ~self.i_enable & plain & part.i.valid & ~part.i.ready,
        }
        self.state(m, rules, events, self._places(inner, passage))
        return m

    def _places(self, inner: OpenComponent, passage: Passage) -> list[Value]:
        """Where the transactions are, as in the proof of the FIFO."""
        out, words = self._buffer.o, _DEPTH - 1
        level, produce, consume = (
            inner[f"queue.queue.{name}"] for name in ("inner_level", "produce", "consume")
        )
        rows = Array(inner[f"queue.queue.storage.row_{number}"] for number in range(words))
        place = consume + passage.ahead - out.valid
        row, end = Mux(place >= words, place - words, place), consume + level
        watching, watched = passage.watching, passage.watched
        return [
            ~(passage.is_next & out.valid) | (Value.cast(out.payload) == watched),
            ~watching | (passage.ahead < passage.held), passage.held == level + out.valid,
            level <= words, produce < words, consume < words,
            produce == Mux(end >= words, end - words, end),
            ~(watching & (passage.ahead >= out.valid)) | (rows[row[: len(consume)]] == watched),
        ]  # fmt: skip


PROOF = Proof(
    rule="What a buffer takes and does not leave out comes out once, unchanged and in order. It "
    "leaves out, and counts by words, only accesses without locks: none while it is disabled, and "
    "none while it has room for two.",
    sizes="3 places, policy drop, granules of 4 bytes; also the policies stall and sample",
    harness=lambda case: BufferHarness(_params(AccessPolicy.DROP), case),
    depth=4,
    events=("left-out", "fence-waits", "watched-of-many", "disabled"),
    bugs={
        "lock-left-out": Patch(_FILE, " & ~transaction.lock_mask.any()", ""),
        "left-out-while-disabled": Patch(
            _FILE, "self.i_enable & self._leaves_out(queue.i.ready)",
            "self._leaves_out(queue.i.ready)",
        ),
    },
    cycles=9,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
@pytest.mark.parametrize("policy", [AccessPolicy.STALL, AccessPolicy.SAMPLE])
def test_other_policies(policy):
    assert holds_always(BufferHarness(_params(policy), Case()), depth=4)
