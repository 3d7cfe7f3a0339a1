"""Shuffles, votes and their like, and barriers of a block."""

import re

import numpy as np
import pytest

from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.ptx.errors import PtxError
from racetrap.sim.gpu.ptx.parser import parse_ptx
from tests.support.gpu.ptx_kernels import GEOMETRY, Run
from tests.support.gpu.ptx_text import kernel_text


def shuffle(mode, lane, operand, c):
    """Source lane and whether it is in bounds, as PTX describes it for one lane."""
    segment, clamp = c >> 8 & 31, c & 31
    high = (lane & segment) | (clamp & ~segment & 31)
    low = lane & segment
    source = {
        "up": lane - operand,
        "down": lane + operand,
        "bfly": lane ^ operand,
        "idx": low | (operand & ~segment & 31),
    }[mode]
    inside = source >= high if mode == "up" else source <= high
    return source if inside else lane, inside


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("c", [0, 31, 0x1C1F, 0x180F, 0x1C00])
@pytest.mark.parametrize("operand", [0, 1, 5, 16])
def test_shuffles(mode, c, operand):
    run = Run(
        f"shfl.sync.{mode}.b32 %r1|%p1, %r31, {operand}, {c}, -1; selp.u32 %r2, 100, 0, %p1;"
        "add.u32 %r1, %r1, %r2; st.global.u32 [%d33], %r1;"
    )
    expected = [shuffle(mode, lane, operand, c) for lane in range(32)]
    assert run.out()[:32].tolist() == [source + 100 * inside for source, inside in expected]
    assert not run.events("WARP_BARRIER")  # no order of memory


@pytest.mark.parametrize("independent", [False, True])
def test_shuffles_of_older_ptx_take_the_lanes_that_run_together(independent):
    """Without ``.sync``, up to PTX 6.3 or sm_62."""
    text = kernel_text(
        "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;"
        "add.u64 %rd1, %rd1, %rd2; setp.lt.u32 %p1, %r1, 8; @!%p1 bra DONE;"
        "shfl.bfly.b32 %r2|%p2, %r1, 1, 31; selp.u32 %r3, 100, 0, %p2; add.u32 %r2, %r2, %r3;"
        "shfl.idx.b32 %r2, %r2, 3, 31; st.global.u32 [%rd1], %r2;\nDONE: ret;",
        parameters=".param .u64 out",
    )
    older = text.replace("9.0", "6.0", 1).replace("sm_75", "sm_60", 1)
    device = Device(GEOMETRY, independent_threads=independent)
    out = device.allocate(128)
    device.launch(parse_ptx(older, "k.ptx"), "k", 1, 32, [out])
    assert device.read(out, np.uint32, 32).tolist() == [102] * 8 + [0] * 24
    with pytest.raises(PtxError, match=r"for \.target sm_70 and later"):
        Device(GEOMETRY).launch(parse_ptx(text, "k.ptx"), "k", 1, 32, [out])


@pytest.mark.parametrize(
    ("name", "limit", "expected"),
    [("all", 32, 1), ("all", 5, 0), ("any", 1, 1), ("any", 0, 0), ("uni", 0, 1), ("uni", 32, 1),
     ("uni", 5, 0)],
)  # fmt: skip
def test_votes(name, limit, expected):
    run = Run(f"setp.lt.u32 %p1, %r31, {limit}; vote.sync.{name}.pred %p2, %p1, -1;"
              "selp.u32 %r1, 1, 0, %p2; st.global.u32 [%d33], %r1;")  # fmt: skip
    assert run.out()[:32].tolist() == [expected] * 32


def test_ballots_and_matches():
    run = Run(
        "setp.lt.u32 %p1, %r31, 5; vote.sync.ballot.b32 %r1, !%p1, -1; st.global.u32 [%d33], %r1;"
        "and.b32 %r2, %r31, 1; match.any.sync.b32 %r3, %r2, -1; st.global.u32 [%d33+128], %r3;"
    )
    assert (run.out()[:32] == 0xFFFFFFE0).all()
    assert run.out()[32:34].tolist() == [0x55555555, 0xAAAAAAAA]
    run = Run("match.all.sync.b32 %r1|%p1, %r32, -1; match.all.sync.b32 %r2|%p2, %r31, -1;"
              "selp.u32 %r3, %r1, 0, %p1; selp.u32 %r4, 9, %r2, %p2;"
              "st.global.u32 [%d33], %r3; st.global.u32 [%d33+128], %r4;")  # fmt: skip
    assert run.out()[[0, 31, 32, 63]].tolist() == [0xFFFFFFFF] * 2 + [0, 0]


