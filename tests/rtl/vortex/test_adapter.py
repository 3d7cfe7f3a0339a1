"""Adapter of Vortex: equal to the golden one on random instructions; errors; its checker."""

from dataclasses import replace

import pytest

from racetrap.generators.causality import CAUSALITY
from racetrap.generators.scord import SCORD
from racetrap.golden_model.vortex.adapter import AdapterError
from racetrap.rtl.vortex.adapter import QUEUE_DEPTH, QUEUE_LIMIT, Adapter
from racetrap.sim.cosim.verilator.patch import Patch
from tests.support.campaign import later_but
from tests.support.planted_bugs import modules_with
from tests.support.rtl.streams import shared, simulate
from tests.support.vortex.adapter_bench import AdapterBench
from tests.support.vortex.random_issue import word_of

_SIZE = {
    "lanes": 4, "warps_per_sm": 4, "blocks_per_sm": 4, "address_bits": 32, "pc_bits": 32,
    "outstanding_cas": 4,
}  # fmt: skip
_PARAMS = replace(SCORD.presets["scord-tiny"].params, **_SIZE)


@pytest.mark.parametrize("seed", later_but(lambda seed: seed == 0, range(6)))
def test_random_instructions(seed):
    AdapterBench(Adapter, _PARAMS, seed).run(150 if seed == 0 else 1500)


@pytest.mark.campaign
def test_beside_causality():
    params = replace(CAUSALITY.presets["causality-tiny"].params, **_SIZE)
    AdapterBench(Adapter, params, "causality").run(500)


def test_another_size_is_refused():
    with pytest.raises(ValueError, match="warps_per_sm"):
        Adapter(replace(_PARAMS, warps_per_sm=8))


# Errors --------------------------------------------------------------------------------------


def _error(*drive):
    """Error and its program counter after some cycles of inputs, each a function of the context."""
    dut, seen = shared(Adapter, _PARAMS), []

    async def testbench(ctx):
        for each in drive:
            ctx.set(dut.i_issue.valid, 0)
            ctx.set(dut.i_start.valid, 0)
            each(ctx, dut)
            await ctx.tick()
        ctx.set(dut.i_issue.valid, 0)
        ctx.set(dut.i_start.valid, 0)
        for _ in range(8):
            await ctx.tick()
        seen.extend([ctx.get(dut.o_error), ctx.get(dut.o_error_pc)])

    simulate(dut, testbench)
    return seen


def _issue(pc, **fields):
    def drive(ctx, dut):
        ctx.set(dut.i_issue.payload.as_value(), word_of(0, lanes=3, pc=pc, **fields))
        ctx.set(dut.i_issue.valid, 1)

    return drive


def _start(warp, rank, count):
    def drive(ctx, dut):
        fields = {"warp": warp, "slot": 0, "rank": rank, "warps": count, "lanes": 15}
        ctx.set(dut.i_start.payload, fields)
        ctx.set(dut.i_start.valid, 1)

    return drive


def test_the_first_instruction_that_is_not_supported_is_named():
    seen = _error(_issue(8, unit=2, operation=1), _issue(12, unit=2, operation=1))
    assert seen == [AdapterError.UNSUPPORTED, 8]


@pytest.mark.parametrize("window", [0x5, 0xD])
def test_a_lock_taken_by_several_lanes_is_not_supported(window):
    access = {"unit": 1, "operation": 2, "rs1": window << 28 | window << 60}
    assert _error(_issue(8, **access))[0] == AdapterError.UNSUPPORTED


@pytest.mark.parametrize(
    "starts", [[(0, 0, 2), (2, 1, 2)], [(3, 0, 2)], [(2, 0, 3)], [(1, 0, 1), (3, 1, 2)]]
)
def test_warps_of_a_block_must_be_consecutive(starts):
    assert _error(*(_start(*each) for each in starts)) == [AdapterError.SCATTERED, 0]


def test_consecutive_warps_are_no_error():
    assert _error(_start(1, 0, 3), _start(2, 1, 3), _start(3, 2, 3)) == [AdapterError.NONE, 0]


def test_an_instruction_that_finds_no_place_is_lost():
    fences = [_issue(4, unit=1, operation=15)] * (QUEUE_DEPTH + 2)
    assert _error(*fences[:-2]) == [AdapterError.NONE, 0]
    assert _error(*fences) == [AdapterError.LOST, 0]


