"""Rates of oracle and golden model are taken from runs that did something."""

from racetrap.evaluation.sigrace.throughput import program_rates


def test_program():
    rates = program_rates("blackscholes", "tiny")
    assert rates["name"] == "blackscholes"
    assert rates["events"] > 10_000
    assert min(rates["exact"], rates["sigrace"]) > 0
