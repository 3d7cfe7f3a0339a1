"""Rates of executor and oracles are taken from runs that did something."""

from __future__ import annotations

from racetrap.evaluation.throughput import kernel_rates
from racetrap.evaluation.throughput.executor_rates import THREADS


def test_executor(monkeypatch) -> None:
    class Rate:
        def __init__(self, threads: int):
            self.per_second = 10.0 * threads

    monkeypatch.setattr(kernel_rates, "measure_rate", Rate)
    assert kernel_rates.executor_rates() == {threads: 10.0 * threads for threads in THREADS}


def test_applications(monkeypatch) -> None:
    monkeypatch.setattr(kernel_rates, "_SIZE", "tiny")
    rates = list(kernel_rates.application_rates())
    assert [rate.name for rate in rates] == ["MM", "RED", "R110", "GCOL", "GCON", "1DC", "UTS"]
    for rate in rates:
        assert rate.operations > rate.events > 100
        assert min(rate.executor, rate.barracuda, rate.scoped) > 0
