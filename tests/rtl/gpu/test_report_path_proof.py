"""Proof: reports that are written, dropped and suppressed are all that were found."""

from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.formal.proof import Proof, proof_tests
from tests.support.scord.report_proof import ReportHarness

_WRITER, _FILTER = "common/report_writer.py", "gpu/report_filter.py"
_PARAMS = ScordParams(
    sm_count=1, blocks_per_sm=1, warps_per_sm=1, banks=2, report_fifo_depth=3,
    report_filter_entries=2, address_bits=16, pc_bits=8,
)  # fmt: skip
PROOF = Proof(
    rule="Once no report is held, the races counted are the reports written, dropped and "
    "suppressed; the signal that no report is held is right.",
    sizes="2 banks, FIFOs of 3 reports, 2 filter entries",
    harness=lambda case: ReportHarness(_PARAMS, case),
    depth=3,
    events=(
        "written", "suppressed", "dropped-at-the-ring", "dropped-by-an-error", "dropped-at-a-lane",
        "two-found",
    ),
    bugs={
        "drop-at-a-lane-not-counted": Patch(
            "gpu/check_lane.py",
            "self.o_count.reports_dropped.eq(reports.i.valid & ~reports.i.ready)",
            "self.o_count.reports_dropped.eq(0)",
        ),
        "suppressed-while-disabled": Patch(
            _FILTER, "self.o_suppressed.eq(is_repeat)", "self.o_suppressed.eq(self.i_enable)"
        ),
        "drop-at-the-ring-not-counted": Patch(
            _WRITER, "m.d.comb += self.o_dropped.eq(1)", "m.d.comb += self.o_dropped.eq(0)"
        ),
        "failed-write-not-counted": Patch(
            _WRITER, "self.o_dropped.eq(failed)", "self.o_dropped.eq(0)"
        ),
        "arbiter-takes-two": Patch(
            "common/arbiter.py", "turn[k] & sink.ready", "sink.ready"
        ),
        "idle-with-a-report-in-the-filter": Patch(
            "gpu/report_path.py", "& report_filter.o_idle ", ""
        ),
    },
    cycles=18,
)  # fmt: skip

test_holds, test_can_happen, test_bug_shows = proof_tests(PROOF)
