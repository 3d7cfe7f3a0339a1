"""Proof: a segment is new if, and only if, none with its bit came since the table was cleared."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.valid_proof import ValidTableHarness

_FILE = "gpu/valid_table.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, valid_segments=64, address_bits=16, pc_bits=8,
    ratio=1,
)  # fmt: skip
PROOF = Proof(
    rule="A segment is marked new if and only if it has a bit in the table and no segment with "
    "that bit has passed since the launch; all its other fields pass unchanged, in order.",
    sizes="4 rows of 16 bits",
    harness=lambda case: ValidTableHarness(_PARAMS, case),
    depth=2,
    events=("new", "not-new", "twice-in-a-row", "cleared-again"),
    bugs={
        "bit-not-set": Patch(_FILE, "row | (1 << place[:column_bits])", "row"),
        "bits-of-others-lost": Patch(
            _FILE, "row | (1 << place[:column_bits])", "(1 << place[:column_bits])"
        ),
        "bit-of-the-segment-ahead-not-seen": Patch(
            _FILE, "was_written.eq(write.en & (write.addr == read.addr))", "was_written.eq(0)"
        ),
        "row-read-while-one-waits": Patch(_FILE, "read.en.eq(is_taken)", "read.en.eq(1)"),
        "last-row-not-cleared": Patch(
            _FILE, "self.o_busy.eq(cleared != depth)", "self.o_busy.eq(cleared < depth - 1)"
        ),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF, quick=True)
