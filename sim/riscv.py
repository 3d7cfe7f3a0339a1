"""Programs for RISC-V cores: the compiler of a package, and the segments of an ELF file."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

ELF = b"\x7fELF"
_CLASS_32, _LITTLE, _RISCV = 1, 1, 243
_LOAD, _HEADER = 1, 52


def zig() -> str | None:
    """The program of the package ``ziglang``, whose ``cc`` compiles C; None if it is missing."""
    spec = find_spec("ziglang")
    return None if spec is None or spec.origin is None else str(Path(spec.origin).with_name("zig"))


def elf_segments(path: Path, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Address and contents of each segment that is loaded, of those bytes that the file has.

    Parameters
    ----------
    path : Path
        The file, for errors.
    data : bytes
        Its contents.

    Raises
    ------
    ValueError
        If it is none for a RISC-V core of 32 bits.
    """
    if len(data) < _HEADER or (data[:4], data[4], data[5]) != (ELF, _CLASS_32, _LITTLE):
        raise ValueError(f"{path} must be a little-endian ELF file of 32 bits")
    (machine,) = struct.unpack_from("<H", data, 18)
    if machine != _RISCV:
        raise ValueError(f"{path} must be for RISC-V, machine {_RISCV}, not {machine}")
    (table,) = struct.unpack_from("<I", data, 28)
    size, count = struct.unpack_from("<2H", data, 42)
    for at in range(table, table + size * count, size):
        kind, offset, address, _, length = struct.unpack_from("<5I", data, at)
        if kind == _LOAD:
            yield address, data[offset : offset + length]
