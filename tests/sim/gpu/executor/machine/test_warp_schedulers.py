"""Warp schedulers: the order of turns, and progress of spin loops under each of them."""

import pytest

from racetrap.golden_model.events import Geometry
from racetrap.sim.gpu.executor.device import Device
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from tests.support.gpu.ptx_kernels import Run

NAMES = tuple(WARP_SCHEDULERS)
THREE_STORES = "st.global.u32 [%d33], 1; st.global.u32 [%d33], 2; st.global.u32 [%d33], 3;"


def order(body, **options):
    """SM and warp of each store."""
    return [(event.sm, event.warp) for event in Run(body, **options).events("STORE")]


def test_in_order():
    assert order(THREE_STORES, grid=2, scheduler="in-order") == [(0, 0)] * 3 + [(1, 0)] * 3


def test_newest_first():
    assert order(THREE_STORES, grid=2, scheduler="newest-first") == [(1, 0)] * 3 + [(0, 0)] * 3


def test_round_robin():
    assert order(THREE_STORES, block=64, scheduler="round-robin") == [(0, 0), (0, 1)] * 3


def test_greedy_then_oldest():
    # Both SMs have two blocks: each goes on with its older one.
    found = order(THREE_STORES, grid=4, words=128, scheduler="greedy-then-oldest")
    assert found == [(0, 0), (1, 0)] * 3 + [(0, 1), (1, 1)] * 3


def test_random_is_decided_by_the_seed():
    def once(seed):
        return order(THREE_STORES, grid=4, block=64, words=256, scheduler="random", seed=seed)

    assert once(1) == once(1)
    assert len({tuple(once(seed)) for seed in range(8)}) > 4


@pytest.mark.parametrize("independent", [False, True])
@pytest.mark.parametrize("scheduler", NAMES)
@pytest.mark.parametrize(
    "load", ["atom.global.add.u32 %r1, [%d31], 0", "ld.volatile.global.u32 %r1, [%d31]",
             "ld.acquire.gpu.global.u32 %r1, [%d31]"],
)  # fmt: skip
def test_every_warp_waits_for_the_next(load, scheduler, independent):
    """Thread 0 of each warp spins until the word tells its number, counted down from the last."""
    run = Run(
        f"""
        and.b32 %r2, %r31, 31; setp.ne.u32 %p1, %r2, 0; @%p1 bra DONE;
        shr.u32 %r3, %r34, 5; sub.u32 %r3, 11, %r3;
        SPIN: {load}; setp.ne.u32 %p2, %r1, %r3; @%p2 bra SPIN;
        add.u32 %r1, %r1, 1; st.volatile.global.u32 [%d31], %r1;
        DONE: bar.sync 0;
        """,
        grid=4, block=96, words=384, scheduler=scheduler, independent_threads=independent,
    )  # fmt: skip
    assert run.device.read(run.data, "u4", 1)[0] == 12


@pytest.mark.parametrize("scheduler", NAMES)
def test_warps_at_barriers_do_not_starve_one_that_spins(scheduler):
    # Two warps meet again and again until the third, which has spun meanwhile, stops them.
    run = Run(
        """
        setp.ge.u32 %p1, %r31, 64; @%p1 bra OTHER;
        MEET: bar.sync 1, 64; atom.global.add.u32 %r1, [%d31], 1;
        ld.volatile.global.u32 %r2, [%d31+4]; bar.red.or.pred %p3, 2, 64, %p2;
        setp.eq.u32 %p2, %r2, 0; bar.red.and.pred %p2, 1, 64, %p2; @%p2 bra MEET;
        bra DONE;
        OTHER: ld.volatile.global.u32 %r1, [%d31]; setp.lt.u32 %p2, %r1, 2000; @%p2 bra OTHER;
        st.volatile.global.u32 [%d31+4], 1;
        DONE:
        """,
        block=96, words=96, scheduler=scheduler,
    )  # fmt: skip
    assert run.device.read(run.data + 4, "u4", 1)[0] == 1


def test_an_unknown_scheduler():
    with pytest.raises(ValueError, match=r"Unknown scheduler 'fastest': choose in-order, "):
        Device(Geometry(1, 1, 1), scheduler="fastest")
