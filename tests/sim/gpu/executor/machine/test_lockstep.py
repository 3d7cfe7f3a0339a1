"""Warps in lockstep: order of the lanes, and its events in the trace."""

import re

import pytest

from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from tests.support.gpu.ptx_kernels import Run

EVEN = "and.b32 %r1, %r31, 1; setp.eq.u32 %p1, %r1, 0;"
KINDS = ("IF", "ELSE", "FI", "STORE", "EXIT", "WARP_BARRIER")


def shape(run):
    """Kinds of the events with their masks."""
    found = []
    for event in run.events(*KINDS):
        mask = event.mask or sum(1 << lane.lane for lane in event.lanes)
        found.append((event.kind.name, mask))
    return found


def test_if_and_else():
    run = Run(
        EVEN + "@%p1 bra EVEN; st.global.u32 [%d33], 1; bra DONE;"
        "EVEN: st.global.u32 [%d33], 2; DONE: st.global.u32 [%d33+16], 3;",
        block=4,
    )
    assert shape(run) == [
        ("IF", 0b1010), ("STORE", 0b1010), ("ELSE", 0b0101), ("STORE", 0b0101), ("FI", 0b1111),
        ("STORE", 0b1111), ("EXIT", 0b1111),
    ]  # fmt: skip
    assert run.out()[:8].tolist() == [2, 1, 2, 1, 3, 3, 3, 3]


@pytest.mark.parametrize("threads", [0, 4])
def test_a_branch_taken_by_all_or_none_tells_nothing(threads):
    run = Run(f"setp.lt.u32 %p1, %r31, {threads}; @%p1 bra DONE; st.global.u32 [%d33], 1;"
              "DONE: st.global.u32 [%d33+16], 2;", block=4)  # fmt: skip
    assert [kind for kind, _ in shape(run)] == ["STORE"] * (2 - bool(threads)) + ["EXIT"]


def test_nested_branches_and_a_loop_that_lanes_leave_one_by_one():
    run = Run(
        EVEN + "mov.u32 %r2, 0; @%p1 bra DONE;"
        "LOOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r31; @%p2 bra LOOP;"
        "st.global.u32 [%d33], %r2; DONE: st.global.u32 [%d33+32], %r2;",
        block=8,
    )
    assert run.out()[:16].tolist() == [0, 1, 0, 3, 0, 5, 0, 7, 0, 1, 0, 3, 0, 5, 0, 7]
    odd, low = 0b10101010, 0b00001010
    assert shape(run) == [
        ("IF", odd), ("IF", 0b00000010), ("ELSE", 0b10101000), ("IF", 0b00001000),
        ("ELSE", 0b10100000), ("IF", 0b00100000), ("ELSE", 0b10000000), ("FI", 0b10100000),
        ("FI", 0b10101000), ("FI", odd), ("STORE", odd), ("ELSE", 0xFF ^ odd), ("FI", 0xFF),
        ("STORE", 0xFF), ("EXIT", 0xFF),
    ]  # fmt: skip
    assert low & odd


def test_early_exits_leave_the_others_together():
    run = Run("setp.ge.u32 %p1, %r31, 3; @%p1 exit; bar.sync 0; st.global.u32 [%d33], %r31;",
              block=64)  # fmt: skip
    assert shape(run) == [
        ("EXIT", 0xFFFFFFF8), ("EXIT", 0xFFFFFFFF), ("STORE", 7), ("EXIT", 7),
    ]  # fmt: skip
    assert len(run.events("BARRIER")) == 1


def test_a_side_may_end_altogether():
    run = Run(
        "setp.ge.u32 %p1, %r31, 2; @%p1 bra HIGH; setp.eq.u32 %p2, %r31, 0; @%p2 bra ZERO;"
        "st.global.u32 [%d33], 1; bra DONE; ZERO: st.global.u32 [%d33], 2; exit;"
        "HIGH: st.global.u32 [%d33], 3; DONE: st.global.u32 [%d33+16], 4;",
        block=4,
    )
    assert run.out()[:8].tolist() == [2, 1, 3, 3, 0, 4, 4, 4]
    # The inner branch is closed with no lane left; the outer one when the warp has ended: not.
    assert shape(run) == [
        ("IF", 0b0011), ("IF", 0b0010), ("STORE", 0b0010), ("STORE", 0b0010), ("EXIT", 0b0010),
        ("ELSE", 0b0001), ("STORE", 0b0001), ("EXIT", 0b0001), ("FI", 0), ("ELSE", 0b1100),
        ("STORE", 0b1100), ("STORE", 0b1100), ("EXIT", 0b1100),
    ]  # fmt: skip


