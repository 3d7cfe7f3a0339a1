"""The bounded monitor against the detectors without limits, and planted differences."""

import pytest

from racetrap.evaluation.noncoherent.monitor_quality import (
    MonitorQuality,
    ProgramQuality,
    program_quality,
    random_quality,
)
from racetrap.evaluation.noncoherent.random_traces import RandomPart
from racetrap.golden_model.noncoherent.bitmap import Bitmap
from racetrap.golden_model.noncoherent.interval_cam import IntervalCam
from racetrap.golden_model.noncoherent.monitor import Monitor


def test_nothing_is_lost_or_falsely_definite():
    found = random_quality(RandomPart(1, 0, 149))
    assert (found.lost, found.falsely_definite) == ([], [])
    assert found.races > 500
    assert found.compactions > 100
    assert found.definite + found.possible == found.races + found.imprecise > found.races


def _drop(self):
    """Full: forget an entry."""
    if None not in self.slots:
        self._put(0, None)


def _claim(self):
    """Full: close a gap, and say nothing of it."""
    compact(self)
    for slot, entry in enumerate(self.slots):
        if entry is not None and entry.imprecise:
            self._put(slot, entry._replace(imprecise=0))


def _forget(self, tag):
    """Nothing of what lies outside the window."""


compact = IntervalCam._compact


@pytest.mark.parametrize(
    ("kind", "name", "method", "what"),
    [
        (IntervalCam, "_compact", _drop, "lost"),
        (IntervalCam, "_compact", _claim, "falsely_definite"),
        (Bitmap, "_put_outside", _forget, "lost"),
        (Monitor, "_make_stale", lambda self, row: None, "lost"),
        (Monitor, "_copy_writing", lambda self, lines: None, "lost"),
    ],
)
def test_planted_bugs_are_found(monkeypatch, kind, name, method, what):
    monkeypatch.setattr(kind, name, method)
    assert getattr(random_quality(RandomPart(1, 0, 149)), what)


def test_a_program_of_firmware_needs_no_more_than_a_few_entries():
    found = program_quality(ProgramQuality("crypto", (2, 16)))
    for quality in found.values():
        assert quality.races > 0
        assert (quality.lost, quality.falsely_definite) == ([], [])
    assert found[16].imprecise == found[16].compactions == 0 < found[2].compactions


def test_sums():
    total = MonitorQuality(races=1, lost=["a"])
    total.add(MonitorQuality(races=2, lost=["b"]))
    assert (total.races, total.lost) == (3, ["a", "b"])
