"""Detectors by name, and presets that a stimulus is not for."""

import pytest

from racetrap.generators.presets import PRESETS
from racetrap.generators.systems import SYSTEMS, check_reads, check_system, system_of


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_of_other_detectors_are_refused(preset):
    params = PRESETS[preset].params
    own = system_of(params)
    check_system(params, own.name, "this suite")
    check_reads(params, own.trace)
    for other in SYSTEMS:
        if other is not own:
            with pytest.raises(ValueError, match=f"of {own.name} is not .* take .*{other.name}"):
                check_system(params, other.name, "this suite")
        if other.trace is not own.trace:
            with pytest.raises(ValueError, match=f"of {own.name} does .* take .*{other.name}"):
                check_reads(params, other.trace)
