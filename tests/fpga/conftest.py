"""A small detector, and what runs on it."""

from dataclasses import replace

import pytest

from racetrap.generators.presets import PRESETS
from racetrap.golden_model.scord.params import ScordParams


@pytest.fixture(scope="session")
def params() -> ScordParams:
    return replace(PRESETS["scord-tiny"].params, trace_port=False)
