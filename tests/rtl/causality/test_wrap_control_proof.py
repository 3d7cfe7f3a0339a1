"""Proof: an epoch begins when nothing is in flight, and nothing is sent until all have begun it."""

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.interleaver_proof import WRAP, WrapHarness
from tests.support.formal.proof import Proof, proof_tests

PROOF = Proof(
    rule="From the cycle after a tracker requests an epoch, trackers are held; the epoch begins "
    "once, when all parts have drained while held, and trackers go on when no part is clearing.",
    sizes="any",
    harness=WrapHarness,
    depth=1,
    events=("epoch", "waits-until-drained", "waits-until-cleared", "second"),
    bugs={
        "begins-before-all-is-drained": Patch(
            WRAP, 'with m.If(self.i_drained): m.next = "EPOCH"', 'm.next = "EPOCH"'
        ),
        "goes-on-while-clearing": Patch(
            WRAP, 'with m.If(~self.i_busy): m.next = "READY"', 'm.next = "READY"'
        ),
        "busy-looked-at-too-early": Patch(WRAP, 'm.next = "START"', 'm.next = "WAIT"'),
        "not-held-while-it-begins": Patch(
            WRAP, "m.d.comb += self.o_epoch.eq(1)",
            "m.d.comb += [self.o_epoch.eq(1), self.o_hold.eq(0)]",
        ),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