def test_lanes_meet_in_a_loop_that_they_leave_only_by_ending():
    run = Run(
        EVEN + "mov.u32 %r2, 0; LOOP: activemask.b32 %r3; st.global.u32 [%d33], %r3;"
        "add.u32 %r2, %r2, 1; setp.gt.u32 %p2, %r2, 3; @%p2 bra END;"
        "@%p1 bra LOOP; add.u32 %r4, %r4, 1; bra LOOP; END: exit;",
        block=4,
    )
    assert run.out()[:4].tolist() == [0b1111] * 4
    assert len(run.events("STORE")) == 4


def test_branch_tables():
    body = """
        and.b32 %r1, %r31, 3;
        TABLE: .branchtargets A, B, B, C;
        brx.idx %r1, TABLE;
        A: mov.u32 %r2, 10; bra DONE;
        B: mov.u32 %r2, 20; bra DONE;
        C: mov.u32 %r2, 30;
        DONE: st.global.u32 [%d33], %r2;
    """
    run = Run(body, block=8)
    assert run.out()[:8].tolist() == [10, 20, 20, 30] * 2
    assert [kind for kind, _ in shape(run)] == [
        "IF", "IF", "ELSE", "FI", "ELSE", "FI", "STORE", "EXIT",
    ]  # fmt: skip


def test_a_barrier_in_one_side_counts_the_whole_warp():
    body = "setp.lt.u32 %p1, %r31, 16; @%p1 bra LOW; bar.sync 0; bra DONE; LOW: bar.sync 0;"
    run = Run(body + "DONE: st.global.u32 [%d33], 1;", block=32)
    kinds = [event.kind.name for event in run.events("IF", "ELSE", "FI", "BARRIER")]
    assert kinds == ["IF", "BARRIER", "ELSE", "BARRIER", "FI"]
    with pytest.raises(ExecutionError, match=r"deadlock.*\n.*warp 0.*waits for barrier 1"):
        Run("bar.sync 0; bar.sync 1, 64;", block=32)


LOCK = """
    mov.u32 %r2, 0;
    AGAIN:
    atom.global.cas.b32 %r1, [%d31], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra SKIP;
    ld.volatile.global.u32 %r3, [%d30];
    add.u32 %r3, %r3, 1;
    st.volatile.global.u32 [%d30], %r3;
    membar.gl;
    atom.global.exch.b32 %r4, [%d31], 0;
    mov.u32 %r2, 1;
    SKIP:
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra AGAIN;
"""
#: The critical section behind the loop: the lane that has the lock waits for those that spin.
SPIN = """
    AGAIN:
    atom.global.cas.b32 %r1, [%d31], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    ld.volatile.global.u32 %r3, [%d30];
    add.u32 %r3, %r3, 1;
    st.volatile.global.u32 [%d30], %r3;
    membar.gl;
    atom.global.exch.b32 %r4, [%d31], 0;
"""


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize(
    "scheduler", ["in-order", "round-robin", "greedy-then-oldest", "newest-first", "random"]
)
def test_a_lock_for_each_lane(scheduler, independent):
    run = Run(LOCK, grid=3, block=48, scheduler=scheduler, independent_threads=independent)
    assert run.out()[0] == 144


@pytest.mark.parametrize(
    "scheduler", ["in-order", "round-robin", "greedy-then-oldest", "newest-first", "random"]
)
def test_the_classic_livelock(scheduler):
    run = Run(SPIN, grid=2, block=40, scheduler=scheduler, independent_threads=True)
    assert run.out()[0] == 80
    with pytest.raises(ExecutionError) as error:
        Run(SPIN, grid=2, block=40, scheduler=scheduler, stall_limit=2000)
    lines = str(error.value).splitlines()
    assert re.match("Kernel test does not end: .* livelock: every warp waits, or polls", lines[0])
    assert [line for line in lines if "waits for lanes of its warp that have branched" in line]
    assert [line for line in lines if "block (1, 0, 0) warp 1: pc 0x10" in line and "polls" in line]
