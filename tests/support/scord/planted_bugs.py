"""Bugs to be planted in a copy of the RTL: the testbench must find every one of them.

Each is a plausible slip in one block.
"""

from __future__ import annotations

from dataclasses import dataclass

from racetrap.sim.cosim.verilator.patch import Patch


@dataclass(frozen=True)
class PlantedBug:
    """A bug, and the testbench module whose test must fail with it, on easy or hard memories."""

    patch: Patch
    testbench: str = "random_tests"
    hard: bool = True


def _bug(file: str, before: str, after: str, testbench: str = "random_tests") -> PlantedBug:
    return PlantedBug(Patch(file, before, after), testbench)


PLANTED_BUGS: dict[str, PlantedBug] = {
    # Trackers
    "splitter-lock-of-first-word": _bug(
        "scord/granule_splitter.py",
        "lock_mask.bit_select(index[:_LINE_INDEX_BITS], 1)",
        "lock_mask[0]",
    ),
    "tracker-failed-cas-inserts": _bug(
        "scord/tracker.py",
        "item.lock & (item.op == AtomicOp.CAS)",
        "(item.op == AtomicOp.CAS)",
    ),
    "lock-table-inserts-twice": _bug("scord/lock_table.py", "with m.If(~match.any()):", "if True:"),
    "lock-table-forwarding-missing": _bug(
        "scord/lock_table.py",
        "forward.eq(is_write & (warp == self.i_warp))",
        "forward.eq(0)",
    ),
    "filter-forgets-narrowed-locks": _bug(
        "scord/filter_encoder.py",
        "                | (entry.state == LockState.HELD_BLOCK_BY_DEVICE)\n",
        "",
    ),
    "barrier-counts-double": _bug("scord/barrier_ids.py", "eq(output + 1)", "eq(output + 2)"),
    "generation-not-counted": _bug(
        "scord/tracker.py",
        "generations.i_increment.eq(lookup.o.valid & is_start)",
        "generations.i_increment.eq(0)",
    ),
    "generation-counts-warps": _bug(
        "scord/tracker.py",
        "(item.kind == TransactionKind.BLOCK_START) & item.is_last",
        "item.kind == TransactionKind.BLOCK_START",
    ),
    "generation-does-not-wrap": _bug(
        "scord/tracker.py",
        "i_increment.eq(lookup.o.valid & is_start)",
        "i_increment.eq(lookup.o.valid & is_start & ~generations.o_generation.all())",
    ),
    "generation-survives-launch": _bug(
        "scord/tracker.py",
        "generations.i_clear.eq(lock_tables.i_clear)",
        "generations.i_clear.eq(0)",
    ),
    # Interconnect
    "fence-to-one-bank": _bug(
        "scord/fence_collector.py",
        "leaves.eq(present.any() & has_taken.all())",
        "leaves.eq(present.any() & has_taken[0])",
    ),
    "fence-overtaken-by-its-warp": _bug(
        "scord/tracker.py", "waits.eq(hold.o_warp_waits)", "waits.eq(0)"
    ),
    "fence-overtaken-by-its-block": _bug(
        "scord/tracker.py", "waits.eq(hold.o_block_waits)", "waits.eq(0)"
    ),
    "interleaver-routes-by-wrong-bit": _bug(
        "scord/interleaver.py",
        "segment = params.granularity_bits",
        "segment = 1 + params.granularity_bits",
    ),
    # Detector bank
    "fence-file-not-forwarded": _bug(
        "scord/fence_counters.py", "written.eq(self.i_fence)", "written.eq(0)"
    ),
    "fence-file-survives-launch": _bug(
        "scord/fence_counters.py", "m.d.sync += clearing.eq(0)", "m.d.sync += clearing.eq(depth)"
    ),
    "logic-block-fence-hides-read": _bug(
        "scord/detection_logic.py",
        "entry.modified & ~fenced.blk & ~fenced.dev",
        "entry.modified & ~fenced.dev",
    ),
    "logic-shared-readers-forgotten": _bug(
        "scord/detection_logic.py",
        "(~relation.same_block | ~self.i_fenced.blk | entry.dev_shared)",
        "(~relation.same_block | ~self.i_fenced.blk)",
    ),
    "logic-lock-sets-not-met": _bug(
        "scord/detection_logic.py",
        "            rows[TableRow.STORE_LOCKED]\n            | rows[TableRow.LOAD_LOCKED]",
        "            rows[TableRow.LOAD_LOCKED]",
    ),
    "relation-barriers-not-compared": _bug(
        "scord/access_relation.py", "access.barrier_id == last.barrier_id", "1"
    ),
    "logic-entry-keeps-generation": _bug(
        "scord/detection_logic.py",
        'of_packet["generation"] = packet.generation',
        'of_packet["generation"] = entry.generation',
    ),
    "relation-generations-not-compared": _bug(
        "scord/access_relation.py",
        "same_block &= access.generation == last.generation",
        "same_block &= access.generation == access.generation",
    ),
    "relation-half-empty-filter-holds": _bug(
        "scord/access_relation.py",
        "filter_bits[:FILTER_BIN_BITS].any() & filter_bits",
        "filter_bits[:FILTER_BIN_BITS].any() | filter_bits",
    ),
    "region-tag-too-short": _bug(
        "gpu/region.py",
        "self.o_tag.eq(granule >> entries_log2)",
        "self.o_tag.eq((granule >> entries_log2) & 1)",
    ),
    "window-never-forwards": _bug(
        "gpu/hazard_window.py",
        "matches[slot].eq(newest[slot] & (index == self.i.p.index))",
        "matches[slot].eq(0)",
    ),
    "window-forwards-from-older-slot": _bug(
        "gpu/hazard_window.py",
        "newest & ~leaving & ~(matches & is_entering)",
        "newest & ~leaving",
    ),
    "window-waits-for-no-answer": _bug(
        "gpu/hazard_window.py", "answer_claimed.data ^ needs_read", "answer_claimed.data"
    ),
    "pipeline-misses-older-result": _bug(
        "scord/check_pipeline.py",
        "with m.Elif(older_valid & (older.slot == given.source)):",
        "with m.Elif(older_valid & ~older_valid):",
    ),
    "pipeline-owner-before-last": _bug(
        "scord/decision_stage.py", ".eq(Mux(self._owner_replaced, own, owner))", ".eq(owner)"
    ),
    "pipeline-late-owner-not-looked-at": _bug(
        "scord/check_pipeline.py", "fence_file.i_late.eq(is_late)", "fence_file.i_late.eq(0)"
    ),
    "decision-relation-before-last": _bug(
        "scord/decision_stage.py",
        "request.follows & self._owner_replaced",
        "request.follows & ~request.follows",
    ),
    "decision-fences-of-owner-before": _bug(
        "scord/decision_stage.py", "last_fenced[scope] & ~self._owner_replaced", "executed"
    ),
    "accessor-read-error-ignored": _bug(
        "gpu/metadata_accessor.py",
        "answer_in.data.read_error.eq(failed)",
        "answer_in.data.read_error.eq(0)",
    ),
    "write-back-does-not-wait": _bug(
        "gpu/write_back.py",
        "(~oldest_changed | (answers != 0))",
        "(~oldest_changed | (passed != retired))",
    ),
    "entry-writer-overwrites-address": _bug(
        "gpu/entry_writer.py",
        "self.i.ready.eq((~address_waits | axi.awready) & (~entry_waits | axi.wready))",
        "self.i.ready.eq(~entry_waits | axi.wready)",
    ),
    "init-skips-entries": _bug(
        "gpu/init_engine.py",
        "following.eq(index + (1 << low))",
        "following.eq(index + (2 << low))",
    ),
    # Reports
    "report-scope-by-warp": _bug(
        "scord/check_lane.py", "owner.block != step.packet.block", "owner.warp != step.packet.warp"
    ),
    "report-blocks-of-a-slot-are-one": _bug(
        "scord/check_lane.py",
        "other_block |= owner.generation != step.packet.generation",
        "other_block |= owner.generation != owner.generation",
    ),
    # Found only if no report was dropped: a dropped one may be the first of its kind.
    "report-filter-by-pc-only": PlantedBug(
        Patch("gpu/report_filter.py", "pair.race.eq(self.i.payload.race)", "pair.race.eq(1)"),
        hard=False,
    ),
    "report-ring-does-not-wrap": _bug(
        "common/report_writer.py",
        "place = self.o_head & ~(Const(-1, 32) << self.i_capacity_log2)[:32]",
        "place = self.o_head[:31]",
    ),
    "report-failed-write-counts": _bug(
        "common/report_writer.py",
        "self.o_head.eq(self.o_head + ~failed)",
        "self.o_head.eq(self.o_head + 1)",
    ),
    # Registers and launches
    "counter-takes-one-bank": _bug(
        "common/registers.py",
        "total.eq(value + port.increment)",
        "total.eq(value + port.increment[0])",
    ),
    "counter-unmonitored-counts-fences": _bug(
        "scord/check_lane.py",
        '"unmonitored": ~is_access',
        '"unmonitored": is_fence',
    ),
    "register-ignores-strobes": _bug(
        "common/registers.py",
        "value.eq((value & ~mask) | (data & mask))",
        "value.eq(data)",
        "register_tests",
    ),
    "launch-takes-misaligned-metadata": _bug(
        "gpu/launch_control.py",
        "(bases.metadata & (params.segment_bytes - 1)) == 0",
        "(bases.metadata & (params.segment_bytes - 1)) != 1",
        "register_tests",
    ),
    "enable-not-heeded": _bug(
        "gpu/system.py",
        "registers.control.enable & launch.o_launched",
        "launch.o_launched",
        "register_tests",
    ),
}
