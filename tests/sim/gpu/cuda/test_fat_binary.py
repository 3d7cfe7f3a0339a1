"""Fat binaries: PTX out of them, and whatever is not one refused."""

from random import Random
from struct import pack

import pytest

from racetrap.sim.gpu.cuda.fat_binary import FatBinaryError, Image, choose_ptx, ptx_images

_PTX, _CUBIN = 1, 2
_ZSTD, _LZ4 = 1 << 15, 1 << 13
_ENTRY_BYTES = 0x40


def _entry(kind, architecture, data, flags=0, whole=0, compressed=0):
    head = pack("<HHIQII4xI", kind, 1, _ENTRY_BYTES, len(data), compressed, 0, architecture)
    return head.ljust(0x28, b"\0") + pack("<Q8xQ", flags, whole) + data


def _binary(*entries):
    body = b"".join(entries)
    return pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def test_ptx_of_several_architectures():
    binary = _binary(
        _entry(_CUBIN, 75, b"\x7fELF"), _entry(_PTX, 75, b"old\0\0"), _entry(_PTX, 90, b"new\0")
    )
    assert ptx_images(binary) == [Image(75, "old"), Image(90, "new")]


@pytest.mark.parametrize(("capability", "text"), [(70, "a"), (75, "a"), (86, "b"), (120, "c")])
def test_the_newest_that_the_device_has(capability, text):
    images = [Image(90, "c"), Image(75, "a"), Image(80, "b")]
    assert choose_ptx(images, capability).text == text


def test_compressed_ptx():
    zstandard = pytest.importorskip("zstandard", reason="needs the extra cuda")
    text = b".version 9.0\n" * 50
    data = zstandard.ZstdCompressor().compress(text)
    entry = _entry(_PTX, 75, data + b"\0" * 3, _ZSTD, len(text), len(data))
    assert ptx_images(_binary(entry)) == [Image(75, text.decode())]
    with pytest.raises(FatBinaryError, match="PTX of the program is damaged"):
        ptx_images(_binary(_entry(_PTX, 75, data[:-9], _ZSTD, len(text), len(data) - 9)))


@pytest.mark.parametrize(
    ("binary", "sentence"),
    [
        (b"", "truncated"),
        (b"\0" * 16, "must begin with 0xba55ed50, not 0x0"),
        (_binary(_entry(_PTX, 75, b"x"))[:-1], "must have 81 bytes, not 80"),
        (_binary(_entry(_PTX, 75, b"\xff")), "is not text"),
        (_binary(_entry(_PTX, 75, b"x", _LZ4)), "is compressed for speed"),
        (_binary(bytes(64)), "lies outside it"),
    ],
)
def test_what_is_not_one_is_refused(binary, sentence):
    with pytest.raises(FatBinaryError, match=sentence):
        ptx_images(binary)


def test_without_ptx():
    with pytest.raises(FatBinaryError, match="has machine code but no PTX"):
        choose_ptx(ptx_images(_binary(_entry(_CUBIN, 75, b"x"))), 75)


@pytest.mark.parametrize("seed", range(20))
def test_damage_is_refused_or_harmless(seed):
    random = Random(seed)
    binary = bytearray(_binary(_entry(_PTX, 75, b".version 9.0"), _entry(_PTX, 80, b"x" * 40)))
    for _ in range(random.randint(1, 6)):
        binary[random.randrange(len(binary))] = random.randrange(256)
    try:
        images = ptx_images(bytes(binary[: random.randint(1, len(binary))]))
    except FatBinaryError:
        return
    for image in images:
        assert isinstance(image, Image)
