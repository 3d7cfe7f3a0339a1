"""mbarrier objects: phases against a statement of their own, and what they order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racetrap.sim.gpu.executor.machine.mbarriers import (
    MBARRIER_OPERATIONS,
    parity_of,
    pending_count,
)
from racetrap.sim.gpu.executor.machine.warp_schedulers import WARP_SCHEDULERS
from racetrap.sim.gpu.oracle.rules import run_oracle
from tests.support.gpu.ptx_kernels import QUICK, Run

STEPS = st.lists(
    st.tuples(st.sampled_from(["arrive", "expect_tx", "complete_tx", "arrive.expect_tx"]),
              st.integers(1, 3)), max_size=30,
)  # fmt: skip


@QUICK
@given(count=st.integers(1, 6), steps=STEPS)
def test_phases(count, steps):
    """An object is equal to a list of what its phase waits for."""
    word = MBARRIER_OPERATIONS["mbarrier.init"](0, count)
    missing, rest, phase = count, 0, 0
    for step, number in steps:
        if "arrive" in step and not missing:
            continue  # more arrivals than the phase waits for are undefined
        if step == "arrive":
            number = min(number, missing)
        if step == "complete_tx":
            number = min(number, rest)
        word = MBARRIER_OPERATIONS[f"mbarrier.{step}"](word, number)
        missing -= {"arrive": number, "arrive.expect_tx": 1}.get(step, 0)
        rest += {"complete_tx": -number, "arrive": 0}.get(step, number)
        if not missing and not rest:
            missing, phase = count, 1 - phase
        token = np.array([word], np.uint64)
        assert (pending_count(token)[0], parity_of(token)[0]) == (missing, phase)


def test_who_drops_out_is_not_awaited_again():
    word = MBARRIER_OPERATIONS["mbarrier.init"](0, 3)
    word = MBARRIER_OPERATIONS["mbarrier.arrive_drop"](word, 1)
    word = MBARRIER_OPERATIONS["mbarrier.arrive"](word, 2)
    token = np.array([word], np.uint64)
    assert (pending_count(token)[0], parity_of(token)[0]) == (2, 1)


#: Two warps store words, arrive, wait, and read one another's, three times.
BODY = """
    .shared .align 8 .b64 object; .shared .align 4 .b8 tile[256];
    mov.u32 %r1, object; setp.ne.u32 %p1, %r31, 0; @!%p1 mbarrier.init.shared.b64 [%r1], 64;
    bar.sync 0;
    shl.b32 %r2, %r31, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;
    xor.b32 %r2, %r31, 63; shl.b32 %r2, %r2, 2; add.u32 %r5, %r3, %r2;
    ROUND: add.u32 %r6, %r31, %r7; st.shared.u32 [%r4], %r6;
    mbarrier.arrive.{order}shared.b64 %d1, [%r1];
    WAIT: {wait} @!%p2 bra WAIT;
    ld.shared.u32 %r8, [%r5]; add.u32 %r9, %r9, %r8;
    bar.sync 0;
    add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 3; @%p3 bra ROUND;
    st.global.u32 [%d33], %r9;
"""
BY_TOKEN = "mbarrier.try_wait.{}shared.b64 %p2, [%r1], %d1;"
BY_PARITY = "and.b32 %r10, %r7, 1; mbarrier.test_wait.parity.{}shared::cta.b64 %p2, [%r1], %r10;"


def run(wait, order="", **options):
    return Run(BODY.format(wait=wait, order=order), block=64, independent_threads=True, **options)


def is_racy(found):
    return bool(run_oracle(found.device.trace("test"), "causality", True).races)


@pytest.mark.parametrize("scheduler", WARP_SCHEDULERS)
@pytest.mark.parametrize("wait", [BY_TOKEN, BY_PARITY])
def test_who_waits_reads_what_was_written_before_the_arrivals(wait, scheduler):
    found = run(wait.format(""), scheduler=scheduler)
    assert (found.out() == 3 * (63 - np.arange(64)) + 3).all()
    assert not is_racy(found)


@pytest.mark.parametrize(
    ("wait", "order"),
    [
        ("setp.eq.u32 %p2, %r1, %r1;", ""), (BY_TOKEN.format("relaxed.cta."), ""),
        (BY_PARITY.format(""), "relaxed.cta."),
        # It tests, but goes on whatever the answer.
        (BY_TOKEN.format("") + "setp.eq.u32 %p2, %r1, %r1;", ""),
    ],
)  # fmt: skip
def test_who_does_not_wait_or_not_acquire_races(wait, order):
    assert is_racy(run(wait, order, scheduler="in-order"))


def test_a_copy_arrives_when_it_is_complete():
    body = """
        .shared .align 8 .b64 object; .shared .align 4 .b8 tile[256];
        mov.u32 %r1, object; setp.ne.u32 %p1, %r31, 0;
        @!%p1 mbarrier.init.shared.b64 [%r1], {count}; bar.sync 0;
        shl.b32 %r2, %r31, 2; mov.u32 %r3, tile; add.u32 %r4, %r3, %r2;
        cvt.u64.u32 %d2, %r2; add.u64 %d2, %d31, %d2;
        cp.async.ca.shared.global [%r4], [%d2], 4; cp.async.mbarrier.arrive{inc}.shared.b64 [%r1];
        {arrive}
        WAIT: mbarrier.test_wait.parity.shared.b64 %p2, [%r1], 0; @!%p2 bra WAIT;
        xor.b32 %r2, %r2, 252; add.u32 %r5, %r3, %r2;
        ld.shared.u32 %r8, [%r5]; st.global.u32 [%d33], %r8;
    """
    words = np.arange(64, dtype=np.uint32) + 5
    for inc, count, arrive in (
        (".noinc", 64, ""), ("", 64, "mbarrier.arrive.shared.b64 %d3, [%r1];")
    ):  # fmt: skip
        found = Run(body.format(inc=inc, count=count, arrive=arrive), block=64, data=words,
                    independent_threads=True)  # fmt: skip
        assert (found.out() == words[::-1]).all()
        assert not is_racy(found)
