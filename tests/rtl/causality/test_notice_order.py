"""Notice order: notices in the order in which packets were taken, without deadlock, for any
bank."""

import pytest
from amaranth.sim import Simulator

from racetrap.golden_model.causality.params import CausalityParams
from racetrap.rtl.causality.notice_order import NoticeOrder
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.causality.notice_bench import NoticeBench
from tests.support.planted_bugs import modules_with, one_for_each_file


def _params(banks, **settings):
    return CausalityParams(**{
        "banks": banks, "sm_count": 1, "blocks_per_sm": 1, "warps_per_sm": 1, "outstanding": 4,
        "packet_fifo_depth": 2, "report_fifo_depth": 2, "address_bits": 20, "pc_bits": 16,
        "shared_bytes": 0, **settings,
    })  # fmt: skip


@pytest.mark.parametrize("banks", later_but((2, 4).__contains__, (2, 4, 8)))
def test_notices_are_in_the_order_of_their_packets(banks):
    bench = NoticeBench(_params(banks), f"order {banks}")
    bench.run(400, [bench.rng.choice((0.1, 0.5, 0.8)) for _ in range(banks)])
    assert bench.due > 30


def test_numbers_wrap_while_a_bank_is_stuck():
    NoticeBench(_params(2), "stuck").check_stuck()


def test_a_lone_bank_is_not_kept_waiting():
    dut = NoticeOrder(_params(1))

    async def testbench(ctx):
        source, sink = dut.i_notice[0], dut.o_notice[0]
        for valid, ready in ((0, 1), (1, 0), (1, 1)):
            ctx.set(source.valid, valid)
            ctx.set(sink.ready, ready)
            ctx.set(source.p.packet.pc, 7)
            await ctx.delay(0)
            assert (ctx.get(sink.valid), ctx.get(source.ready)) == (valid, ready)
            assert ctx.get(sink.p.packet.pc) == 7
            assert (ctx.get(dut.o_hold), ctx.get(dut.o_idle)) == (0, 1)

    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()


_FILE = "causality/notice_order.py"
_BUGS = {
    "notice-ahead-of-an-older-one": Patch(_FILE, "first.valid & ~is_newer.any()", "first.valid"),
    "one-bank-is-enough": Patch(_FILE, "~is_newer.any()", "~is_newer.all()"),
    "oldest-is-that-of-packets-alone": Patch(
        _FILE, "with m.If(noticed.o.valid):", "with m.If(0):"
    ),
    "packet-hides-notices-before-it": Patch(
        _FILE, "noticed.o_empty & checked.o.valid", "checked.o.valid"
    ),
    "idle-while-a-number-is-not-shown": Patch(
        _FILE, "with m.Elif(self.o_idle):", "with m.Else():"
    ),
    "numbers-are-compared-as-they-are": Patch(
        _FILE, "(other - first.payload)[len(other) - 1]", "(other < first.payload)"
    ),
    "numbers-are-packets-of-a-bank": Patch(_FILE, "self.i_taken.any()", "self.i_taken[0]"),
    "no-packet-is-too-old": Patch(_FILE, "age >= (1 << (bits - 1)) - 1", "0"),
    "every-packet-is-noticed": Patch(_FILE, "self.i_leaves & self.i_noticed", "self.i_leaves"),
}  # fmt: skip


@pytest.mark.parametrize("bug", one_for_each_file({name: bug.file for name, bug in _BUGS.items()}))
def test_planted_bug_shows(bug):
    order = modules_with([_FILE], _BUGS[bug])[_FILE].NoticeOrder
    busy, stuck = (NoticeBench(_params(4), "bugs", order) for _ in range(2))
    busy.eager = 0.95
    with pytest.raises(AssertionError):  # noqa: PT012, either run may show it
        busy.run(1500, [0.2, 0.5, 0.5, 0.1], share=0.2)
        stuck.run(2000, [1, 0.2, 0.5, 0.2], share=0.01)
