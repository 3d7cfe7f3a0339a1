"""Sleeping warps: woken by whatever writes what they poll, and by nothing else needed."""

import pytest

from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from tests.support.gpu.ptx_kernels import Run

NAMES = tuple(WARP_SCHEDULERS)
#: The first warp works for long, and then writes what all others poll.
WAITING = """
    setp.ge.u32 %p1, %r34, 32; @%p1 bra POLL;
    WORK: add.u32 %r1, %r1, 1; {busy} setp.lt.u32 %p2, %r1, 1000; @%p2 bra WORK;
    {write} bra DONE;
    POLL: {poll} setp.eq.u32 %p2, %r2, 0; @%p2 bra POLL;
    DONE: st.global.u32 [%d33], %r2;
"""


def run(busy="", write="st.volatile.global.u32 [%d31], 1;",
        poll="ld.volatile.global.u32 %r2, [%d31];", **options):  # fmt: skip
    body = WAITING.format(busy=busy, write=write, poll=poll)
    return Run(body, grid=8, block=64, words=512, **options)


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("scheduler", NAMES)
@pytest.mark.parametrize(
    ("write", "poll"),
    [
        ("st.global.u8 [%d31+3], 1;", "ld.volatile.global.u32 %r2, [%d31];"),
        ("st.global.v4.u32 [%d31], {%r1, %r1, %r1, %r1};", "ld.volatile.global.u32 %r2, [%d31+8];"),
        ("st.global.u32 [%d31+12], 1;",
         "ld.volatile.global.v4.u32 {%r3, %r4, %r5, %r2}, [%d31];"),
        ("red.global.add.u32 [%d31], 1;", "atom.global.add.u32 %r2, [%d31], 0;"),
        ("atom.global.exch.b32 %r3, [%d31], 5;", "atom.global.cas.b32 %r2, [%d31], 9, 0;"),
        # The word that is polled is named by another one, which changes.
        ("st.global.u32 [%d31], 4;",
         "ld.global.u32 %r3, [%d31]; cvt.u64.u32 %d1, %r3; add.u64 %d1, %d1, %d31;"
         "ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p3, %r3, 4; @%p3 mov.u32 %r2, 1;"),
    ],
)  # fmt: skip
def test_every_write_wakes_those_that_poll_what_it_changes(write, poll, scheduler, independent):
    done = run(write=write, poll=poll, scheduler=scheduler, independent_threads=independent)
    assert (done.out()[32:] != 0).all()


@pytest.mark.parametrize("scheduler", NAMES)
def test_who_polls_costs_nothing_while_it_waits(scheduler):
    # Who also counts its rounds never does the same again, so that it stays awake.
    asleep = run(scheduler=scheduler).stats.warp_instructions
    awake = run(poll="ld.volatile.global.u32 %r2, [%d31]; add.u32 %r5, %r5, 1;",
                scheduler=scheduler).stats.warp_instructions  # fmt: skip
    assert asleep < 4_000
    assert scheduler not in ("round-robin", "random") or awake > 2 * asleep


@pytest.mark.parametrize("scheduler", NAMES)
@pytest.mark.parametrize("unseen", ["%clock", "%globaltimer_lo"])
def test_who_reads_a_clock_stays_awake(unseen, scheduler):
    # The register ends as it began, but in some round the clock will have this bit.
    done = run(
        write="", poll=f"mov.u32 %r2, {unseen}; and.b32 %r2, %r2, 4096;"
        "ld.volatile.global.u32 %r3, [%d31];", scheduler=scheduler,
    )  # fmt: skip
    assert (done.out()[32:] == 4096).all()


def test_a_write_between_a_poll_and_its_branch_is_not_missed():
    # One warp polls, the other writes at every place of its loop once.
    for steps in range(12):
        waits = "add.u32 %r1, %r1, 1; bar.warp.sync -1;" * steps
        body = f"""
            setp.ge.u32 %p1, %r34, 32; @%p1 bra POLL;
            {waits} st.volatile.global.u32 [%d31], 1; bra DONE;
            POLL: ld.volatile.global.u32 %r2, [%d31]; ld.global.u32 %r3, [%d31+4];
            setp.eq.u32 %p2, %r2, 0; @%p2 bra POLL;
            DONE:
        """
        Run(body, grid=2, block=32, scheduler="round-robin", independent_threads=True)


@pytest.mark.parametrize("scheduler", NAMES)
def test_a_word_of_another_block_wakes_nobody(scheduler):
    # Each block polls a word of its own shared memory: only the first one's is ever written.
    body = """
        .shared .u32 word;
        setp.ge.u32 %p1, %r31, 32; @%p1 bra POLL;
        setp.eq.u32 %p2, %r34, %r31; @%p2 st.volatile.shared.u32 [word], 1; bra DONE;
        POLL: ld.volatile.shared.u32 %r2, [word]; setp.eq.u32 %p2, %r2, 0; @%p2 bra POLL;
        DONE:
    """
    with pytest.raises(ExecutionError, match="livelock") as error:
        Run(body, grid=2, block=64, words=128, scheduler=scheduler)
    assert len(str(error.value).splitlines()) == 2


@pytest.mark.parametrize("scheduler", NAMES)
def test_lanes_that_a_barrier_releases_go_on_while_another_of_their_warp_sleeps(scheduler):
    body = """
        and.b32 %r1, %r31, 31; setp.eq.u32 %p1, %r1, 0; setp.ge.u32 %p2, %r31, 32;
        @%p2 bra SECOND; @%p1 bra POLL;
        bar.sync 1, 64; st.volatile.global.u32 [%d31], 1; bra DONE;
        POLL: bar.arrive 1, 64;
        SPIN: ld.volatile.global.u32 %r2, [%d31]; setp.eq.u32 %p3, %r2, 0; @%p3 bra SPIN; bra DONE;
        SECOND: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 100; @%p3 bra SECOND;
        bar.sync 1, 64;
        DONE: st.global.u32 [%d33], 1;
    """
    run = Run(body, block=64, scheduler=scheduler, independent_threads=True)
    assert (run.out() == 1).all()
