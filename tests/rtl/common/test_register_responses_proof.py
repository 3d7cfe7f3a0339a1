"""Proof: a register block answers each request once."""

import pytest

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import proof_tests
from tests.support.rtl.register_proof import FILE, holds_for_scord, register_proof

PROOF = register_proof(
    "responses",
    rule="Each AXI4-Lite request has exactly one response, in the cycle after it is whole, "
    "whatever waits: at most two writes and one read are taken before. A waiting response "
    "is stable. It is SLVERR if and only if the address has no register that software may "
    "write, or read, or the access is refused: PROTECTION requires a privilege or security that "
    "it lacks, or a lock is set. Each refusal is signalled.",
    events=(
        "two-writes", "data-first", "write-and-read-at-once", "error", "refused-read",
        "refused-write", "locked",
    ),
    bugs={
        "response-withdrawn": Patch(
            FILE, "with m.If(axi.bvalid & axi.bready):", "with m.If(axi.bvalid):"
        ),
        "write-over-a-waiting-response": Patch(
            FILE, "have_address & have_data & ~axi.bvalid", "have_address & have_data"
        ),
        "read-over-a-waiting-read": Patch(FILE, "axi.arready.eq(~axi.rvalid)", "axi.arready.eq(1)"),
        "written-where-nothing-is": Patch(
            FILE, "if register.has_sw_writable", "if register.has_sw_readable"
        ),
        "non-secure-is-admitted": Patch(
            FILE, "(prot[0] | ~needs_privilege) & (~prot[1] | ~needs_security)",
            "prot[0] | ~needs_privilege",
        ),
        "lock-ignored": Patch(FILE, " & ~self._is_locked(address)", ""),
        "protection-of-the-address-forgotten": Patch(
            FILE, "m.d.sync += prot.eq(axi.awprot)", "m.d.comb += prot.eq(axi.awprot)"
        ),
        "refusal-not-told": Patch(
            FILE, "self.o_refused.writes.eq(write & ~admitted)", "self.o_refused.writes.eq(0)"
        ),
        "second-address-lost": Patch(FILE, "axi.awready.eq(~have_address)", "axi.awready.eq(1)"),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)


@pytest.mark.campaign
def test_registers_of_scord():
    assert holds_for_scord("responses")
