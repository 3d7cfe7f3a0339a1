"""Checkpoints: what they begin anew, and what they remember."""

from racetrap.golden_model.sigrace.checkpoint import Checkpoint


def test_a_checkpoint_begins_anew():
    checkpoint = Checkpoint(2, 100)
    checkpoint.committed[:] = [100, 7]
    checkpoint.log[1] += [(0, 1), (3, 2)]
    assert checkpoint.total == 107
    progress = [5, 9]
    checkpoint.take(progress)
    progress[0] = 6
    assert (checkpoint.committed, checkpoint.total) == ([0, 0], 107)
    assert (checkpoint.progress, checkpoint.epochs) == ([5, 9], [0, 2])
    assert checkpoint.log == [[], []]
    checkpoint.committed[0] += 3
    checkpoint.take([6, 9])
    assert (checkpoint.epochs, checkpoint.total) == ([0, 2], 110)
