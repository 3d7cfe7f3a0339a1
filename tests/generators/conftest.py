"""Files of presets, written once for all tests that only read them."""

import functools

import pytest

from racetrap.generators.artefacts import generate
from racetrap.generators.presets import find_preset, with_settings


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Function that gives the files of a preset with settings; they have the preset's name.

    Parts are written of a preset as it is.
    """

    @functools.cache
    def make(preset, *settings):
        params = with_settings(find_preset(preset).params, settings)
        parts = [""] if settings else None
        return generate(preset, params, tmp_path_factory.mktemp(preset), name=preset, parts=parts)

    return make
