"""Front end: random issue streams, behind stores that meet, find bugs planted in each block."""

from dataclasses import replace
from functools import partial

import pytest

from racetrap.generators.causality import CAUSALITY
from racetrap.generators.scord import SCORD
from racetrap.golden_model.causality.word_splitter import split_words
from racetrap.golden_model.gpu.issue import Instruction, IssueKind
from racetrap.golden_model.scord.coalescer import coalesce
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.gpu.issue_bench import IssueBench, random_instructions
from tests.support.planted_bugs import modules_with

_HOLD, _COUNTER, _GROUPS = "gpu/outcome_hold.py", "gpu/barrier_counter.py", "gpu/lane_groups.py"
_FRONT = "gpu/front_end.py"
_COALESCER, _SPLITTER = "scord/coalescer.py", "causality/word_splitter.py"
_FILES = [_HOLD, _COUNTER, _GROUPS, _COALESCER, _SPLITTER, _FRONT]
_BUGS = {
    "warp-overtakes-its-cas": Patch(_HOLD, "owner.warp == instruction.warp)", "0)"),
    "block-ends-before-its-cas": Patch(_HOLD, "owner.slot == instruction.slot,", "0,"),
    "place-taken-twice": Patch(_HOLD, "free.eq(lowest_one_hot(~taken))", "free.eq(1)"),
    "outcome-of-another-place": Patch(
        _HOLD, "read.addr.eq(one_hot_number(answered))", "read.addr.eq(0)"
    ),
    "cas-left-keeps-its-place": Patch(
        _HOLD, "taken.bit_select(place, 1).eq(0)", "taken.bit_select(0, 1).eq(0)"
    ),
    "offer-changes-for-an-outcome": Patch(_HOLD, "leads.eq(answers & ~waits)", "leads.eq(answers)"),
    "one-arrival-too-few": Patch(_COUNTER, ">= row.count", "> row.count"),
    "ended-warps-are-waited-for": Patch(
        _COUNTER, "changed.data.living.eq(found.data.living & ~self.o_here)",
        "changed.data.living.eq(found.data.living)",
    ),
    "waiting-is-arrived": Patch(_COUNTER, "Mux(waits, here, 0)", "here"),
    "first-lane-is-enough": Patch(_COUNTER, "return ~(block.o_lanes & ~lanes).any()", "return 1"),
    "barrier-of-the-block-before": Patch(
        _COUNTER, "m.d.sync += active[item.slot].eq(0)", "pass"
    ),
    "lanes-that-end-are-waited-for": Patch(
        _COUNTER, "Mux(has_arrived, read.data.some & block.o_here, 0)", "0"
    ),
    "arrive-is-lost": Patch(
        _COUNTER, "self.o.valid.eq(item.kind == kinds.ARRIVE)", "self.o.valid.eq(0)"
    ),
    "gone-lane-leads": Patch(_GROUPS, "has_lead & (self.o_lead & left).any()", "has_lead"),
    "least-of-the-first-lanes": Patch(
        _GROUPS, "least.eq(_first(some, order))", "least.eq(lowest_one_hot(some))"
    ),
    "inactive-lanes-access": Patch(_GROUPS, "near & same & active", "near & same"),
    "wide-access-is-one-word": Patch(_COALESCER, "operation.size >= 3", "operation.size >= 4"),
    "failed-cas-takes-the-lock": Patch(
        _COALESCER, "Mux(takes, operation.success, 0)", "Mux(takes, ~0, 0)"
    ),
    "release-frees-no-lock": Patch(
        _COALESCER, "frees = is_release | ", "frees = ~is_release & "
    ),
    "shared-memory-is-global": Patch(
        _COALESCER, "is_access(given) & ~given.shared", "is_access(given)"
    ),
    "failing-lanes-are-one": Patch(_SPLITTER, "fails & before, fails & ~before", "fails, fails"),
    "end-without-begin": Patch(
        _SPLITTER, "begins.eq(self.i.valid & accesses & releases)", "begins.eq(0)"
    ),
    "second-word-is-unequal": Patch(_SPLITTER, "group.near.eq(0)", "group.near.eq(group.near)"),
    "unequal-values-of-one-address": Patch(
        _SPLITTER, "group.near.eq(groups.o_near)", "group.near.eq(groups.o_same)"
    ),
    "last-word-is-lost": Patch(_SPLITTER, "leaves & is_last_word", "leaves"),
}  # fmt: skip
#: Unequal values at one address, of two words and in a word of several addresses: so few streams
#: have one that they come before each.
_MEETINGS = (
    Instruction(IssueKind.BLOCK_START, warps=1, lanes=31),
    Instruction(IssueKind.STORE, size=3, lanes=3, addresses=(64, 64), marks=2),
    Instruction(IssueKind.STORE, size=0, lanes=7, addresses=(64, 65, 65), marks=4),
    Instruction(IssueKind.BLOCK_END),
)
_NOW = ("warp-overtakes-its-cas", "one-arrival-too-few")


def _run(detector, modules, seed):
    """Random instructions through a front end of these modules."""
    system, file, coalescer, golden = {
        "scord": (SCORD, _COALESCER, "Coalescer", coalesce),
        "causality": (CAUSALITY, _SPLITTER, "WordSplitter", split_words),
    }[detector]
    sizes = {"lanes": 5, "address_bits": 18, "outstanding_cas": 2}
    params = replace(system.presets[f"{detector}-tiny"].params, **sizes)
    front_end = partial(modules[_FRONT].FrontEnd, coalescer=getattr(modules[file], coalescer))
    bench = IssueBench(front_end, golden, params, f"bugs {seed}")
    bench.run([*_MEETINGS, *random_instructions(params, f"bugs {seed}", 150)])


def _run_all(detector, modules):
    for seed in range(10):
        _run(detector, modules, seed)


@pytest.mark.parametrize("name", later_but(_NOW.__contains__, _BUGS))
def test_planted_bug_is_found(name):
    bug = _BUGS[name]
    detector = "scord" if bug.file == _COALESCER or "least" in name else "causality"
    with pytest.raises((AssertionError, TimeoutError)) as caught:
        _run_all(detector, modules_with(_FILES, bug))
    print(f"{name}: {caught.value}")


@pytest.mark.campaign
@pytest.mark.parametrize("detector", ["scord", "causality"])
def test_nothing_is_found_without_a_bug(detector):
    _run_all(detector, modules_with(_FILES, None))
