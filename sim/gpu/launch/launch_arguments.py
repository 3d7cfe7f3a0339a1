"""Arguments of a kernel in a launch file: scalars, and buffers with contents.

Types have the names of PTX: ``u32``, ``s64``, ``f32`` and so on.
"""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from pydantic import Field, PlainValidator, ValidationInfo, field_validator, model_validator

from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Variable
from racetrap.sim.toml_file import Table, one_of, rule_error

__all__ = ["ELEMENT_TYPES", "Argument", "BufferArgument", "ScalarArgument"]

#: NumPy type of each element type.
ELEMENT_TYPES = {
    f"{letter}{bits}": np.dtype(f"{kind}{bits // 8}")
    for letter, kind, sizes in (("u", "<u", (8, 16, 32, 64)), ("s", "<i", (8, 16, 32, 64)))
    for bits in sizes
} | {"f32": np.dtype("<f4"), "f64": np.dtype("<f8")}
_NAMES = {dtype: name for name, dtype in ELEMENT_TYPES.items()}

#: Contents that a buffer may be given by name.
_CONTENTS = ("zeros", "arange", "random")
#: Bytes of a buffer at most.
_BUFFER_BYTES = 1 << 32

_ElementType = Annotated[str, one_of(ELEMENT_TYPES)]


def _same_kind(parameter: str, argument: str) -> bool:
    """Whether a parameter of one type takes an argument of the other: signs do not count."""
    same_size = TYPE_BYTES[parameter] == TYPE_BYTES[argument]
    return same_size and (parameter[0] == "b" or (parameter[0] == "f") == (argument[0] == "f"))


class ScalarArgument(Table):
    """A number.

    Parameters
    ----------
    type : str
        One of ``ELEMENT_TYPES``.
    value : int or float
        A value of that type.
    """

    type: _ElementType
    value: Any

    @field_validator("value")
    @classmethod
    def _check_value(cls, value: Any, info: ValidationInfo) -> int | float | None:
        if "type" not in info.data:
            return None  # an error that has been found already
        kind = info.data["type"]
        dtype, is_whole = ELEMENT_TYPES[kind], type(value) is int
        if dtype.kind == "f":
            if not is_whole and not isinstance(value, float):
                raise ValueError(f"a number of type {kind}")
            if math.isfinite(value) and abs(value) > float(np.finfo(dtype).max):
                raise ValueError(f"a number of type {kind}")
            return float(dtype.type(value))
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        if not is_whole or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high} for type {kind}")
        return value

    def fits(self, parameter: Variable) -> bool:
        """Whether the kernel's ``parameter`` takes this."""
        return parameter.size == TYPE_BYTES[parameter.type] and _same_kind(
            parameter.type, self.type
        )

    def bits(self) -> int | float:
        """Value for the kernel: an integer without its sign, or a float."""
        if isinstance(self.value, float):
            return self.value
        return self.value % (1 << 8 * TYPE_BYTES[self.type])


class BufferArgument(Table):
    """A buffer in global memory; the kernel is given its address.

    Parameters
    ----------
    buffer : str or Path
        Contents: ``zeros``, ``arange``, ``random``, or an array file.
    type : str
        Type of an element, one of ``ELEMENT_TYPES``; of an array file by default its own.
    count : int
        Elements; of an array file by default all.
    """

    buffer: str | Path
    type: _ElementType
    count: Annotated[int, Field(ge=1)]

    @model_validator(mode="before")
    @classmethod
    def _read_array(cls, data: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        """Put type and size of an array file in, or compare them."""
        name, file = data["buffer"], cast(Path, info.context)
        if name in _CONTENTS or isinstance(name, Path):
            return data
        if not isinstance(name, str) or not name.endswith(".npy"):
            choices = ", ".join(_CONTENTS)
            raise rule_error("buffer", f"one of {choices}, or a file ending in .npy", name)
        array = _map_array(file.parent / name)
        if array is None:
            raise rule_error("buffer", "an array file that can be read", name)
        kind = _NAMES.get(array.dtype.newbyteorder("<"))
        if kind is None:
            raise rule_error("buffer", f"an array of {', '.join(ELEMENT_TYPES)}", str(array.dtype))
        if not array.size:
            raise rule_error("buffer", "an array with elements", name)
        found = {"type": kind, "count": array.size}
        for key, value in found.items():
            if data.get(key, value) != value:
                raise rule_error(key, f"the {value} of the array file", data[key])
        return data | found | {"buffer": file.parent / name}

    @model_validator(mode="after")
    def _check_size(self) -> BufferArgument:
        most = _BUFFER_BYTES // ELEMENT_TYPES[self.type].itemsize
        if self.count > most:
            raise rule_error("count", f"from 1 to {most}", self.count)
        return self

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
        if isinstance(self.buffer, Path):
            array = _map_array(self.buffer)
            if array is None:
                raise ValueError(f"{self.buffer}: Array file must still be there, not changed")
            return array.ravel().astype(dtype)
        if self.buffer == "zeros":
            return np.zeros(self.count, dtype)
        if self.buffer == "arange":
            return np.arange(self.count).astype(dtype)
        if dtype.kind == "f":
            return rng.random(self.count, np.float64).astype(dtype)
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, self.count, dtype, endpoint=True)


def _map_array(path: Path) -> np.ndarray | None:
    """The array of a .npy file, mapped; none if it is not one."""
    if not path.is_file():
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # NumPy lets through whatever its parser of the header raises
        return None
    return array if isinstance(array, np.ndarray) else None


def _argument(table: Any, info: ValidationInfo) -> ScalarArgument | BufferArgument:
    """The kind of argument that the keys of a table name."""
    if not isinstance(table, dict):
        raise ValueError("a table")
    if "buffer" in table:
        return BufferArgument.model_validate(table, context=info.context)
    if "value" in table:
        return ScalarArgument.model_validate(table, context=info.context)
    raise ValueError("a table with buffer or value")


Argument = Annotated[ScalarArgument | BufferArgument, PlainValidator(_argument)]
