"""Proof: a word is found in at most one region, and in its place there."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.locator_proof import LocatorHarness

_FILE = "gpu/region_table.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, ratio=8, banks=64, regions=2, address_bits=16,
    pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="A word is found in at most one region, the one that contains it. Its place and tag "
    "there are remainder and quotient of its offset by the region's entries. A fence is found in "
    "none.",
    sizes="2 regions, 64 banks, 8 granules an entry, 16 address bits, never stalled",
    harness=lambda case: LocatorHarness(_PARAMS, case),
    depth=6,
    events=("second-region", "highest-tag", "between"),
    bugs={
        "last-line": Patch(_FILE, "(line < region.end)", "(line + 1 < region.end)"),
        "line-before": Patch(_FILE, "(line >= region.first)", "(line + 1 >= region.first)"),
        "first-of-the-other-region": Patch(
            _FILE, "one_hot_select(hit, firsts)", "one_hot_select(hit, [firsts[0], *firsts[:-1]])"
        ),
        "tag-of-one-step": Patch(
            _FILE, "divisor = before.p.turns << bit", "divisor = before.p.turns"
        ),
        "fits-without-the-equal": Patch(
            _FILE, "fits.eq(rest >= divisor)", "fits.eq(rest > divisor)"
        ),
    },
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
