"""Asynchronous copies: what they copy and when, and the races of what does not wait for them."""

import numpy as np
import pytest

from racetrap.sim.gpu.executor.machine.errors import ExecutionError
from racetrap.sim.gpu.oracle.rules import run_oracle
from racetrap.sim.gpu.ptx.errors import PtxError
from tests.support.gpu.ptx_kernels import Run

WORDS = np.arange(1, 513, dtype=np.uint32)
#: Each thread copies as many bytes to shared memory, at its number.
BEGIN = """
    .shared .align 16 .b8 tile[4096];
    mov.u32 %r1, tile; mul.lo.u32 %r2, %r31, {size}; add.u32 %r1, %r1, %r2;
    cvt.u64.u32 %d1, %r2; add.u64 %d1, %d31, %d1;
    cp.async.{cache}.shared.global [%r1], [%d1], {size}{rest};
"""
#: Each thread stores the word at 4 times the number of its neighbour.
READ = """
    xor.b32 %r3, %r31, 63; shl.b32 %r3, %r3, 2; mov.u32 %r4, tile; add.u32 %r3, %r3, %r4;
    ld.shared.u32 %r5, [%r3]; st.global.u32 [%d33], %r5;
"""
ALL, BARRIER = "cp.async.wait_all;", "bar.sync 0;"


def begin(size=4, rest="", cache="ca"):
    return BEGIN.format(size=size, rest=rest, cache=cache)


def run(body, **options):
    return Run(body, block=64, data=WORDS, independent_threads=True, **options)


def races(found):
    result = run_oracle(found.device.trace("test"), "causality", True)
    return {
        tuple(sorted((race.first.access.name, race.second.access.name))) for race in result.races
    }


@pytest.mark.parametrize(("size", "cache"), [(4, "ca"), (8, "ca"), (16, "ca"), (16, "cg")])
def test_what_is_copied(size, cache):
    done = run(begin(size, cache=cache) + ALL + BARRIER + READ)
    assert (done.out() == WORDS[:64][::-1]).all()
    assert not races(done)


def test_what_is_not_read_is_zero():
    # Thread n reads n % 4 words of four.
    body = "and.b32 %r6, %r31, 3; shl.b32 %r6, %r6, 2;" + begin(16, ", %r6") + ALL + BARRIER + READ
    words = np.where(np.arange(64) % 4 < np.arange(64) // 4 % 4, WORDS[:64], 0)
    assert (run(body).out() == words[::-1]).all()


@pytest.mark.parametrize(
    ("wait", "found"),
    [
        (ALL + BARRIER, set()), ("cp.async.commit_group; cp.async.wait_group 0;" + BARRIER, set()),
        # Others wait for the thread, which waits for its copy too late or never.
        (BARRIER + ALL, {("LOAD", "STORE")}), (BARRIER, {("LOAD", "STORE")}),
        ("cp.async.commit_group; cp.async.wait_group 1;" + BARRIER, {("LOAD", "STORE")}),
        ("cp.async.wait_group 0;" + BARRIER, {("LOAD", "STORE")}),
    ],
)  # fmt: skip
def test_who_reads_must_wait(wait, found):
    # The thread reads another one's word, so that no thread is refused its own.
    done = run(begin() + wait + READ)
    assert races(done) == found
    assert bool(found) or (done.out() == WORDS[:64][::-1]).all()


@pytest.mark.parametrize("second", [BARRIER, "bar.sync 0; bar.sync 0;"])
def test_a_read_between_two_barriers_races_though_both_order_it_with_the_thread(second):
    # Before the first barrier the copy has begun, behind the second one its thread waits for it.
    assert races(run(begin() + BARRIER + READ + second + ALL)) == {("LOAD", "STORE")}


def test_what_is_copied_must_not_change_meanwhile():
    write = "xor.b32 %r3, %r31, 63; mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d31, %d2;" \
            "st.global.u32 [%d2], 7;"  # fmt: skip
    assert races(run(begin() + BARRIER + write + BARRIER + ALL)) == {("LOAD", "STORE")}
    assert not races(run(begin() + ALL + BARRIER + write))


@pytest.mark.parametrize(
    "access",
    ["ld.shared.u32 %r5, [%r1];", "st.shared.u32 [%r1], 1;", "st.global.u32 [%d1], 1;",
     "atom.shared.add.u32 %r5, [%r1], 1;"],
)  # fmt: skip
def test_a_thread_must_wait_for_its_own_copy(access):
    own = (
        r"test.ptx:\d+: .* races with the thread's own cp.async at test.ptx:\d+: wait for the copy "
    )
    with pytest.raises(ExecutionError, match=own + r"first \(thread \(0, 0, 0\)"):
        run(begin() + access)
    run(begin() + "ld.global.u32 %r5, [%d1]; ld.shared.u32 %r5, [%r1+1024];")
    run(begin() + ALL + access)


def test_groups_of_lanes_that_have_different_ones():
    # Odd threads make a group more, so that one more may be unfinished.
    body = (
        begin()
        + """
        cp.async.commit_group; and.b32 %r7, %r31, 1; setp.eq.u32 %p1, %r7, 0;
        @!%p1 cp.async.commit_group; cp.async.wait_group 1;
        @!%p1 ld.shared.u32 %r5, [%r1]; {even} st.global.u32 [%d33], %r5;
    """
    )
    found = run(body.format(even="")).out()
    assert (found[1::2] == WORDS[1:64:2]).all()
    assert not found[::2].any()
    with pytest.raises(ExecutionError, match=r"thread \(0, 0, 0\)"):
        run(body.format(even="@%p1 ld.shared.u32 %r5, [%r1];"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("cp.async.ca.shared.global [%r1], [%d1], 12", "must be 4, 8 or 16, not 12"),
        ("cp.async.wait_group %r1", "must be a number"),
        ("cp.async.bulk.commit_group", "is not supported"),
        ("cp.reduce.async.bulk.global.shared.add.u32 [%d1], [%r1], 16", "is not supported"),
    ],
)
def test_other_copies_are_refused(text, error):
    with pytest.raises(PtxError, match=error):
        Run(text + ";")
