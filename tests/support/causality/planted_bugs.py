"""Bugs to plant in causality's hardware, which co-simulation must find."""

from __future__ import annotations

from racetrap.sim.cosim.verilator.patch import Patch

#: Bugs by name; the first of each file is the one that is quickest to see.
PLANTED_BUGS: dict[str, Patch] = {
    # Entries
    "old-epochs-count": Patch("causality/entry.py", "(found.epoch == epoch) & ", ""),
    "tag-not-compared": Patch(
        "causality/entry.py", "is_there & (found.tag == access.tag)", "is_there"
    ),
    "message-dropped-without-a-mark": Patch(
        "causality/entry.py", "found.lost | self.o_dropped", "found.lost"
    ),
    "blocks-before-count-in-shared-memory": Patch(
        "causality/entry.py", "is_same & (~packet.shared | match.writer)", "is_same"
    ),
    "bytes-of-other-lanes-joined": Patch(
        "causality/entry.py", "(old.lane != new.lane)", "0"
    ),
    "atomic-ends-a-message": Patch(
        "causality/entry.py", "had & (is_atomic | rest.any())", "had & rest.any()"
    ),
    "wrap-hands-nothing-on": Patch(
        "causality/entry.py", "(is_atomic & ~had & self.i_has_wrapped)", "0"
    ),
    "one-observer-alone": Patch(
        "causality/entry.py", "Mux(is_one, Observed.READER, Observed.SEVERAL)", "Observed.READER"
    ),
    # Order and decision
    "last-release-orders-all": Patch(
        "causality/warp_order.py", "(known.clock >= side.clock)", "(known.clock != 0)"
    ),
    "block-of-before-is-own": Patch(
        "causality/warp_order.py", "self.o.is_own.eq(same_warp & is_current)",
        "self.o.is_own.eq(same_warp)",
    ),
    "barrier-orders-what-follows": Patch(
        "causality/warp_order.py", "side.clock <= row.bar", "side.clock <= row.bar + 1"
    ),
    "scopes-not-compared": Patch(
        "causality/detection_logic.py",
        "return relation.in_block | (side.device & self.i_access.packet.device)",
        "return relation.in_block | ~relation.in_block",
    ),
    "acquire-does-not-come-behind": Patch(
        "causality/detection_logic.py", "is_checked.eq(~(self.o_met & packet.acquire))",
        "is_checked.eq(1)",
    ),
    "volatile-read-is-a-race": Patch(
        "causality/detection_logic.py", "m.d.comb += conflict.flag_read.eq(~packet.writes)",
        "m.d.comb += conflict.races.eq(~packet.writes)",
    ),
    # Rows and places
    "window-in-the-region": Patch(
        "causality/entry_locator.py", "decoder.o_index | half", "decoder.o_index"
    ),
    "window-without-an-end": Patch(
        "causality/entry_locator.py", "is_access & ~packet.word[shift:].any()", "is_access"
    ),
    # Trackers and interconnect
    "release-of-a-fence-forgotten": Patch(
        "causality/tracker.py", "releases = (kind == kinds.FENCE) | (kind == kinds.BEGIN)",
        "releases = kind == kinds.BEGIN",
    ),
    "branch-keeps-the-clock": Patch(
        "causality/tracker.py", "advances = (kind == kinds.IF) | (kind == kinds.WARP_BARRIER)",
        "advances = kind == kinds.WARP_BARRIER",
    ),
    "accesses-to-any-bank": Patch(
        "causality/interleaver.py", "port.payload.kind > PacketKind.ATOMIC",
        "port.payload.kind >= PacketKind.ATOMIC",
    ),
    # Collector
    "marker-does-not-wait-for-banks": Patch(
        "causality/marker_gate.py", "passed == params.banks", "passed >= 1"
    ),
    "earlier-lane-not-named": Patch(
        "causality/race_encoder.py", '"lane": side.lane', '"lane": highest_set(packet.lanes)'
    ),
    "release-at-its-own-clock-forgotten": Patch(
        "causality/race_encoder.py", "is_released.eq((owner.release >= side.clock)",
        "is_released.eq((owner.release > side.clock)",
    ),
    "full-places-overwritten": Patch(
        "causality/flags.py", "(keeps & ~kept.valid)", "keeps"
    ),
    "retired-readers-wait": Patch(
        "causality/flags.py", "giver.retired | (side.clock < giver.start)",
        "side.clock < giver.start",
    ),
    "acquire-takes-nothing-of-the-device": Patch(
        "causality/marker_phases.py", "acquires & device & far, taken",
        "acquires & ~device & far, taken",
    ),
    "message-is-that-of-an-operation": Patch(
        "causality/meeting_phases.py",
        "self.least(meeting.side.clock - ~meeting.side.operation, last)",
        "self.least(meeting.side.clock, last)",
    ),
    "barrier-without-a-clock": Patch(
        "causality/barrier_phases.py",
        'Phase(whole, [taker[name].eq(barrier.final) for name in ("clock", "lanes_before")])',
        'Phase(whole, [taker[name].eq(barrier.top) for name in ("clock", "lanes_before")])',
    ),
    "new-block-knows-the-old": Patch(
        "causality/marker_phases.py",
        'Phase(start, [Value.cast(taker[name]).eq(0) for name in ("know", "here")])',
        'Phase(start, [Value.cast(taker[name]).eq(0) for name in ("here",)])',
    ),
    "banks-never-hear-of-a-fence": Patch(
        "causality/collector.py", "self._outlet.i_row.fenced.eq(self._fenced | fences)",
        "self._outlet.i_row.fenced.eq(0)",
    ),
    # The whole
    "fence-known-to-one-bank": Patch(
        "causality/detector_bank.py", "m.d.sync += fenced.eq(1)",
        "m.d.sync += fenced.eq(self.i_port == 0)",
    ),
    # The system
    "checks-before-the-first-launch": Patch(
        "gpu/system.py", "registers.control.enable & launch.o_launched", "registers.control.enable"
    ),
    "idle-before-reports-are-written": Patch("gpu/report_path.py", " & writer.o_idle", ""),
}  # fmt: skip
