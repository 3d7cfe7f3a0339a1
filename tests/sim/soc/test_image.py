"""Firmware images: both forms, what is refused, and that the kept ones are there."""

import struct

import pytest

from racetrap.rtl.soc.params import LOCAL_BYTES, MEMORY_BASE
from racetrap.sim.soc.firmware import IMAGES, SOURCES, image_of
from racetrap.sim.soc.image import Image, read_image, write_image

_LINES = ((0, "a.c:1"), (8, "-"), (16, "b.c:2"))


def _elf(segment, start, machine=243, file_class=1):
    header = bytes([0x7F, *b"ELF", file_class, 1, 1, *[0] * 9])
    header += struct.pack("<HHIIIIIHHHHHH", 2, machine, 1, 0, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    return header + struct.pack("<8I", 1, 84, start, start, len(segment), 64, 5, 4) + segment


def test_text_image_comes_back(tmp_path):
    image = Image(tmp_path / "made.hex", {at: at + 1 for at in (0, 4, 8, 16, 0x40)}, _LINES)
    write_image(image, image.path, ["by hand"])
    again = read_image(image.path)
    assert again.words == image.words
    assert again.locations([0, 4, 8, 12, 16, 20]) == image.locations([0, 4, 8, 12, 16, 20])
    assert again.locations([4, 8, 20]) == {4: "a.c:1", 20: "b.c:2"}


def test_elf(tmp_path):
    path = tmp_path / "made.elf"
    path.write_bytes(_elf(bytes([1, 0, 0, 0, 0, 0, 0, 0, 2, 3]), 0x100))
    assert read_image(path).words == {0x100: 1, 0x108: 0x302}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"0: 1\nhello\n", "line 2: image must be an ELF file"),
        (b"line 0\n", "line 1: image must be"),
        (_elf(b"", 0, machine=62), "for RISC-V, machine 243, not 62"),
        (_elf(b"", 0, file_class=2), "little-endian ELF file of 32 bits"),
        (b"\x7fELF", "little-endian ELF file of 32 bits"),
    ],
)
def test_refused(tmp_path, data, words):
    path = tmp_path / "bad"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=words):
        read_image(path)


def test_kept_images_are_those_of_the_programs():
    assert {path.stem for path in IMAGES.glob("*.hex")} == set(SOURCES)
    image = read_image(image_of("crypto"))
    assert "crypto.c:" in " ".join(place for _, place in image.lines or ())
    outside = [at for at in image.words if at >= LOCAL_BYTES and at < MEMORY_BASE]
    assert outside == []
