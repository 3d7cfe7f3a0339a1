"""Proof: each bank takes each packet for all exactly once, in order with the SM's accesses."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.interleaver_proof import INTERLEAVER, InterleaverHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=1, warps_per_sm=2, banks=2, clock_bits=3, ratio=2, address_bits=16,
    pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="The bank of its word takes an access, and each bank takes every other packet, once and "
    "unchanged. An SM's next packet is offered once all have taken the previous one, and leaves "
    "as soon as they have. While held, no bank takes a packet; each packet taken, except marks, "
    "is signalled.",
    sizes="2 SMs, 2 banks",
    harness=lambda case: InterleaverHarness(_PARAMS, case),
    depth=1,
    events=("a-bank-is-late", "other-sm-meanwhile", "held-between-copies", "both-for-all"),
    bugs={
        "copy-taken-again": Patch(INTERLEAVER, "is_there & ~has[bank]", "is_there"),
        "leaves-with-the-first-copy": Patch(
            INTERLEAVER, "(takes | ~goes).all()", "(takes & goes).any()"
        ),
        "copies-of-the-packet-before": Patch(
            INTERLEAVER, "(has | takes) & ~port.ready.replicate(len(sinks))", "has | takes"
        ),
        "marker-to-its-word-alone": Patch(INTERLEAVER, "| is_for_all", ""),
        "taken-while-held": Patch(
            INTERLEAVER, "port.valid & goes[bank] & ~self.i_hold", "port.valid & goes[bank]"
        ),
        "mark-is-signalled": Patch(
            INTERLEAVER, "& (sink.payload.kind != PacketKind.MARK)", ""
        ),
        "ready-while-held": Patch(
            INTERLEAVER, "takes[bank].eq(sink.ready & ~self.i_hold)", "takes[bank].eq(sink.ready)"
        ),
    },
    cycles=8,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