def test_reductions_of_a_warp():
    run = Run(
        "redux.sync.add.u32 %r1, %r31, -1; redux.sync.max.s32 %r2, %r31, -1;"
        "redux.sync.xor.b32 %r3, %r31, -1; st.global.u32 [%d30], %r1;"
        "st.global.u32 [%d30+4], %r2; st.global.u32 [%d30+8], %r3;",
        block=20,
    )
    assert run.out()[:3].tolist() == [190, 19, int(np.bitwise_xor.reduce(np.arange(20)))]


#: Mask of the own half of a warp.
HALF = "setp.lt.u32 %p1, %r31, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p1;"


@pytest.mark.parametrize("independent", [False, True])
def test_lanes_with_masks_of_their_own(independent):
    run = Run(
        f"{HALF} setp.lt.u32 %p2, %r31, 5; vote.sync.ballot.b32 %r2, !%p2, %r1;"
        "redux.sync.add.u32 %r3, %r31, %r1; match.any.sync.b32 %r4, 7, %r1;"
        "match.all.sync.b32 %r5|%p3, %r2, %r1;"
        "st.global.u32 [%d33], %r2; st.global.u32 [%d33+128], %r3; st.global.u32 [%d33+256], %r4;"
        "st.global.u32 [%d33+384], %r5;",
        words=128, independent_threads=independent,
    )  # fmt: skip
    lower, upper = range(16), range(16, 32)
    assert run.out()[[0, 15, 16, 31]].tolist() == [0xFFE0, 0xFFE0, 0xFFFF0000, 0xFFFF0000]
    assert run.out()[[32, 47, 48, 63]].tolist() == [sum(lower)] * 2 + [sum(upper)] * 2
    assert run.out()[[64, 79, 80, 95]].tolist() == [0xFFFF, 0xFFFF, 0xFFFF0000, 0xFFFF0000]
    assert run.out()[[96, 127]].tolist() == [0xFFFF, 0xFFFF0000]


@pytest.mark.parametrize("independent", [False, True])
def test_barriers_of_lanes_with_masks_of_their_own(independent):
    run = Run(f"{HALF} bar.warp.sync %r1;", independent_threads=independent)
    assert [event.mask for event in run.events("WARP_BARRIER")] == [0xFFFF, 0xFFFF0000]


def test_some_lanes_wait_for_their_own_part():
    # The upper half and lane 0 come first; the upper half goes on, lane 0 waits for its own.
    body = f"""{HALF} setp.eq.u32 %p2, %r31, 0; setp.gt.u32 %p3, %r31, 15; or.pred %p2, %p2, %p3;
        @!%p2 bra LATE; bar.warp.sync %r1; atom.global.add.u32 %r2, [%d30], 1; bra DONE;
        LATE: ld.volatile.global.u32 %r2, [%d30]; setp.lt.u32 %p3, %r2, 16; @%p3 bra LATE;
        bar.warp.sync %r1; DONE: exit;"""
    run = Run(body, block=32, independent_threads=True)
    assert run.out()[0] == 17
    assert [event.mask for event in run.events("WARP_BARRIER")] == [0xFFFF0000, 0xFFFF]


def test_active_lanes():
    run = Run("setp.lt.u32 %p1, %r31, 3; @%p1 bra LOW; bra DONE; LOW: activemask.b32 %r1;"
              "st.global.u32 [%d33], %r1; DONE: exit;")  # fmt: skip
    assert run.out()[:4].tolist() == [7, 7, 7, 0]


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(
    ("operation", "expected"), [("popc.u32 %r1", 40), ("and.pred %p2", 0), ("or.pred %p2", 1)]
)
def test_reductions_of_a_block(operation, expected, independent):
    body = f"setp.lt.u32 %p1, %r31, 40; bar.red.{operation}, 0, %p1;"
    if "%p2" in operation:
        body += "selp.u32 %r1, 1, 0, %p2;"
    run = Run(body + "st.global.u32 [%d33], %r1;", block=64, independent_threads=independent)
    assert run.out()[:64].tolist() == [expected] * 64
    assert len(run.events("BARRIER")) == 1


def test_named_barriers_with_counts():
    # Warps 0 and 1 hand over to warps 2 and 3, which alone wait.
    body = """
        setp.lt.u32 %p1, %r31, 64; @%p1 bra FIRST;
        bar.sync 1, 128; ld.global.u32 %r1, [%d33+-256]; st.global.u32 [%d33], %r1; bra DONE;
        FIRST: st.global.u32 [%d33], %r31; bar.arrive 1, 128;
        DONE: setp.ge.u32 %p2, %r31, 64; @%p2 bar.sync 2, 64;
    """
    run = Run(body, block=128, words=128)
    assert run.out()[64:].tolist() == list(range(64))
    assert not run.events("BARRIER")  # of the whole block
    assert [(e.warp, e.grid_block) for e in run.events("BARRIER_ARRIVE")] == [(0, 1), (1, 1)]
    assert [(e.grid_block, e.mask) for e in run.events("PARTIAL_BARRIER")] == [(1, 12), (2, 12)]


