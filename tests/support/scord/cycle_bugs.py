"""Bugs planted in the model of ScoRD's cycles."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from racetrap.sim.cosim.scord import cycle_model
from racetrap.sim.cosim.verilator.patch import Patch

#: Banks that share a port, and fences that come together.
_LANES = {"banks": 8, "words_per_cycle": 4, "fence_lanes": 2, "sm_count": 4, "outstanding": 16}


@dataclass(frozen=True)
class CycleBug:
    """A change of a source, and parameters with which it shows."""

    file: str
    before: str
    after: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def with_bug(bug: CycleBug, folder: Path) -> Path:
    """A copy of the model's sources with a bug."""
    for name in ("cycles", "compiled"):
        shutil.copytree(cycle_model._FOLDER / name, folder / name)
    Patch(f"cycles/{bug.file}", bug.before, bug.after).apply(folder)
    return folder


def _bug(file: str, before: str, after: str, **settings: Any) -> CycleBug:
    return CycleBug(file, before, after, settings)


BUGS = {
    # Streams
    "a register is full while it empties": _bug("streams.h", "!held || goes", "!held"),
    "a FIFO holds one more": _bug("streams.h", "inner_.size() < depth_ - 1",
                                  "inner_.size() < depth_"),
    "a FIFO passes nothing on while it is read": _bug(
        "streams.h", "is_taken && depth_ != 2", "false"),
    "turns begin with the first": _bug("streams.h", "each > last_", "false"),
    # SMs
    "a fence holds nothing": _bug("sm_unit.h", "fencing_ >> each.warp & 1", "false"),
    "a barrier waits for no fence": _bug("sm_unit.h", "slot_[warp] == each.slot", "false"),
    "a barrier takes no cycle": _bug("sm_unit.h", "each.kind == BARRIER ? 1", "false ? 1"),
    "a lock's words go together": _bug("sm_unit.h", "each.lock_mask || words > 1", "false",
                                       **_LANES),
    "words go one by one": _bug("sm_unit.h", "joins = !items_.empty()", "joins = false", **_LANES),
    # Interleaver
    "fences wait for all turns": _bug("interleaver.h", "!is_present_ || leaves_", "!is_present_"),
    "a bundle is offered again": _bug("interleaver.h", "is_present_ && !taken_[port]",
                                      "is_present_", **_LANES),
    "a bundle leaves with the first": _bug(
        "interleaver.h", "leaves_ &= fence_goes_[port] || taken_[port];",
        "leaves_ = leaves_ && (port || fence_goes_[port] || taken_[port]);", banks=2),
    # Window
    "the window has no end": _bug("slice_unit.h", "claimed_ - retired_ == slots_.size()", "false"),
    "a read does not hold the next": _bug("slice_unit.h", "!is_noted_ || port.takes_read", "true"),
    "an entry in flight is read again": _bug("slice_unit.h", "is_held = found", "is_held = false"),
    "an entry is held by its first slot": _bug(
        "slice_unit.h", "newest_[own.index] = noted_slot_",
        "newest_.emplace(own.index, noted_slot_)"),
    "the check does not wait for its entry": _bug(
        "slice_unit.h", "!slot(checked_).is_pending", "true"),
    "a slot is noted at once": _bug("slice_unit.h", "checked_ != noted_", "checked_ != claimed_"),
    "metadata in flight is merged always": _bug(
        "slice_unit.h", "!settings_.merge_in_flight && located_.held", "false",
        merge_in_flight=False),
    # Results
    "unchanged entries are written": _bug("slice_unit.h", "step.after != step.before", "true"),
    "slots retire before their answer": _bug(
        "write_back.h", "!oldest_changed_ || answers_", "true"),
    "data wait for their address": _bug(
        "write_back.h", "(!entry_waits_ || port.takes_data)", "!entry_waits_"),
    "a result is read while one waits": _bug("write_back.h", "!result_waits_ || takes_", "true"),
    # Owners of several banks
    "all owners are known": _bug("owner_lookup.h", "needs & ~known_", "0", **_LANES),
    "an owner is looked up each time": _bug("owner_lookup.h", "kept_ |= found_", "kept_ = found_",
                                            **_LANES),
    "a late owner is not known": _bug("owner_lookup.h", "kept_ = known_before_", "kept_ = 0",
                                      **_LANES),
    "a follower's owner is unknown": _bug("owner_lookup.h", "follows ? was_known_ :", "false ? 0 :",
                                          **_LANES),
    "a stale result is not looked up": _bug(
        "slice_unit.h", "results_[stage_4_.slot] = slots_[stage_4_.slot].after", "", **_LANES),
    "memories have one part": _bug("owner_lookup.h", "lane << settings_.fence_part_bits | part",
                                   "lane << settings_.fence_part_bits", **_LANES),
}  # fmt: skip
