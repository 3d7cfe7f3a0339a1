"""Proof: the stream arbiter loses, doubles and mixes up nothing, and serves round robin."""

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.rtl.arbiter_proof import ArbiterHarness

_FILE = "common/arbiter.py"
PROOF = Proof(
    rule="An arbiter outputs each payload that it has accepted, in order, once and unchanged. It "
    "accepts one payload a cycle if any is offered, and an input waits for at most one payload "
    "of each other input.",
    sizes="3 inputs",
    harness=lambda case: ArbiterHarness(3, case),
    depth=3,
    events=("all-ask", "longest-wait"),
    bugs={
        "takes-two": Patch(_FILE, "turn[k] & sink.ready", "sink.ready"),
        "first-one-first": Patch(_FILE, "nobody_after & nobody_before", "nobody_before"),
        "priority": Patch(_FILE, "m.d.sync += after.eq(", "m.d.sync += after.eq(0 & "),
        "taken-while-full": Patch(
            "common/stream.py", "self.i.ready.eq(~self.o.valid | self.o.ready)",
            "self.i.ready.eq(1)",
        ),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
