"""Call stacks: frames by number, and what may not stand in them."""

import pytest

from racetrap.golden_model.call_stacks import Frame, call_stack, check_frames

_KERNEL, _SCAN, _ADD = Frame(0, "kernel", ""), Frame(1, "scan", "a.cu:9"), Frame(2, "add", "b.h:3")


def test_a_stack_leads_outwards():
    frames = {1: _KERNEL, 2: _SCAN, 7: _ADD}
    check_frames(frames)
    assert list(call_stack(frames, 7)) == [_ADD, _SCAN, _KERNEL]
    assert list(call_stack(frames, 1)) == [_KERNEL]
    assert list(call_stack(frames, 0)) == list(call_stack(frames, 3)) == []


@pytest.mark.parametrize(
    ("frames", "error", "sentence"),
    [
        ({0: _KERNEL}, ValueError, "Number of a frame must be from 1"),
        ({1 << 32: _KERNEL}, ValueError, "Number of a frame must be from 1"),
        ({1: Frame(1, "f", "")}, ValueError, "Caller of frame 1 must be from 0 to 0, not 1"),
        ({2: Frame(1, "f", "")}, ValueError, "Caller of frame 2 must be a frame, not 1"),
        ({1: Frame(0, 3, "")}, TypeError, "Function of frame 1"),
        ({1: Frame(0, "f", "a\nb")}, ValueError, "Place of frame 1"),
    ],
)
def test_bad_frames(frames, error, sentence):
    with pytest.raises(error, match=sentence):
        check_frames(frames)