def test_the_core_must_fetch_no_more_when_the_queue_is_at_its_limit():
    dut, full = shared(Adapter, _PARAMS), []

    async def testbench(ctx):
        for _ in range(QUEUE_LIMIT + 1):
            _issue(4, unit=1, operation=15)(ctx, dut)
            await ctx.tick()
            full.append(ctx.get(dut.o_full))

    simulate(dut, testbench)
    assert full == [0] * (QUEUE_LIMIT - 1) + [1, 1]


# Planted bugs --------------------------------------------------------------------------------

_DECODER, _ACCESS, _ADAPTER = (
    f"vortex/{name}.py" for name in ("issue_decoder", "window_access", "adapter")
)
_BUGS = {
    "offset-is-unsigned": Patch(_DECODER, "word.offset.as_signed()", "word.offset"),
    "packed-load-has-offset": Patch(_DECODER, "word.packed.any()", "word.packed.all()"),
    "second-step-is-single": Patch(_DECODER, "second[lane] << 1, 0", "second[lane], 0"),
    "operand-of-the-lowest-lane": Patch(
        _DECODER, "for number in range(LANES):", "for number in reversed(range(LANES)):"
    ),
    "fence-is-a-store": Patch(_DECODER, "Mux(kind == _FENCE, Action.FENCE,", "Mux(0, 0,"),
    "tmc-looks-at-one-lane": Patch(_DECODER, "~one[:LANES].any()", "~one[0]"),
    "barrier-zero": Patch(_DECODER, "out.number.eq(one[8:11])", "out.number.eq(one[:3])"),
    "arrival-waits": Patch(_DECODER, "Mux(waits, Action.BARRIER, Action.ARRIVE)", "Action.BARRIER"),
    "start-lost-beside-an-instruction": Patch(
        _ADAPTER, "queue.i.payload.begins.eq(begins)",
        "queue.i.payload.begins.eq(begins & ~queue.i.payload.issues)",
    ),
    "lanes-of-all-windows": Patch(_ACCESS, "address[WINDOW_SHIFT:] == window for", "1 for"),
    "one-window-only": Patch(_ADAPTER, "is_last.eq(group == left)", "is_last.eq(1)"),
    "lanes-done-are-kept": Patch(
        _ADAPTER, "m.d.sync += [has_begun.eq(0), has_ended.eq(0), done.eq(0)]",
        "m.d.sync += [has_begun.eq(0), has_ended.eq(0)]",
    ),
    "block-ends-with-its-first-warp": Patch(_ADAPTER, "has_ended | ~ends_block", "has_ended"),
    "wsync-reaches-the-device": Patch(
        _ADAPTER, "is_device = issued.action == Action.FENCE", "is_device = 1"
    ),
    "cached-is-strong": Patch(_ACCESS, "kind >= Window.STRONG", "kind >= Window.WEAK"),
    "atomics-of-the-device": Patch(_ACCESS, "is_strong & window[3]", "is_strong"),
    "store-to-count-frees": Patch(
        _ACCESS, "& (kind != Window.COUNT)", ""
    ),
    "all-bytes-are-stored": Patch(_ACCESS, "issued.size == 0, value[:8]", "0, value[:8]"),
    "equal-to-an-idle-lane": Patch(_ACCESS, "is_same = self.o_group[other] &", "is_same ="),
    "passes-before-the-last-window": Patch(
        _ADAPTER, "with m.If(queue.o.ready):\n            m.d.sync +=",
        "with m.If(steps):\n            m.d.sync +=",
    ),
    "outcome-of-another-lane": Patch(
        _ADAPTER, "loader[found.payload.warp], 0", "loader[0], 0"
    ),
    "failed-lock-is-taken": Patch(
        _ADAPTER, "Mux(found.payload.is_free,", "Mux(1,"
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", later_but(lambda name: name == "one-window-only", _BUGS))
def test_planted_bug(bug):
    modules = modules_with([_DECODER, _ACCESS, _ADAPTER], _BUGS[bug])
    bench = AdapterBench(modules[_ADAPTER].Adapter, _PARAMS, "bugs")
    with pytest.raises((AssertionError, TimeoutError, ValueError)):
        bench.run(600 if bug != "one-window-only" else 100)
