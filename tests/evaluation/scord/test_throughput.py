"""Rates of executor and oracles are taken from runs that did something."""

import pytest

from racetrap.evaluation.scord.throughput import application_rates


@pytest.mark.parametrize("name", ["MM", "RED"])
def test_application(name):
    rates = application_rates(name, "tiny")
    assert rates["name"] == name
    assert rates["operations"] > rates["events"] > 100
    assert min(rates[key] for key in ("executor", "barracuda", "scoped", "causality")) > 0
