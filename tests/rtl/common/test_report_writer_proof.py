"""Proof: the report writer's port keeps AXI4's rules and writes inside the ring."""

from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.rtl.ring_proof import RingHarness

_FILE = "common/report_writer.py"
PROOF = Proof(
    rule="Each report is one burst of four beats inside the ring and one 4 KiB page, with id 0; a "
    "waiting request is stable, and the next burst begins after the response.",
    sizes="16 address bits, any ring",
    harness=RingHarness,
    depth=3,
    events=("data-first", "second-record"),
    bugs={
        "ring-does-not-wrap": Patch(
            _FILE, "place = self.o_head & ~(Const(-1, 32) << self.i_capacity_log2)[:32]",
            "place = self.o_head[:31]",
        ),
        "three-beats": Patch(_FILE, "wlast.eq(beat == _BEATS - 1)", "wlast.eq(beat == _BEATS - 2)"),
        "word-offered-for-a-cycle": Patch(
            _FILE, "with m.If(axi.wready):", "with m.If(axi.wvalid):"
        ),
        "next-before-the-response": Patch(
            _FILE, 'm.next = "RESPONSE"', 'm.next = "IDLE"'
        ),
    },
    cycles=20,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
