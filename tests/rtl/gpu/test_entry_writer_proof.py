"""Proof: the entry writer loses, doubles and changes nothing, and keeps AXI's rules."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.planted_bugs import PLANTED_BUGS
from tests.support.scord.writer_proof import WriterHarness

_FILE = "gpu/entry_writer.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, banks=2, words_per_cycle=2, outstanding=4,
    address_bits=20,
)  # fmt: skip
PROOF = Proof(
    rule="Each segment goes out once on both write channels, in order, at its address and with "
    "the strobes of what was read. A waiting request is stable, has id 0 and stays within one 4 "
    "KiB page.",
    sizes="2 words a cycle, 20 address bits",
    harness=lambda case: WriterHarness(_PARAMS, case),
    depth=2,
    events=("address-first", "data-first", "one-a-cycle", "lost"),
    bugs={
        "address-overwritten": PLANTED_BUGS["entry-writer-overwrites-address"].patch,
        "data-sent-again": Patch(
            _FILE, "with m.If(axi.wready):", "with m.If(axi.wready & ~axi.awready):"
        ),
        "strobes-turned": Patch(_FILE, "(~lost.any())", "(lost.any())"),
        "index-not-scaled": Patch(
            _FILE, "segment_address(params, self.i_region, write.index)",
            "self.i_region.metadata_base + write.index",
        ),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
