"""Rates of executor, oracles and golden model are taken from runs that did something."""

import pytest

from racetrap.evaluation.throughput.analysis_rates import application_rates, program_rates


@pytest.mark.parametrize("name", ["MM", "RED"])
def test_application(name):
    rates = application_rates(name, "tiny")
    assert rates["name"] == name
    assert rates["operations"] > rates["events"] > 100
    assert min(rates[key] for key in ("executor", "barracuda", "scoped")) > 0


def test_program():
    rates = program_rates("blackscholes", "tiny")
    assert rates["name"] == "blackscholes"
    assert rates["events"] > 10_000
    assert min(rates["exact"], rates["sigrace"]) > 0
