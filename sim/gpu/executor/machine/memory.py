"""Memories: one heap for all buffers, and small memories of blocks and threads.

A memory is a row of bytes seen through one view for each type.  The heap covers the addresses
from 0 on, so that an address is an index; the system commits only the pages that are touched.

Ref: PTX ISA 9.0, Section 5.1 (state spaces).
"""

from __future__ import annotations

import mmap
import sys
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from racetrap.sim.gpu.executor.machine.errors import ExecutionError

__all__ = ["HEAP_BASE", "LOCAL_WINDOW", "SHARED_WINDOW", "Buffer", "Heap", "Views"]

#: First address of the heap; addresses in it fit in 32 bits.
HEAP_BASE = 0x1000_0000
_HEAP_END = 1 << 32
#: Generic addresses of shared and local memory: the offset in it and one of these.
SHARED_WINDOW = 1 << 32
LOCAL_WINDOW = 2 << 32

_ALIGNMENT = 256
#: MAP_NORESERVE, which Python has only from 3.13 on: the range is far larger than what is used.
_NO_RESERVE = 0x4000 if sys.platform == "linux" else 0


class Views(dict[np.dtype, np.ndarray]):
    """The bytes of a memory as arrays of each type, made when first asked for.

    Parameters
    ----------
    raw : numpy.ndarray
        The bytes; their number is a multiple of 16.
    """

    def __init__(self, raw: np.ndarray):
        super().__init__()
        self.raw = raw

    def __missing__(self, dtype: np.dtype) -> np.ndarray:
        view = self[dtype] = self.raw.view(dtype)
        return view


class Buffer(NamedTuple):
    """A piece of the heap: a buffer or a variable of a module."""

    address: int
    size: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.size} bytes at {self.address:#x})"


class Heap:
    """Global memory: buffers in ascending order, with gaps that belong to none."""

    def __init__(self) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE
        self.views = Views(np.frombuffer(mmap.mmap(-1, _HEAP_END, flags=flags), np.uint8))
        self.buffers: list[Buffer] = []
        self._end = HEAP_BASE

    def allocate(self, size: int, name: str = "") -> int:
        """Address of a new buffer of zeros.

        Parameters
        ----------
        size : int
            Bytes, at least 1.
        name : str, optional
            Name for messages; by default the buffer's number.

        Raises
        ------
        ValueError
            If the size is not positive.
        ExecutionError
            If the heap is full.
        """
        if size <= 0:
            raise ValueError(f"Buffer size must be at least 1 byte, not {size}")
        address = self._end
        # At least one unit of alignment between two buffers catches small overruns.
        end = -(-(address + size + 1) // _ALIGNMENT) * _ALIGNMENT + _ALIGNMENT
        if end > _HEAP_END:
            raise ExecutionError(
                f"Buffers must fit in {_HEAP_END - HEAP_BASE} bytes, not need {end - HEAP_BASE}"
            )
        self._end = end
        self.buffers.append(Buffer(address, size, name or f"buffer {len(self.buffers)}"))
        return address

    def find(self, address: int) -> Buffer | None:
        """The buffer that holds ``address``."""
        nearest = self.before(address)
        return nearest if nearest and address < nearest.address + nearest.size else None

    def before(self, address: int) -> Buffer | None:
        """The last buffer that begins at or before ``address``."""
        number = bisect_right(self.buffers, address, key=lambda buffer: buffer.address)
        return self.buffers[number - 1] if number else None

    def bytes_at(self, address: int, size: int) -> np.ndarray:
        """The bytes of a range that lies in one buffer.

        Raises
        ------
        ValueError
            If it does not.
        """
        buffer = self.find(address)
        if size < 0 or buffer is None or address + size > buffer.address + buffer.size:
            raise ValueError(f"Range must lie in one buffer, not be {size} bytes at {address:#x}")
        return self.views.raw[address : address + size]
