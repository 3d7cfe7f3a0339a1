"""`racetrap stress`: exit status, what people read, replay, JSON."""

import json

import numpy as np

from tests.support import REPOSITORY

_FOLDER = REPOSITORY / "docs" / "examples"
_KERNEL = (str(_FOLDER / "handover.ptx"), "--launch", str(_FOLDER / "handover.toml"))


def test_a_failure_has_a_witness_that_replays(racetrap, tmp_path):
    file = tmp_path / "replay.json"
    result = racetrap("stress", *_KERNEL, "--runs", "20", "--witness", file)
    assert result.exit_code == 1
    assert "of 20 runs fail, memory views, seeds 1 to 20, the first of them seed " in result.stdout
    for part in (
        "wrong result: Buffer 2 must hold what a sequentially consistent run gives",
        "Witness: 1 deviation",
        "1. block (1, 0, 0) warp 0's load at handover.cu:12 took 0, from before block (0, 0, 0)",
        "handover.cu:6  *data = value;",
    ):
        assert part in result.stdout
    again = racetrap("stress", *_KERNEL, "--replay", file)
    assert again.exit_code == 1
    assert "Exposed: 1 of 1 runs fail, memory views." in again.stdout


def test_right_by_another_memory(racetrap):
    result = racetrap("stress", *_KERNEL, "--runs", "9", "--memory", "write-buffers", "--hold", "0")
    assert result.exit_code == 0
    assert "Exposed: 0 of 9 runs fail" in result.stdout


def test_systematic_search_and_json(racetrap):
    result = racetrap("stress", *_KERNEL, "--deviations", "1", "--json", "-")
    document = json.loads(result.stdout)
    assert document["failing"] == 1
    assert document["failures"] == {"wrong result": 1}
    assert document["witness"]["of_memory"] == 1


def test_advice_is_printed_and_given(racetrap):
    result = racetrap("stress", *_KERNEL, "--runs", "20", "--seconds", "0", "--advise")
    assert "widen to fence.acq_rel.gpu at handover.cu:7" in result.stdout
    assert "handover.cu:7  __threadfence_block();" in result.stdout


def test_expected_contents(racetrap, tmp_path):
    file = tmp_path / "out.npy"
    np.save(file, np.array([0, 42], np.int32))
    result = racetrap("stress", *_KERNEL, "--runs", "20", "--expect", f"2={file}")
    assert "Buffer 2 must have 42 at element 1, not 0 (1 differ)" in result.stdout
    text = tmp_path / "text.npy"
    text.write_text("42")
    for wrong in (f"x={file}", "2", f"2={text}", f"2={tmp_path / 'missing.npy'}"):
        assert racetrap("stress", *_KERNEL, "--expect", wrong).exit_code == 2