@pytest.mark.parametrize("independent", [False, True])
def test_operands_of_a_barrier_in_registers(independent):
    """The same as with numbers; lanes whose guard does not hold say nothing."""
    body = """
        mov.u32 %r7, 1; mov.u32 %r8, 128; setp.lt.u32 %p1, %r31, 64; @%p1 bra FIRST;
        {} ld.global.u32 %r1, [%d33+-256]; st.global.u32 [%d33], %r1; bra DONE;
        FIRST: st.global.u32 [%d33], %r31; {}
        DONE: and.b32 %r9, %r31, 16; shr.u32 %r9, %r9, 4; setp.eq.u32 %p2, %r9, 1; {}
    """
    # Independent lanes must all come.
    guard = "" if independent else "@%p2 "
    forms = {
        True: (
            "bar.sync %r7, %r8;",
            "bar.arrive %r7, %r8;",
            f"{guard}bar.sync {'%r7' if independent else '%r9'};",
        ),
        False: ("bar.sync 1, 128;", "bar.arrive 1, 128;", f"{guard}bar.sync 1;"),
    }
    runs = [
        Run(body.format(*form), block=128, words=128, independent_threads=independent)
        for form in forms.values()
    ]
    assert runs[0].out()[64:].tolist() == list(range(64))
    one, other = (
        [run.events(kind) for kind in ("BARRIER", "BARRIER_ARRIVE", "PARTIAL_BARRIER")]
        for run in runs
    )
    assert one == other


@pytest.mark.parametrize(
    "instruction", ["bar.sync", "barrier.sync", "bar.arrive", "bar.red.popc.u32"]
)
@pytest.mark.parametrize(
    ("number", "threads", "sentence"),
    [
        (99, 64, "Barrier must be from 0 to 15, not 99"),
        (16, 64, "Barrier must be from 0 to 15, not 16"),
        (15, 33, "Threads of a barrier must be a multiple of 32, not 33"),
        (15, 0, "Threads of a barrier must be a multiple of 32, not 0"),
    ],
)
@pytest.mark.parametrize("form", ["numbers", "registers"])
def test_operands_of_a_barrier_that_ptx_does_not_have(instruction, number, threads, sentence, form):
    operands, before = f"{number}, {threads}", ""
    if form == "registers":
        operands, before = "%r7, %r8", f"mov.u32 %r7, {number}; mov.u32 %r8, {threads};"
    if "red" in instruction:
        operands, before = f"%r1, {operands}, %p1", before + "setp.lt.u32 %p1, %r31, 64;"
    with pytest.raises((ExecutionError, ValueError), match=sentence):
        Run(f"{before} {instruction} {operands};", block=64)


def test_lanes_that_name_different_barriers():
    body = "and.b32 %r9, %r31, 1; bar.sync %r9;"
    with pytest.raises(ExecutionError, match="differs between lanes of a warp: 0 and 1"):
        Run(body, block=64)


@pytest.mark.parametrize("independent", [False, True])
def test_warps_that_arrive_and_exit(independent):
    body = """
        setp.lt.u32 %p1, %r31, 32; @%p1 bra FIRST;
        bar.sync 1, 64; ld.global.u32 %r1, [%d33+-128]; st.global.u32 [%d33], %r1; exit;
        FIRST: st.global.u32 [%d33], %r31; bar.arrive 1, 64;
    """
    run = Run(body, block=64, scheduler="in-order", independent_threads=independent)
    assert run.out()[32:64].tolist() == list(range(32))
    assert [event.mask for event in run.events("PARTIAL_BARRIER")] == [2]


@pytest.mark.parametrize("independent", [False, True])
def test_a_warp_that_ends_is_not_at_the_barrier_of_others(independent):
    body = "setp.lt.u32 %p1, %r31, 32; @%p1 bra DONE; bar.sync 1, 32; DONE: exit;"
    run = Run(body, block=64, scheduler="in-order", independent_threads=independent)
    assert not run.events("BARRIER")
    assert [event.mask for event in run.events("PARTIAL_BARRIER")] == [2]


@pytest.mark.parametrize("independent", [False, True])
def test_a_barrier_that_some_never_reach(independent):
    body = "setp.lt.u32 %p1, %r31, 32; @%p1 bra DONE; bar.sync 3; DONE: bar.sync 0;"
    with pytest.raises(ExecutionError) as error:
        Run(body, block=64, independent_threads=independent)
    text = str(error.value)
    assert re.match("Kernel test does not end: .* deadlock", text)
    assert "warp 0: pc 0x1060 (test.ptx:21), lanes 0xffffffff, waits for barrier 0" in text
    assert "warp 1: " in text
    assert "waits for barrier 3" in text
