"""Results of the oracles in a short form."""

from collections.abc import Callable

import pytest

from racetrap.golden_model.barracuda import Barracuda, ScopedOracle
from tests.support.oracle.programs import Program

Found = Callable[[Program], list[tuple[str, str]]]


@pytest.fixture
def barracuda() -> Found:
    """Kind and class of each race by the paper's analysis."""
    return lambda program: [
        (race.kind.value, race.race_class.value) for race in Barracuda().run(program.trace)
    ]


@pytest.fixture
def scoped() -> Found:
    """Kind and class of each race by the scope-aware oracle."""
    return lambda program: [
        (race.kind.value, race.race_class.value) for race in ScopedOracle().run(program.trace)
    ]
