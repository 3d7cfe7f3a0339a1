"""Row table of a function: the views of registers and parameters that its code uses.

A row view is one register as one type: ``%r1`` as u32 and as f32 are two views of the same
bytes.  All views that a function's code uses are made once for a frame, so that code finds
each by its number.  Parameters of calls are rows of bytes, seen through views in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from racetrap.golden_model.events import WARP_SIZE
from racetrap.sim.gpu.executor.arithmetic.scalars import scalar
from racetrap.sim.gpu.executor.machine.frame import Frame
from racetrap.sim.gpu.ptx.module import Function, Register, Variable


class _View(NamedTuple):
    """One view: the register's width and number, or a parameter's name and byte offset."""

    place: int | str
    number: int
    dtype: np.dtype


class RowTable:
    """Numbers the row views of one function, and makes frames of them.

    Parameters
    ----------
    function : Function
        Whose registers and parameters they are.
    """

    def __init__(self, function: Function):
        self._numbers: dict[str, tuple[int, int]] = {}
        self._bank_sizes: dict[int, int] = {}
        self._views: dict[_View, int] = {}
        self._parameters: dict[str, int] = {}
        if not function.is_kernel:
            self._declare((*function.parameters, *function.returns))
        self._declare(tuple(v for v in function.variables if v.space == "param"))

    def _declare(self, variables: tuple[Variable, ...]) -> None:
        self._parameters.update({variable.name: variable.size for variable in variables})

    def has_parameter(self, name: str) -> bool:
        """Whether ``name`` is a parameter that lives in the frame."""
        return name in self._parameters

    def _place(self, register: Register) -> tuple[int, int]:
        """Bank (by the size of its values) and number in it."""
        if register.name not in self._numbers:
            size = 0 if register.type == "pred" else scalar(register.type).dtype.itemsize
            number = self._bank_sizes.get(size, 0)
            self._bank_sizes[size] = number + 1
            self._numbers[register.name] = size, number
        return self._numbers[register.name]

    def register(self, register: Register, dtype: np.dtype) -> str:
        """Code of a view, which is the low end of a register that is wider."""
        return self._code(_View(*self._place(register), dtype))

    def parameter(self, name: str, offset: int, dtype: np.dtype) -> str:
        """Code of a view of a parameter in the frame, ``offset`` bytes behind its start."""
        return self._code(_View(name, offset, dtype))

    def _code(self, view: _View) -> str:
        return f"r[{self._views.setdefault(view, len(self._views))}]"

    def frame(self) -> Frame:
        """A new frame, all zeros."""
        banks = {
            size: np.zeros((count, WARP_SIZE), dtype=f"u{size}" if size else bool)
            for size, count in self._bank_sizes.items()
        }
        # Padded to 8 bytes, so that every lane's part is aligned.
        parameters = {
            name: np.zeros((WARP_SIZE, -(-size // 8) * 8), np.uint8)
            for name, size in self._parameters.items()
        }
        rows = []
        for place, number, dtype in self._views:
            if isinstance(place, str):
                last = number + dtype.itemsize
                rows.append(parameters[place][:, number:last].view(dtype)[:, 0])
            else:
                row = banks[place][number].view(dtype)
                rows.append(row[:: len(row) // WARP_SIZE] if len(row) > WARP_SIZE else row)
        return Frame(rows, [*banks.values(), *parameters.values()], parameters)
