"""Stress of kernels: failures, replay, shrinking."""

from itertools import islice

import numpy as np
import pytest

from racetrap.golden_model.ptx_memory_model.operational import InOrder, Kind
from racetrap.sim.gpu.stress.kernel_subject import KernelSubject
from racetrap.sim.gpu.stress.replay_file import read_replay, write_replay
from racetrap.sim.gpu.stress.search import (
    random_runs,
    replay,
    short_witness,
    shrink,
)
from racetrap.sim.gpu.suites.weak_memory.programs import PROGRAMS
from tests.support import REPOSITORY

EXAMPLES = REPOSITORY / "docs" / "examples"


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("dot_product", "no_acquire"), ("dot_product", "release_block"),
        ("reduction", "no_fence"), ("octree", "no_release"), ("scan", "no_acquire_grid"),
        ("lamport_queue", "no_acquire_head"), ("lamport_queue", "no_release_head"),
    ],
)  # fmt: skip
def test_views_expose_what_lacks_a_fence(program, name, variant):
    runs = islice(random_runs(variant(program, name), "views", 1), 30)
    assert any(run.failure for run in runs), "30 runs do not fail"


@pytest.mark.campaign
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_thousand_replays_are_identical(program, variant):
    """63 of each of the 16 programs: of all its variants in turn."""
    subjects = [variant(program, each.name) for each in PROGRAMS[program].variants]
    for number in range(63):
        subject = subjects[number % len(subjects)]
        run = next(random_runs(subject, "views", 1 + number // len(subjects)))
        assert replay(subject, "views", run.deviations) == run


@pytest.mark.parametrize("memory", ["views", "write-buffers"])
@pytest.mark.parametrize("program", ["dot_product", "reduction", "octree", "hotspot"])
def test_right_variants_do_not_fail(program, memory, variant):
    subject = variant(program, PROGRAMS[program].variants[0].name)
    runs = list(islice(random_runs(subject, memory, 1), 6))
    for run in runs:
        assert not run.failure
    assert [run for run in runs if run.deviations]


def test_a_seed_repeats_its_run_alone(handover):
    runs = list(islice(random_runs(handover, "views", 1), 6))
    assert [next(random_runs(handover, "views", seed)) for seed in range(1, 7)] == runs
    assert len({run.deviations for run in runs}) > 1


def test_write_buffers_expose_a_missing_release_alone(variant):
    released = random_runs(variant("octree", "no_release"), "write-buffers", 1)
    for run in islice(released, 3):
        assert run.failure
    acquired = random_runs(variant("octree", "no_acquire"), "write-buffers", 1)
    for run in islice(acquired, 3):
        assert not run.failure
    held = random_runs(variant("octree", "no_release"), "write-buffers", 1, hold=0.0)
    for run in islice(held, 3):
        assert not run.failure


def test_in_order_is_sequentially_consistent(handover):
    run = handover.run("views", InOrder())
    assert run.failure is None
    assert run.deviations == ()


def test_a_failing_run_shrinks_and_replays(handover, tmp_path):
    failing = next(run for run in random_runs(handover, "views", 1) if run.failure)
    shrunk = shrink(handover, "views", failing)
    assert len(shrunk.deviations) == 1
    (deviation,) = shrunk.deviations
    assert deviation.kind is Kind.MESSAGE
    assert "warp 0's load at handover.cu:12 took 0, from before block (0, 0, 0)" in deviation.story
    path = tmp_path / "replay.json"
    write_replay(str(path), "handover.ptx", "views", failing.deviations)
    given = read_replay(str(path), "handover.ptx")
    for _ in range(3):
        assert replay(handover, given.memory, given.deviations) == failing


def test_a_replay_of_another_kernel_is_refused(tmp_path):
    path = tmp_path / "replay.json"
    write_replay(str(path), "one.cu", "views", ())
    with pytest.raises(ValueError, match=r"replay.json: Kernel must be one\.cu, not other\.cu"):
        read_replay(str(path), "other.cu")
    path.write_text('{"format": "racetrap replay 1", "kernel": "a", "memory": "b"}')
    with pytest.raises(ValueError, match="not a replay file of racetrap stress"):
        read_replay(str(path), "a")


def test_expectations_decide(handover):
    expected = {2: np.array([0, 42], np.int32)}
    subject = KernelSubject(handover.module, handover.launch, expected)
    failing = next(run for run in random_runs(subject, "views", 1) if run.failure)
    assert failing.sentence == "Buffer 2 must have 42 at element 1, not 0 (1 differ)"
    for wrong, rule in (
        ({2: np.array([1, 42], np.int32)}, "Kernel is wrong already"),
        ({7: np.zeros(2)}, "Unknown buffer 7: choose 0, 1 or 2"),
        ({2: np.zeros(3)}, "Expected contents of buffer 2 must be 2 numbers, not 3"),
    ):
        with pytest.raises(ValueError, match=rule):
            KernelSubject(handover.module, handover.launch, wrong)


def test_another_failing_run_has_a_shorter_witness(variant):
    """Of a variant whose first failing run needs many deviations."""
    subject = variant("double_checked", "release_block")
    failing = [run for run in islice(random_runs(subject, "views", 32), 60) if run.failure]
    first, best = shrink(subject, "views", failing[0]), short_witness(subject, "views", failing)
    assert len(best.deviations) <= 4 < len(first.deviations)
    assert replay(subject, "views", best.deviations) == best
