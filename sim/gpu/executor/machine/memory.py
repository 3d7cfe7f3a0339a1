"""Memories: one heap for all buffers, and small memories of blocks and threads.

A memory is a row of bytes seen through one view for each type.  The heap covers the addresses
from 0 on, so that an address is an index; the system commits only the pages that are touched.

Ref: PTX ISA 9.0, Section 5.1 (state spaces).
"""

from __future__ import annotations

import mmap
import sys
from bisect import bisect_right, insort
from typing import NamedTuple

import numpy as np

from racetrap.sim.gpu.executor.machine.errors import ExecutionError

#: First address of the heap; addresses in it fit in 32 bits.
HEAP_BASE = 0x1000_0000
HEAP_END = 1 << 32
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


def _end_of(address: int, size: int) -> int:
    """Where the next buffer may begin: at least one unit of alignment lies between two, so that
    small overruns are found."""
    return -(-(address + size + 1) // _ALIGNMENT) * _ALIGNMENT + _ALIGNMENT


def _fitting(start: int, end: int, size: int, alignment: int) -> int | None:
    """First address from ``start`` on for a buffer that ends before ``end``."""
    address = -(-start // alignment) * alignment
    return address if _end_of(address, size) <= end else None


class Heap:
    """Global memory: buffers in ascending order, with gaps that belong to none.

    Parameters
    ----------
    file : int, optional
        Descriptor of a file of ``HEAP_END`` bytes that holds the memory, for another process to
        share.
    """

    def __init__(self, file: int | None = None) -> None:
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS if file is None else mmap.MAP_SHARED
        self._memory = mmap.mmap(-1 if file is None else file, HEAP_END, flags=kind | _NO_RESERVE)
        # What empties pages: those of a file must go from the file.
        self._remove = mmap.MADV_DONTNEED if file is None else mmap.MADV_REMOVE
        self.views = Views(np.frombuffer(self._memory, np.uint8))
        self.buffers: list[Buffer] = []
        self._end = HEAP_BASE
        self._numbers = 0

    def allocate(self, size: int, name: str = "", alignment: int = _ALIGNMENT) -> int:
        """Address of a new buffer of zeros.

        Parameters
        ----------
        size : int
            Bytes, at least 1.
        name : str, optional
            Name for messages; by default the buffer's number.
        alignment : int
            What its address is a multiple of, itself a multiple of 256.

        Raises
        ------
        ValueError
            If the size is not positive.
        ExecutionError
            If the heap is full.
        """
        if size <= 0:
            raise ValueError(f"Buffer size must be at least 1 byte, not {size}")
        address = _fitting(self._end, HEAP_END, size, alignment) or self._gap(size, alignment)
        if address is None:
            needed = sum(buffer.size for buffer in self.buffers) + size
            raise ExecutionError(
                f"Buffers need {needed} bytes, but there are {HEAP_END - HEAP_BASE}"
            )
        self._end = max(self._end, _end_of(address, size))
        insort(self.buffers, Buffer(address, size, name or f"buffer {self._numbers}"))
        self._numbers += 1
        return address

    def _gap(self, size: int, alignment: int) -> int | None:
        """Address in the first gap between buffers that is large enough."""
        ends = [HEAP_BASE, *(_end_of(buffer.address, buffer.size) for buffer in self.buffers)]
        begins = [*(buffer.address for buffer in self.buffers), self._end]
        for end, begin in zip(ends, begins, strict=True):
            address = _fitting(end, begin, size, alignment)
            if address is not None:
                return address
        return None

    def free(self, address: int) -> None:
        """Take a buffer away; its addresses are given again only when no others are left.

        Raises
        ------
        ValueError
            If no buffer begins there.
        """
        buffer = self.find(address)
        if buffer is None or buffer.address != address:
            raise ValueError(f"Address {address:#x} is not in a buffer")
        self.buffers.remove(buffer)
        first = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
        last = max((address + buffer.size) // mmap.PAGESIZE * mmap.PAGESIZE, first)
        if last > first:
            self._memory.madvise(self._remove, first, last - first)
        end = address + buffer.size
        self.views.raw[address : min(first, end)] = 0
        self.views.raw[min(last, end) : end] = 0

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
            raise ValueError(f"Range of {size} bytes at {address:#x} does not lie in one buffer")
        return self.views.raw[address : address + size]
