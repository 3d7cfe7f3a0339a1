"""Mark keeper: a mark is answered behind all that its bank had before it, and is no load for it."""

import pytest

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.mark_keeper import MarkKeeper
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.keeper_bench import (
    KeeperBench,
    check_behind_a_mark,
    check_limits,
)
from tests.support.planted_bugs import modules_with, one_for_each_file

_PARAMS = CausalityParams(
    sm_count=5, blocks_per_sm=2, warps_per_sm=2, outstanding=4, packet_fifo_depth=2,
    report_fifo_depth=2, address_bits=20, pc_bits=16, shared_bytes=0,
)  # fmt: skip


@pytest.mark.parametrize("seed", later_but((0).__eq__, range(6)))
def test_marks_are_answered_behind_all_before_them(seed):
    bench = KeeperBench(_PARAMS, seed)
    bench.run(600)
    assert bench.answered > 50
    assert bench.number > 150


def test_a_mark_at_an_idle_bank_is_answered_in_the_next_cycle():
    bench = KeeperBench(_PARAMS, "idle", packets=0, eager=1)
    bench.run(40)
    assert set(bench.waits) == {1}


def test_packets_in_flight_are_limited_and_an_early_notice_waits():
    check_limits(_PARAMS, MarkKeeper)


@pytest.mark.parametrize("before", [0, 9])
def test_packets_behind_a_mark_that_waits_do_not_hide_the_next_one(before):
    check_behind_a_mark(_PARAMS, MarkKeeper, before)


_FILE = "causality/mark_keeper.py"
_BUGS = {
    "mark-ahead-of-packets": Patch(_FILE, "is_counted | ~(left - mark.before)[len(left) - 1]", "1"),
    "mark-ahead-of-notices": Patch(
        _FILE, "has_mark & has_left & ~Mux(is_counted, before, noticed).any()",
        "has_mark & has_left",
    ),
    "mark-goes-to-the-bank": Patch(_FILE, "self.i_packet.valid & ~is_mark", "self.i_packet.valid"),
    "count-of-the-next-mark-stays": Patch(_FILE, "with m.If(goes):", "with m.If(0):"),
    "packets-without-end": Patch(_FILE, "is_full.eq(in_flight == most)", "is_full.eq(0)"),
    "early-notice-passes": Patch(_FILE, "self._noticed.any()", "1"),
    "mark-is-always-idle": Patch(_FILE, "self.o_idle.eq(~has_mark &", "self.o_idle.eq(has_mark &"),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    keeper = modules_with([_FILE], _BUGS[bug])[_FILE].MarkKeeper
    with pytest.raises((AssertionError, KeyError)):  # noqa: PT012, any seed may show it
        for seed in range(4):
            KeeperBench(_PARAMS, seed, keeper).run(600)
        check_limits(_PARAMS, keeper)
