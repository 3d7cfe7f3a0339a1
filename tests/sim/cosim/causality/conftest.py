"""A small system as a shared library, and traffic for it."""

import pytest

from racetrap.sim.cosim.causality.fast_compare import transactions_of
from racetrap.sim.cosim.causality.random_events import random_events
from racetrap.sim.cosim.causality.styles import STYLES
from racetrap.sim.cosim.fast.build import build_fast
from tests.support.causality.plans import REGION, TWO_BANKS


@pytest.fixture(scope="session")
def model():
    return build_fast("causality-tiny", TWO_BANKS)


@pytest.fixture
def traffic():
    """Function that gives random transactions with their SM."""

    def make(style="mixed", instructions=150, seed=3):
        events = random_events(TWO_BANKS, REGION, STYLES[style], seed, instructions)
        return transactions_of(events, TWO_BANKS)

    return make
