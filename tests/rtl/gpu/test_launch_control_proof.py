"""Proof: a launch drains what is unfinished, clears, and changes the region in between only."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.launch_proof import LaunchHarness

_FILE = "gpu/launch_control.py"
_PARAMS = ScordParams(
    sm_count=2, blocks_per_sm=1, warps_per_sm=1, ratio=1, address_bits=16, pc_bits=8
)
PROOF = Proof(
    rule="When a launch clears, nothing is in flight, and no transaction enters until it has "
    "cleared. Region and ring change only then, and obey the rules for a configuration. No "
    "transaction offered to a tracker is withdrawn.",
    sizes="2 SMs, 16 address bits, any registers",
    harness=lambda case: LaunchHarness(_PARAMS, case),
    depth=3,
    events=("launch", "refusal", "second-launch", "drain"),
    bugs={
        "does-not-wait": Patch(_FILE, "self.i_idle & ~self.i_written", "~self.i_written"),
        "takes-what-is-not-checked": Patch(
            _FILE, "self.i_idle & ~self.i_written", "self.i_idle"
        ),
        "gate-withdraws": Patch(
            _FILE, "with m.Elif(~self.i.valid | self.i.ready):", "with m.Else():"
        ),
        "opens-while-clearing": Patch(_FILE, "with m.If(~self.i_busy):", "if True:"),
        "misaligned-metadata": Patch(
            _FILE, "(bases.metadata & (params.segment_bytes - 1)) == 0",
            "(bases.metadata & (params.segment_bytes - 1)) != 1",
        ),
        "region-beyond-the-end": Patch(_FILE, "bases.data < end", "bases.data <= end"),
    },
    cycles=14,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
