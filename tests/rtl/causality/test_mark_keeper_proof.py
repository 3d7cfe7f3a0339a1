"""Proof: a mark becomes a notice when all packets before it are checked and their notices taken."""

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.causality.keeper_proof import KEEPER, KeeperHarness
from tests.support.formal.proof import Proof, proof_tests

_PARAMS = CausalityParams(
    sm_count=2, blocks_per_sm=1, warps_per_sm=1, banks=2, clock_bits=3, hash_bits=1, known=1,
    ratio=2, report_fifo_depth=2, address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="Each mark becomes one notice of its block, after all notices of the packets before it, "
    "which have left the pipeline. A mark that nothing precedes is offered, whatever follows it. "
    "Other packets and notices pass unchanged, and an offered notice stays. There is room for "
    "all packets that are not done and all notices that are not taken, however late either is "
    "known.",
    sizes="2 SMs, 3 packets in flight",
    harness=lambda case: KeeperHarness(_PARAMS, 3, case),
    depth=1,
    events=(
        "behind-packets-and-notices", "in-an-empty-bank", "behind-another-mark",
        "later-packets-meanwhile", "notice-known-late",
    ),
    bugs={
        "packets-before-not-waited-for": Patch(
            KEEPER, "is_counted | ~(left - mark.before)[len(left) - 1]", "1"
        ),
        "notices-before-not-waited-for": Patch(
            KEEPER, "has_mark & has_left & ~Mux(is_counted, before, noticed).any()",
            "has_mark & has_left",
        ),
        "count-of-the-mark-before": Patch(
            KEEPER, "m.d.sync += is_counted.eq(0)", "m.d.sync += is_counted.eq(is_counted)"
        ),
        "notice-lost-behind-a-mark": Patch(KEEPER, "sink.ready & ~may_go", "sink.ready"),
        "packets-behind-without-end": Patch(
            KEEPER, "has_mark & ((entered - mark.before)[: len(entered) - 1].all())", "0"
        ),
        "mark-changes-what-waits": Patch(
            KEEPER, "before, noticed) - is_taken", "before, noticed) - self.i_notice.valid"
        ),
        "notice-taken-before-it-is-known": Patch(KEEPER, "self._noticed.any()", "1"),
        "packets-in-flight-without-end": Patch(
            KEEPER, "is_full.eq(in_flight == most)", "is_full.eq(0)"
        ),
        "notices-in-flight-not-counted": Patch(KEEPER, "Mux(self.i_noticed, 0, leaves)", "leaves"),
        "mark-enters-the-bank": Patch(
            KEEPER, "self.i_packet.valid & ~is_mark", "self.i_packet.valid"
        ),
    },
    cycles=12,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
