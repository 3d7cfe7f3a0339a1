"""Matrix products of a warp: fragments in registers, and the products of them.

Each lane holds some elements of each matrix.  Products are exact and their sum is rounded once,
where a GPU may round or cut in between.

Ref: PTX ISA 9.0, Sections 9.7.15.5 (mma) and 9.7.15.5.15 (ldmatrix).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from racetrap.golden_model.events import WARP_SIZE
from racetrap.sim.gpu.executor.machine.lanes import LANE_IDS

_GROUP, _MEMBER = LANE_IDS >> 2, LANE_IDS & 3


class Fragment(NamedTuple):
    """Elements that each lane holds of a matrix.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns of the matrix.
    rows, columns : numpy.ndarray
        Place of each element of each lane: shape (32, elements).
    """

    shape: tuple[int, int]
    rows: np.ndarray
    columns: np.ndarray

    @property
    def elements(self) -> int:
        """Elements of a lane."""
        return self.rows.shape[1]


def _fragment(shape: tuple[int, int], places: Sequence[tuple[np.ndarray, np.ndarray]]) -> Fragment:
    rows, columns = (
        np.stack([np.broadcast_to(place[axis], WARP_SIZE) for place in places], axis=1)
        for axis in (0, 1)
    )
    return Fragment(shape, rows, columns)


def _left(columns: int, packed: int) -> Fragment:
    """A matrix of 16 rows whose lanes hold ``packed`` neighbours of a row in a register."""
    registers = columns * 16 // (WARP_SIZE * packed)
    return _fragment((16, columns), [
        (_GROUP + 8 * (register & 1), _MEMBER * packed + 4 * packed * (register >> 1) + at)
        for register in range(registers) for at in range(packed)
    ])  # fmt: skip


def _right(rows: int, packed: int) -> Fragment:
    """A matrix of 8 columns, in the same way."""
    registers = rows * 8 // (WARP_SIZE * packed)
    return _fragment((rows, 8), [
        (_MEMBER * packed + 4 * packed * register + at, _GROUP)
        for register in range(registers) for at in range(packed)
    ])  # fmt: skip


_SUM = _fragment((16, 8), [(_GROUP + 8 * (at >> 1), _MEMBER * 2 + (at & 1)) for at in range(4)])
_F64 = (
    _fragment((8, 4), [(_GROUP, _MEMBER)]), _fragment((4, 8), [(_MEMBER, _GROUP)]),
    _fragment((8, 8), [(_GROUP, _MEMBER * 2 + at) for at in range(2)]),
)  # fmt: skip


def _bfloat(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _tf32(bits: np.ndarray) -> np.ndarray:
    """f32 of which the low 13 bits do not count."""
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


def _same(values: np.ndarray) -> np.ndarray:
    return values


#: By element type: its NumPy type, elements of a register, and their values.
_TYPES: dict[str, tuple[str, int, Callable[[np.ndarray], np.ndarray]]] = {
    "f16": ("f2", 2, _same), "bf16": ("u2", 2, _bfloat), "tf32": ("u4", 1, _tf32),
    "s8": ("i1", 4, _same), "u8": ("u1", 4, _same), "f32": ("f4", 1, _same),
    "s32": ("i4", 1, _same), "f64": ("f8", 1, _same),
}  # fmt: skip


def mma_fragments(inner: int, left: str) -> tuple[Fragment, Fragment, Fragment]:
    """Fragments of ``mma.sync`` by the columns of the first matrix and the type of its elements."""
    if left == "f64":
        return _F64
    packed = _TYPES[left][1]
    return _left(inner, packed), _right(inner, packed), _SUM


class MatrixProduct:
    """Product of one shape and types, called with the registers of all three matrices.

    Parameters
    ----------
    fragments : Fragment, Fragment, Fragment
        Both factors, and what is added, which is held as the result is.
    result, left, right, added : str
        Types of the elements.
    clamps : bool
        Whether an integer that does not fit is clamped.

    Raises
    ------
    KeyError
        If a type is none of them.
    """

    def __init__(
        self, fragments: tuple[Fragment, Fragment, Fragment], result: str, left: str, right: str,
        added: str, *, clamps: bool = False,
    ):  # fmt: skip
        self.fragments = fragments
        self.types = (left, right, added)
        self.result = _TYPES[result]
        self._clamps = clamps

    @property
    def registers(self) -> list[int]:
        """Registers of each source, and of the result."""
        counts = [
            fragment.elements // _TYPES[name][1]
            for fragment, name in zip(self.fragments, self.types, strict=True)
        ]
        return [*counts, self.fragments[2].elements // self.result[1]]

    def __call__(self, *rows: np.ndarray) -> list[np.ndarray]:
        """Registers of the result."""
        matrices, first = [], 0
        for fragment, name, count in zip(
            self.fragments, self.types, self.registers[:3], strict=True
        ):
            matrices.append(self._matrix(fragment, name, rows[first : first + count]))
            first += count
        left, right, added = matrices
        exact = left @ right + added
        dtype = np.dtype(self.result[0])
        if dtype.kind == "i" and self._clamps:
            exact = np.clip(exact, np.iinfo(dtype).min, np.iinfo(dtype).max)
        place = self.fragments[2]
        values = exact[place.rows, place.columns].astype(dtype)
        return registers_of(values)

    def _matrix(self, fragment: Fragment, name: str, rows: Sequence[np.ndarray]) -> np.ndarray:
        code, _, value = _TYPES[name]
        held = np.ascontiguousarray(np.stack(rows, axis=1)).view(code)
        wide = value(held)
        matrix = np.zeros(fragment.shape, "i8" if wide.dtype.kind in "iu" else "f8")
        matrix[fragment.rows, fragment.columns] = wide
        return matrix


def registers_of(held: np.ndarray) -> list[np.ndarray]:
    """Registers from the elements, or their bytes, that each lane holds: shape (32, elements)."""
    words = np.ascontiguousarray(held).view(f"u{max(4, held.dtype.itemsize)}")
    return [np.ascontiguousarray(column) for column in words.T]


def distribute(rows: Sequence[np.ndarray], matrices: int, transposed: bool) -> list[np.ndarray]:
    """``ldmatrix``: from the 16 bytes that each lane has read to the registers of all lanes."""
    halves = np.ascontiguousarray(np.stack(rows, axis=1)).view(np.uint16)
    found = []
    for number in range(matrices):
        matrix = halves[8 * number : 8 * number + 8]
        if transposed:
            matrix = np.ascontiguousarray(matrix.T)
        words = np.ascontiguousarray(matrix).view(np.uint32)
        found.append(words[_GROUP, _MEMBER])
    return found
