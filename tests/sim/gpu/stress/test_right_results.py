"""What is right if nothing is expected: whatever sequentially consistent memory gives."""

from itertools import islice

import pytest

from racetrap.golden_model.ptx_memory_model.operational import InOrder
from racetrap.sim.gpu.stress.search import find_witness, random_runs, replay
from racetrap.sim.gpu.stress.subject import Failure, Run
from tests.support.campaign import one_in
from tests.support.gpu.litmus_kernels import RESULTS, X, Y, litmus_subject

MODES = [".relaxed.gpu", ".volatile", ""]


def passing(mode, between):
    """Message passing without a wait: one stores data and a flag, the other reads both once."""
    writer = [f"st{mode} {X}, 1", *between, f"st{mode} {Y}, 1"]
    reader = [f"ld{mode} %r2, {Y}", *between, f"ld{mode} %r3, {X}"]
    return writer, [*reader, f"st {RESULTS[0]}, %r2", f"st {RESULTS[1]}, %r3"]


def buffering(mode, between):
    """Store buffering: each stores one word and reads the other."""
    return [
        [f"st{mode} {own}, 1", *between, f"ld{mode} %r2, {other}", f"st {result}, %r2"]
        for own, other, result in ((X, Y, RESULTS[0]), (Y, X, RESULTS[1]))
    ]


def failing(subject, memory, runs=100):
    return find_witness(subject, memory, list(islice(random_runs(subject, memory, 1), runs)))


@pytest.mark.parametrize("memory", ["views", "write-buffers"])
@pytest.mark.parametrize("place", one_in(3, ["block", "warp", "lane"]))
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [passing, buffering])
def test_a_right_kernel_of_several_results_never_fails(tmp_path, shape, mode, place, memory):
    """Ten runs with warps in other orders give one result or two of the three."""
    subject = litmus_subject(tmp_path, *shape(mode, ["fence.sc.gpu"]), place)
    assert subject.run(memory, InOrder()).failure is None
    assert failing(subject, memory) == ([], None)


@pytest.mark.parametrize(
    ("shape", "between"),
    [(passing, []), (passing, ["fence.acq_rel.cta"]), (buffering, ["fence.acq_rel.gpu"])],
)
@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_one_fails_and_memory_deviates_in_the_witness(tmp_path, shape, between, mode):
    subject = litmus_subject(tmp_path, *shape(mode, between))
    found, witness = failing(subject, "views")
    assert found
    assert not witness.is_sequential
    assert replay(subject, "views", witness.deviations) == witness


def test_a_barrier_orders_what_it_stands_between(tmp_path):
    """`MP+bar+acqrel-early.litmus`: fences before a barrier, the flag's store behind it."""
    first = [
        "mov.u32 %r4, %tid.y", "setp.ne.u32 %p2, %r4, 0", "@!%p2 st.global.u32 [%rd1], 1",
        "fence.acq_rel.gpu", "bar.sync 0", "@%p2 st.relaxed.gpu.global.u32 [%rd1+128], 1",
    ]  # fmt: skip
    _, reader = passing(".relaxed.gpu", ["fence.acq_rel.gpu"])
    second = ["mov.u32 %r4, %tid.y", "setp.ne.u32 %p2, %r4, 0", "@%p2 ret", *reader]
    subject = litmus_subject(tmp_path, first, second, "block of two warps")
    assert failing(subject, "views", 200)[0]


def test_results_that_come_to_be_known_are_right_of_runs_before(tmp_path):
    subject = litmus_subject(tmp_path, *passing("", []))
    (run, *_), _ = failing(subject, "views")
    assert subject.fails(run)
    known = Run(Failure.RESULT, "", (), next(iter(subject._results)))
    assert not subject.fails(known)
    assert find_witness(subject, "views", [known]) == ([], None)
