"""Rates of the recorder: measured on runs that are what they should be."""

import pytest

from racetrap.evaluation.sigrace.recorder_rates import MEASURED, recorder_rates


# `make bench` measures it, and the recorder has tests of its own.
@pytest.mark.campaign
def test_recorder():
    arrays = MEASURED[-1]
    measured = recorder_rates(arrays._replace(arguments=("20",)), runs=2)
    assert measured.events - 2 * 20 * 4096 in range(20)  # and the threads' own events
    for rate in (measured.recorded, measured.merged, measured.checked, measured.sigrace):
        assert 0 < rate.low <= rate.median <= rate.high
    assert measured.sanitizer_seconds > 0
    assert measured.slowdown > 0
    assert measured.sigrace_ratio > 0
    assert 0 <= measured.bytes_per_event < 1000


def test_measured_programs_are_there():
    for program in MEASURED:
        assert program.source.is_file()
