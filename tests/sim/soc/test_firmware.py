"""Firmware compiled again equals the kept images."""

from importlib.util import find_spec

import pytest

from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.failure import Failure
from racetrap.sim.soc import firmware
from racetrap.sim.soc.firmware import SOURCES, compile_firmware, image_of, read_firmware
from racetrap.sim.soc.image import read_image

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(find_spec("ziglang") is None, reason="Compiler ziglang: extra soc"),
]


@pytest.mark.parametrize("name", SOURCES)
def test_kept_image_is_what_the_source_gives(name, tmp_path):
    made = tmp_path / f"{name}.elf"
    compile_firmware(*SOURCES[name], made)
    assert read_image(made).words == read_image(image_of(name)).words


def test_what_does_not_fit_into_local_memory_is_refused(monkeypatch):
    monkeypatch.setattr(firmware, "_SCRATCHPAD", 1 << 20)
    with pytest.raises(Failure, match="room for the stack"):
        read_firmware(ACCELERATOR_PROGRAMS["vec_add"].source)


def test_source_is_compiled_with_its_lines():
    image = read_firmware(ACCELERATOR_PROGRAMS["crypto"].source)
    assert image.words == read_image(image_of("crypto")).words
    assert image.lines == read_image(image_of("crypto")).lines
