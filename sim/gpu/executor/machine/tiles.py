"""Tiles of ``wmma``: matrices that a warp loads, multiplies and stores as a whole.

PTX leaves open which elements a lane holds.  Here the elements of a tile lie in the lanes one after
the other: those of a factor as memory has them, those of a sum by rows.  Where the
registers have more room than the tile, it is repeated.

Ref: PTX ISA 9.0, Section 9.7.15.4 (wmma).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from racetrap.golden_model.events import WARP_SIZE
from racetrap.sim.gpu.executor.machine.access import Access, Generic
from racetrap.sim.gpu.executor.machine.lanes import LANE_IDS
from racetrap.sim.gpu.executor.machine.matrices import Fragment, registers_of

if TYPE_CHECKING:
    from racetrap.sim.gpu.executor.machine.warp import Warp

_WIDEST_ACCESS, _WORD_BYTES = 16, 4
#: Elements of a factor that a lane holds of these types, whatever the shape.
_HELD = {"f16": 16}


class Tile:
    """Which elements of a matrix each lane holds, and where memory has them.

    Parameters
    ----------
    role : str
        ``a`` and ``b`` for the factors, ``c`` and ``d`` for the sums.
    shape : (int, int, int)
        Rows and columns of the product, and columns of the first factor.
    element : str
        Type of the elements.
    dtype : numpy.dtype
        The same of NumPy, as wide.
    layout : str
        ``row`` or ``col``: whether memory has rows or columns one after the other.
    """

    def __init__(
        self, role: str, shape: tuple[int, int, int], element: str, dtype: np.dtype, layout: str
    ):
        rows, columns, inner = shape
        size = {"a": (rows, inner), "b": (inner, columns)}.get(role, (rows, columns))
        is_factor, self._by_rows = role in ("a", "b"), layout == "row"
        count = size[0] * size[1]
        held = _HELD.get(element, 0) if is_factor else 0
        held = held or max(count // WARP_SIZE, 1)
        number = (LANE_IDS[:, None] * held + np.arange(held)) % count
        held_by_rows = self._by_rows or not is_factor
        line = size[1] if held_by_rows else size[0]
        lines, places = np.divmod(number, line)
        row, column = (lines, places) if held_by_rows else (places, lines)
        self.fragment = Fragment(size, row, column)
        self._dtype, self._held = dtype, held
        #: Elements that a lane accesses at once, as so many words or, if it is smaller, as one.
        self._run = 1
        if held_by_rows == self._by_rows:
            self._run = min(held, line, _WIDEST_ACCESS // dtype.itemsize)
        run_bytes = self._run * dtype.itemsize
        self.unit = np.dtype(f"u{min(run_bytes, _WORD_BYTES)}")
        self.units = run_bytes // self.unit.itemsize
        #: Elements from one line to the next if an instruction does not say.
        self.leading = size[1] if self._by_rows else size[0]

    @property
    def registers(self) -> int:
        """Registers of a lane."""
        return self._held * self._dtype.itemsize // max(_WORD_BYTES, self._dtype.itemsize)

    def places(self, leading: np.ndarray) -> list[np.ndarray]:
        """Bytes from the tile's address to each part that a lane accesses at once."""
        row, column = self.fragment.rows[:, :: self._run], self.fragment.columns[:, :: self._run]
        lines, within = (row, column) if self._by_rows else (column, row)
        found = (lines * leading.astype(np.int64)[:, None] + within) * self._dtype.itemsize
        return [np.ascontiguousarray(part) for part in found.T]

    def gather(self, parts: list[np.ndarray]) -> list[np.ndarray]:
        """Registers from the units that were loaded."""
        return registers_of(np.ascontiguousarray(np.stack(parts, axis=1)).view(self._dtype))

    def scatter(self, registers: tuple[np.ndarray, ...]) -> list[np.ndarray]:
        """Units to store from registers."""
        held = np.ascontiguousarray(np.stack(registers, axis=1)).view(self.unit)
        return [np.ascontiguousarray(column) for column in held.T]


class _TileAccess:
    """Access of a whole warp to a tile.

    Parameters
    ----------
    tile : Tile
        What is loaded or stored.
    access : Access or Generic
        Load or store of a lane's units that lie next to each other.
    """

    def __init__(self, tile: Tile, access: Access | Generic):
        self._tile, self._access = tile, access


class TileLoad(_TileAccess):
    """``wmma.load``, called with the rows of addresses and of leading dimensions; parameters as of
    ``_TileAccess``."""

    def __call__(self, warp: Warp, base: np.ndarray, leading: np.ndarray) -> list[np.ndarray]:
        """Registers of all lanes."""
        parts = []
        for place in self._tile.places(leading):
            rows = [np.zeros(WARP_SIZE, self._tile.unit) for _ in range(self._tile.units)]
            self._access(warp, warp.mask, base + place, *rows)  # type: ignore[operator]
            parts += rows
        return self._tile.gather(parts)


class TileStore(_TileAccess):
    """``wmma.store``, called with those rows and the registers of all lanes; parameters as of
    ``_TileAccess``."""

    def __call__(
        self, warp: Warp, base: np.ndarray, leading: np.ndarray, *registers: np.ndarray
    ) -> None:
        parts, units = self._tile.scatter(registers), self._tile.units
        for number, place in enumerate(self._tile.places(leading)):
            rows = parts[number * units : (number + 1) * units]
            self._access(warp, warp.mask, base + place, *rows)  # type: ignore[operator]
