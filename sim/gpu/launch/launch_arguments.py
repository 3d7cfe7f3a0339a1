"""Arguments of a kernel as a launch file describes them: scalars, and buffers with contents.

Types have the names of PTX: ``u32``, ``s64``, ``f32`` and so on.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Variable

__all__ = ["CONTENTS", "ELEMENT_TYPES", "BufferArgument", "ScalarArgument"]

#: NumPy type of each element type.
ELEMENT_TYPES = {
    f"{letter}{bits}": np.dtype(f"{kind}{bits // 8}")
    for letter, kind, sizes in (("u", "<u", (8, 16, 32, 64)), ("s", "<i", (8, 16, 32, 64)))
    for bits in sizes
} | {"f32": np.dtype("<f4"), "f64": np.dtype("<f8")}

#: Contents that a buffer may be given by name.
CONTENTS = ("zeros", "arange", "random")


def _same_kind(parameter: str, argument: str) -> bool:
    """Whether a parameter of one type takes an argument of the other: signs do not count."""
    same_size = TYPE_BYTES[parameter] == TYPE_BYTES[argument]
    return same_size and (parameter[0] == "b" or (parameter[0] == "f") == (argument[0] == "f"))


@dataclass(frozen=True)
class ScalarArgument:
    """A number.

    Parameters
    ----------
    type : str
        One of ``ELEMENT_TYPES``.
    value : int or float
        A value of that type.
    """

    type: str
    value: int | float

    def fits(self, parameter: Variable) -> bool:
        """Whether the kernel's ``parameter`` takes this."""
        return parameter.size == TYPE_BYTES[parameter.type] and _same_kind(
            parameter.type, self.type
        )

    def bits(self) -> int | float:
        """What the kernel is given: an integer without its sign, or a float."""
        if isinstance(self.value, float):
            return self.value
        return self.value % (1 << 8 * TYPE_BYTES[self.type])


@dataclass(frozen=True)
class BufferArgument:
    """A buffer in global memory; the kernel is given its address.

    Parameters
    ----------
    contents : str or Path
        One of ``CONTENTS``, or an array file.
    type : str
        Type of an element, one of ``ELEMENT_TYPES``.
    count : int
        Elements.
    """

    contents: str | Path
    type: str
    count: int

    def fits(self, parameter: Variable) -> bool:
        """Whether the kernel's ``parameter`` takes an address."""
        return parameter.size == TYPE_BYTES[parameter.type] and parameter.type in ("u64", "b64")

    def make(self, rng: np.random.Generator) -> np.ndarray:
        """The contents.

        Parameters
        ----------
        rng : Generator
            Source of ``random``: integers over the whole range of the type, floats from 0 to 1.
        """
        dtype = ELEMENT_TYPES[self.type]
        if isinstance(self.contents, Path):
            return np.load(self.contents, allow_pickle=False).ravel().astype(dtype)
        if self.contents == "zeros":
            return np.zeros(self.count, dtype)
        if self.contents == "arange":
            return np.arange(self.count).astype(dtype)
        if dtype.kind == "f":
            return rng.random(self.count, np.float64).astype(dtype)
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, self.count, dtype, endpoint=True)
