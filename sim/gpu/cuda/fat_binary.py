"""Fat binaries: the PTX that nvcc puts into a program, for one or several architectures."""

from __future__ import annotations

from struct import Struct
from struct import error as StructError
from typing import NamedTuple

from racetrap.sim.tools import install_extra

_MAGIC = 0xBA55ED50
#: Magic, version, bytes of the header, bytes behind it.
_HEADER = Struct("<IHHQ")
#: Kind, version, bytes of the header, bytes behind it; of these how many are compressed data;
#: then, after the place of the options and the version of the format, the architecture.
_ENTRY = Struct("<HHIQII4xI")
#: Flags and, of compressed data, its bytes before.
_FLAGS = Struct("<Q8xQ")
_FLAGS_OFFSET = 0x28
_PTX = 1
_ZSTD, _LZ4 = 1 << 15, 1 << 13
#: Bytes of one PTX text at most.
_MOST_BYTES = 1 << 28


class FatBinaryError(ValueError):
    """A fat binary without PTX that can be read."""


class Image(NamedTuple):
    """PTX for one architecture.

    Parameters
    ----------
    architecture : int
        10 * major + minor.
    text : str
        The PTX.
    """

    architecture: int
    text: str


def _decompressed(data: bytes, size: int) -> bytes:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise FatBinaryError(
            f"PTX of the program is compressed: {install_extra('cuda')}, "
            "or build it with --compress-mode none"
        ) from None
    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as error:
        raise FatBinaryError(f"PTX of the program is damaged: {error}") from None


def _text_of(data: bytes, compressed: int, flags: int, size: int) -> str:
    if flags & _LZ4:
        raise FatBinaryError(
            "PTX of the program is compressed for speed: build it with --compress-mode "
            "none or default"
        )
    if size > _MOST_BYTES:
        raise FatBinaryError(f"PTX of the program must be at most {_MOST_BYTES} bytes, not {size}")
    if flags & _ZSTD:
        data = _decompressed(data[:compressed], size)
    try:
        return data.rstrip(b"\0").decode()
    except UnicodeDecodeError:
        raise FatBinaryError("PTX of the program is not text") from None


def split_binaries(data: bytes) -> list[bytes]:
    """Fat binaries that stand one after the other: those of a program's files, linked.

    Raises
    ------
    FatBinaryError
        If one breaks the format.
    """
    found = []
    while data:
        size = _bytes_of(data)
        found.append(data[:size])
        data = data[size:]
    return found


def _bytes_of(data: bytes) -> int:
    """Bytes of the fat binary at the beginning of ``data``."""
    try:
        magic, _, header_bytes, size = _HEADER.unpack_from(data)
    except StructError:
        raise FatBinaryError("Fat binary is truncated") from None
    if magic != _MAGIC:
        raise FatBinaryError(f"Fat binary must begin with {_MAGIC:#x}, not {magic:#x}")
    end: int = header_bytes + size
    if end > len(data):
        raise FatBinaryError(f"Fat binary must have {end} bytes, not {len(data)}")
    return end


def ptx_images(binary: bytes) -> list[Image]:
    """PTX of a fat binary.

    Parameters
    ----------
    binary : bytes
        Header and all entries.

    Raises
    ------
    FatBinaryError
        If it breaks the format, or its PTX cannot be decompressed.
    """
    images = []
    end = _bytes_of(binary)
    try:
        _, _, start, _ = _HEADER.unpack_from(binary)
        while start < end:
            kind, _, own_bytes, bytes_behind, compressed, _, arch = _ENTRY.unpack_from(
                binary, start
            )
            flags, whole = _FLAGS.unpack_from(binary, start + _FLAGS_OFFSET)
            first = start + own_bytes
            start = first + bytes_behind
            if not own_bytes or start > end:
                raise FatBinaryError("Entry of a fat binary lies outside it")
            if kind == _PTX:
                text = _text_of(binary[first:start], compressed, flags, whole)
                images.append(Image(arch, text))
    except StructError:
        raise FatBinaryError("Fat binary is truncated") from None
    return images


def choose_ptx(images: list[Image], capability: int) -> Image:
    """The PTX that a device takes: for the newest architecture that it has, or the oldest.

    Raises
    ------
    FatBinaryError
        If there is no PTX.
    """
    if not images:
        raise FatBinaryError(
            "Program has machine code but no PTX: build it with "
            f"-gencode arch=compute_{capability},code=compute_{capability}"
        )
    suited = [image for image in images if image.architecture <= capability]
    if suited:
        return max(suited, key=lambda image: image.architecture)
    return min(images, key=lambda image: image.architecture)
