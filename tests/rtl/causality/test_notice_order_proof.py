"""Proof: notices pass in the order in which the interleaver took their packets."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.notice_proof import ORDER, OrderHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=1, warps_per_sm=1, banks=2, clock_bits=3, hash_bits=1, known=1,
    ratio=2, outstanding=4, packet_fifo_depth=2, report_fifo_depth=2, address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="A notice passes, once and unchanged, when no packet that the interleaver took earlier, "
    "for any bank, is in flight or has a notice that waits. An interleaver that is not held "
    "finds a place for each number, and wrapped numbers never mistake an older packet for a "
    "newer one.",
    sizes="2 banks of at most 6 packets in flight, numbers of 4 bits",
    harness=lambda case: OrderHarness(_PARAMS, 0, 1, case),
    depth=1,
    events=("waits-for-another-bank", "same-number", "oldest-too-old", "goes-on"),
    bugs={
        "newer-banks-not-asked": Patch(ORDER, "first.valid & ~is_newer.any()", "first.valid"),
        "no-room-for-a-number": Patch(
            ORDER, "~checked.i.ready | (age >= (1 << (bits - 1)) - 1)",
            "age >= (1 << (bits - 1)) - 1",
        ),
        "passes-without-its-number": Patch(
            ORDER, "source.ready.eq(sink.ready & may_pass)", "source.ready.eq(sink.ready)"
        ),
        "number-of-the-newest": Patch(
            ORDER, "self.o_oldest.eq(checked.o.payload)", "self.o_oldest.eq(self.i_now)"
        ),
        "all-is-done-too-early": Patch(
            ORDER, "noticed.o_empty & checked.o.valid", "~noticed.o.valid & checked.o.valid"
        ),
        "idle-with-a-notice": Patch(
            ORDER, "checked.o_empty & noticed.o_empty", "checked.o_empty"
        ),
    },
    cycles=12,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
