"""The bins of causality's functional coverage, and the reasons why some cannot be hit."""

from __future__ import annotations

from itertools import product

from racetrap.golden_model.causality.packets import (
    Against,
    Fenced,
    FenceOrder,
    Observed,
    PacketKind,
    RaceKind,
    SizeCode,
    TransactionKind,
    Undecided,
)
from racetrap.sim.cosim.gpu.testbench_bins import NEVER_STALLED, TESTBENCH_BINS

_SPACES = ("global", "shared")
_SCOPES = ("block", "device")
#: What an access names, by kind; an atomic is never weak nor volatile.
_NAMED = {
    PacketKind.LOAD: ("weak", "volatile", "relaxed", "acquire"),
    PacketKind.STORE: ("weak", "volatile", "relaxed", "release"),
    PacketKind.ATOMIC: ("relaxed", "acquire", "release", "acq_rel"),
}
#: Counters of what does not fit, or of what is learnt.
COUNTED = (
    "messages_met", "messages_dropped", "tag_conflicts", "knowledge_evictions", "pending_full",
    "clock_wraps",
)  # fmt: skip
#: What an entry may be before an access to its word.
_ENTRY = ("written", "read", "message", "mixed", "several", "handed", "lost", "unknown")
#: What a write does with the message of its word, and why what it writes is one.
_MESSAGE = ("ended", "goes_on", "behind_a_fence", "by_an_operation")
#: Fences that only the testbench sees in time: that accesses of their SM were still to be checked,
#: and that the memory held those back.
FENCE_BINS = ("fence.waited", "fence.waited_for_memory")
#: Bins that no stimulus can hit, with the reason.
UNREACHABLE = dict(NEVER_STALLED)
_NO_WINDOW = "Shared memory is not watched."


def _bins() -> list[str]:
    names = [f"transaction.{kind.name.lower()}" for kind in TransactionKind]
    for what, orders in (
        ("fence", FenceOrder),
        ("begin", (FenceOrder.RELEASE, FenceOrder.ACQ_REL)),
        ("end", (FenceOrder.ACQUIRE, FenceOrder.RELEASE, FenceOrder.ACQ_REL)),
    ):
        names += [
            f"{what}.{order.name.lower()}.{scope}" for order, scope in product(orders, _SCOPES)
        ]
    names += [f"warp_barrier.{lanes}" for lanes in ("all", "tile", "some")]
    names += [f"partial_barrier.{warps}" for warps in ("all", "some", "none")]
    names += ["branch.kept", "branch.too_deep"]
    names += [f"{space}.{what}" for space in _SPACES for what in ("monitored", "outside")]
    names += [
        f"access.{kind.name.lower()}.{name}" for kind, named in _NAMED.items() for name in named
    ]
    names += [f"size.{code.name.lower()}" for code in SizeCode]
    names += [f"lanes.{count}" for count in ("one", "several", "all")]
    names += [f"before.{what}" for what in _ENTRY]
    names += [f"before.fenced.{fence.name.lower()}" for fence in Fenced]
    names += [f"message.{what}" for what in _MESSAGE]
    names += ["met.same_block", "met.other_block", "joined", "handed_over"]
    names += [f"observed.{kind.name.lower()}" for kind in Observed]
    names += [f"against.{kind.name.lower()}" for kind in Against]
    names += [f"undecided.{kind.name.lower()}" for kind in Undecided]
    names += ["took_on", "displaced", "read_error", "unequal"]
    names += [f"race.{kind.name.lower()}" for kind in RaceKind if kind]
    names += ["race.late", "race.at_once"]
    names += [f"report.{kind.name.lower()}" for kind in RaceKind if kind]
    names += [f"report.{space}" for space in _SPACES]
    names += [f"counter.{name}" for name in COUNTED]
    return [*names, "epochs_restart", *FENCE_BINS, *TESTBENCH_BINS]


#: Names of all bins, in the order of reports.
BINS = dict.fromkeys(_bins())
#: Bins that only some instances have.
OPTIONAL_BINS: dict[str, None] = {}


def without_window() -> dict[str, str]:
    """Bins that cannot be hit without a window for shared memory, with the reason."""
    names = ("shared.monitored", "shared.outside", "report.shared")
    return dict.fromkeys(names, _NO_WINDOW)
