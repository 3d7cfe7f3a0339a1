"""Bugs to be planted in a copy of HiRace's RTL: co-simulation must find every one of them.

Each is a plausible slip in one block.
"""

from __future__ import annotations

from racetrap.sim.cosim.verilator.patch import Patch

PLANTED_BUGS: dict[str, Patch] = {
    # State machine
    "width-of-accessor-forgotten": Patch(
        "hirace/transitions.py",
        "width.eq(Mux(before.width > self.i_relation, before.width, self.i_relation))",
        "width.eq(before.width)",
    ),
    "warp-barrier-orders-a-block": Patch(
        "hirace/transitions.py",
        "is_ordered.eq(width <= self.i_sync)",
        "is_ordered.eq(width <= self.i_sync + (self.i_sync == Sync.WARP))",
    ),
    "block-atomics-across-blocks": Patch(
        "hirace/transitions.py",
        "(before.family == Family.GRID_ATOMIC) & (self.i_access == Access.GRID_ATOMIC)",
        "(self.i_access == Access.GRID_ATOMIC)",
    ),
    "exceptions-forgotten": Patch(
        "hirace/transitions.py", "in EXCEPTIONS.items():", "in {}.items():"
    ),
    # Check pipeline
    "result-just-ahead-not-taken": Patch(
        "hirace/check_pipeline.py", "Mux(follows, last.entry, request.entry)", "request.entry"
    ),
    "older-result-not-taken": Patch(
        "hirace/check_pipeline.py", "with m.Elif(older_valid & (older.slot == given.source)):",
        "with m.Elif(0):",
    ),
    "generation-not-compared": Patch(
        "hirace/check_pipeline.py", " & (packet.generation == entry.generation)", ""
    ),
    "word-stays-in-race": Patch(
        "hirace/check_pipeline.py", "with m.If(transitions.o_race), m.Switch(access):",
        "with m.If(0), m.Switch(access):",
    ),
    "new-identity-not-written": Patch(
        "hirace/check_pipeline.py", "monitored & (before != after)",
        "monitored & (before.state != after.state)",
    ),
    # Tracker
    "barrier-counts-twice": Patch(
        "hirace/tracker.py", "eq(self.o_count + 1)", "eq(self.o_count + 2)"
    ),
    "words-of-a-vector-not-told-apart": Patch(
        "hirace/tracker.py", "transaction.word + passed", "transaction.word"
    ),
    "vector-loses-its-last-word": Patch(
        "hirace/tracker.py", "(passed == transaction.more)",
        "((passed + 1 == transaction.more) | (transaction.more == 0))",
    ),
    # Places
    "window-not-above-the-region": Patch("hirace/entry_locator.py", " | window)", ")"),
    "window-without-an-end": Patch(
        "hirace/entry_locator.py", "place.monitored.eq(~packet.word[shift:].any())",
        "place.monitored.eq(1)",
    ),
    "half-of-the-metadata-initialised": Patch(
        "hirace/entry_locator.py", "decoder.o_entries_log2 + (params.shared_bytes > 0)",
        "decoder.o_entries_log2",
    ),
    # Interconnect and reports
    "packets-to-any-bank": Patch(
        "gpu/interleaver.py", "packet.word[:bits] == bank", "packet.word[0] == bank & 1"
    ),
    "report-of-the-entry-after": Patch(
        "gpu/report_encoder.py", "owner.eq(step.before)", "owner.eq(step.after)"
    ),
    "races-not-counted": Patch(
        "gpu/check_lane.py", "step.race == kind for", "step.race & 0 for",
    ),
    "lost-reports-not-counted": Patch(
        "gpu/check_lane.py", "reports_dropped.eq(reports.i.valid & ~reports.i.ready)",
        "reports_dropped.eq(0)",
    ),
    "counts-survive-a-launch": Patch(
        "hirace/tracker.py", "counts.i_clear.eq(self.i_clear)", "counts.i_clear.eq(0)"
    ),
}  # fmt: skip
