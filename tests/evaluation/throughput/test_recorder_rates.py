"""Rates of the recorder: measured on runs that are what they should be."""

from racetrap.evaluation.throughput.recorder_rates import recorder_rates


def test_recorder():
    measured = recorder_rates(passes=3, runs=2)
    assert measured.events - 2 * 3 * 4096 in range(20)  # and the threads' own events
    for rate in (measured.recorded, measured.merged, measured.checked):
        assert 0 < rate.low <= rate.median <= rate.high
    assert measured.sanitizer_seconds > 0
    assert measured.slowdown > 0
