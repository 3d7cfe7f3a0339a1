"""Rates of recorder and detectors: measured on runs that are what they should be."""

from racetrap.evaluation.throughput.detector_rates import detector_rates
from racetrap.evaluation.throughput.recorder_rates import recorder_rates


def test_recorder():
    measured = recorder_rates(passes=3, runs=2)
    assert measured.events - 2 * 3 * 4096 in range(20)  # and the threads' own events
    for rate in (measured.recorded, measured.merged):
        assert 0 < rate.low <= rate.median <= rate.high


def test_detectors():
    (rate,) = detector_rates("tiny", ["blackscholes"])
    assert rate.name == "blackscholes"
    assert rate.events > 10_000
    assert rate.exact > rate.sigrace > 0
