"""Lanes scheduled independently: each makes progress, and they reconverge where they must."""

import pytest

from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from tests.support.gpu.ptx_kernels import Run

HALVES = "setp.lt.u32 %p1, %r31, 16; @%p1 bra LOW;"


def independent(body, **options):
    return Run(body, independent_threads=True, **options)


def test_no_branch_events_and_lanes_meet_again():
    run = independent(
        HALVES + "st.global.u32 [%d33], 1; bra DONE;"
        "LOW: st.global.u32 [%d33], 2; DONE: st.global.u32 [%d33], %r31;"
    )
    assert not run.events("IF", "ELSE", "FI")
    assert [len(event.lanes) for event in run.events("STORE")] == [16, 16, 32]


def test_a_warp_barrier_waits_for_all_members():
    run = independent(
        HALVES + "bra HIGH; LOW: st.global.u32 [%d33], 5; bar.warp.sync -1; bra DONE;"
        "HIGH: bar.warp.sync 0xffffffff; ld.global.u32 %r1, [%d33+-64]; st.global.u32 [%d33], %r1;"
        "DONE: exit;"
    )
    assert (run.out()[:32] == 5).all()
    (event,) = run.events("WARP_BARRIER")
    assert event.mask == 0xFFFFFFFF


def test_members_may_be_some_lanes_only():
    run = independent(HALVES + "bar.warp.sync 0xffff0000; bra DONE; LOW: bar.warp.sync 0xffff;"
                      "DONE: st.global.u32 [%d33], 1;")  # fmt: skip
    assert sorted(event.mask for event in run.events("WARP_BARRIER")) == [0xFFFF, 0xFFFF0000]


def test_a_shuffle_brings_lanes_together():
    body = (
        "mov.u32 %r2, 0; LOOP: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r31; @%p2 bra LOOP;"
        "shfl.sync.bfly.b32 %r3, %r31, 31, 31, -1; st.global.u32 [%d33], %r3;"
    )
    run = independent(body)
    assert run.out()[:32].tolist() == list(range(31, -1, -1))
    assert [len(event.lanes) for event in run.events("STORE")] == [32]
    assert not run.events("WARP_BARRIER")  # no order of memory


def test_lanes_that_have_ended_are_not_waited_for():
    run = independent(HALVES + "bar.warp.sync -1; st.global.u32 [%d33], 1; exit; LOW: exit;")
    assert run.out()[16:32].all()


def test_a_barrier_counts_threads_wherever_they_are():
    run = independent(HALVES + "bar.sync 0; bra DONE; LOW: bar.sync 0; DONE: bar.sync 0;", block=64)
    assert len(run.events("BARRIER")) == 2


def test_members_that_never_come():
    with pytest.raises(ExecutionError, match=r"waits for lanes 0xffffffff of its warp") as error:
        independent(HALVES + "bar.warp.sync -1; bra DONE; LOW: bar.sync 0; DONE: exit;")
    assert "lanes 0x0000ffff, waits for barrier 0" in str(error.value)


def test_lanes_call_on_their_own():
    outside = """
    .func (.param .b32 result) twice(.param .b32 value)
    {
    .reg .b32 %r<3>; .reg .pred %p<2>;
    ld.param.u32 %r1, [value];
    setp.gt.u32 %p1, %r1, 7;
    @%p1 ret;
    shl.b32 %r2, %r1, 1;
    st.param.b32 [result], %r2;
    ret;
    }
    """
    call = """{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r31;
        call.uni (b), twice, (a); ld.param.b32 %r3, [b]; }"""
    run = independent(
        f"setp.lt.u32 %p1, %r31, 4; mov.u32 %r3, 99; @%p1 bra CALL; bra DONE; CALL: {call}"
        f"DONE: st.global.u32 [%d33], %r3; {call.replace('%r3,', '%r4,')}"
        "st.global.u32 [%d33+64], %r4;",
        outside=outside,
        block=16,
    )
    assert run.out()[:4].tolist() == [0, 2, 4, 6]
    assert run.out()[4:16].tolist() == [99] * 12
    assert run.out()[16:32].tolist() == [2 * n if n <= 7 else 0 for n in range(16)]
