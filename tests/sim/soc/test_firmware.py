"""Firmware compiled again equals the kept images."""

from importlib.util import find_spec

import pytest

from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.soc.firmware import compile_firmware, image_of
from racetrap.sim.soc.image import read_image

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(find_spec("ziglang") is None, reason="Compiler ziglang: extra soc"),
]


@pytest.mark.parametrize("name", ACCELERATOR_PROGRAMS)
def test_kept_image_is_what_the_source_gives(name, tmp_path):
    made = tmp_path / f"{name}.elf"
    compile_firmware(ACCELERATOR_PROGRAMS[name], made)
    assert read_image(made).words == read_image(image_of(name)).words
