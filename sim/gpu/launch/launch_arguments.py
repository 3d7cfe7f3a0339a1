"""Arguments of a kernel in a launch file: scalars, buffers with contents, pointers into buffers,
and structures.

Types have the names of PTX: ``u32``, ``s64``, ``f32`` and so on.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from pydantic import Field, PlainValidator, ValidationInfo, field_validator, model_validator

from racetrap.sim.gpu.ptx.module import TYPE_BYTES, Variable
from racetrap.sim.toml_file import Table, one_of, rule_error

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
    guard : int
        Bytes before and after it that belong to no buffer.
    expected : list or Path, optional
        Contents after the last launch: numbers, or an array file.
    tolerance : float
        Maximum difference of a float from its expected value.
    """

    buffer: str | Path
    type: _ElementType
    count: Annotated[int, Field(ge=1)]
    guard: Annotated[int, Field(ge=0, le=_BUFFER_BYTES)] = 0
    expected: list[int | float] | Path | None = None
    tolerance: Annotated[float, Field(ge=0)] = 0.0

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
        array = map_array(file.parent / name)
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

    @field_validator("expected", mode="before")
    @classmethod
    def _find_expected(cls, value: Any, info: ValidationInfo) -> Any:
        """Contents that are expected: as many as the buffer has, of its type."""
        count, kind = info.data.get("count"), info.data.get("type")
        if count is None or kind is None:
            return None  # an error that has been found already
        if isinstance(value, str) and value.endswith(".npy"):
            value = cast(Path, info.context).parent / value
            found = map_array(value)
        else:
            found = _numbers(value, ELEMENT_TYPES[kind])
        if found is None or found.size != count or found.dtype != ELEMENT_TYPES[kind]:
            raise ValueError(f"{count} numbers of type {kind}, or a file ending in .npy with them")
        return value

    @model_validator(mode="after")
    def _check_size(self) -> BufferArgument:
        most = _BUFFER_BYTES // ELEMENT_TYPES[self.type].itemsize
        if self.count > most:
            raise rule_error("count", f"from 1 to {most}", self.count)
        return self

    def fits(self, parameter: Variable) -> bool:
        """Whether the kernel's ``parameter`` takes an address."""
        return _takes_address(parameter)

    def make(self, rng: np.random.Generator) -> np.ndarray:
        """The contents.

        Parameters
        ----------
        rng : Generator
            Source of ``random``: integers over the whole range of the type, floats from 0 to 1.
        """
        dtype = ELEMENT_TYPES[self.type]
        if isinstance(self.buffer, Path):
            array = map_array(self.buffer)
            if array is None:
                raise ValueError(f"{self.buffer}: Array file has changed or is gone")
            return array.ravel().astype(dtype)
        if self.buffer == "zeros":
            return np.zeros(self.count, dtype)
        if self.buffer == "arange":
            return np.arange(self.count).astype(dtype)
        if dtype.kind == "f":
            return rng.random(self.count, np.float64).astype(dtype)
        limits = np.iinfo(dtype)
        return rng.integers(limits.min, limits.max, self.count, dtype, endpoint=True)

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.count * ELEMENT_TYPES[self.type].itemsize

    def difference(self, found: np.ndarray) -> str:
        """How contents differ from those expected; empty if they do not, or none are."""
        if self.expected is None:
            return ""
        if isinstance(self.expected, Path):
            wanted = np.load(self.expected, allow_pickle=False).ravel()
        else:
            wanted = np.array(self.expected, ELEMENT_TYPES[self.type])
        return first_difference(found, wanted, self.tolerance)


class NamedBuffer(BufferArgument):
    """A buffer that pointers of all launches can point into.

    Parameters
    ----------
    name : str
        Its name.
    """

    name: Annotated[str, Field(min_length=1)]


class PointerArgument(Table):
    """The address of a place in a buffer that has a name.

    Parameters
    ----------
    pointer : str
        Name of the buffer.
    offset : int
        Bytes from its beginning.
    """

    pointer: str
    offset: Annotated[int, Field(ge=0)] = 0

    def fits(self, parameter: Variable) -> bool:
        """Whether the kernel's ``parameter`` takes an address."""
        return _takes_address(parameter)


def _member(table: Any, info: ValidationInfo) -> ScalarArgument | PointerArgument:
    """A member of a structure."""
    if isinstance(table, dict) and "pointer" in table:
        return PointerArgument.model_validate(table, context=info.context)
    return ScalarArgument.model_validate(table, context=info.context)


class StructArgument(Table):
    """A structure: its members one after the other, each aligned as in C++.

    Parameters
    ----------
    members : list of ScalarArgument or PointerArgument
        The members.
    """

    members: list[Annotated[ScalarArgument | PointerArgument, PlainValidator(_member)]]

    @property
    def layout(self) -> tuple[list[int], int]:
        """Offset of each member, and bytes of all."""
        sizes = [
            ELEMENT_TYPES[each.type].itemsize if isinstance(each, ScalarArgument) else 8
            for each in self.members
        ]
        offsets, end = [], 0
        for size in sizes:
            offsets.append(-(-end // size) * size)
            end = offsets[-1] + size
        alignment = max(sizes, default=1)
        return offsets, -(-end // alignment) * alignment

    def fits(self, parameter: Variable) -> bool:
        """Whether the kernel's ``parameter`` is a structure of this size."""
        return parameter.size == self.layout[1] and parameter.size != TYPE_BYTES[parameter.type]

    def pack(self, address: Callable[[PointerArgument], int]) -> bytes:
        """The bytes of the structure, given a function that finds the address of a pointer."""
        offsets, size = self.layout
        raw = bytearray(size)
        for offset, each in zip(offsets, self.members, strict=True):
            if isinstance(each, ScalarArgument):
                value = np.array(each.value, ELEMENT_TYPES[each.type]).tobytes()
            else:
                value = address(each).to_bytes(8, "little")
            raw[offset : offset + len(value)] = value
        return bytes(raw)


def _takes_address(parameter: Variable) -> bool:
    return parameter.size == TYPE_BYTES[parameter.type] and parameter.type in ("u64", "b64")


def _numbers(value: Any, dtype: np.dtype[Any]) -> np.ndarray | None:
    """An array of numbers if all are in the range of a type; else none."""
    if not isinstance(value, list) or not all(type(each) in (int, float) for each in value):
        return None
    try:
        found = np.array(value, dtype)
    except OverflowError:
        return None
    is_same = dtype.kind == "f" or found.tolist() == value
    return found if is_same else None


def first_difference(found: np.ndarray, wanted: np.ndarray, tolerance: float = 0.0) -> str:
    """How contents differ from those wanted, floats by more than a tolerance; empty if they do
    not."""
    with np.errstate(invalid="ignore"):
        near = np.abs(found - wanted) <= tolerance if found.dtype.kind == "f" else False
    places = np.flatnonzero(~((found == wanted) | near))
    if not len(places):
        return ""
    first = int(places[0])
    return f"{wanted[first]} at element {first}, not {found[first]} ({len(places)} differ)"


def map_array(path: Path) -> np.ndarray | None:
    """The array of a .npy file, mapped; none if it is not one."""
    if not path.is_file():
        return None
    try:
        with warnings.catch_warnings(action="ignore"):
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # NumPy lets through whatever its parser of the header raises
        return None
    return array if isinstance(array, np.ndarray) else None


def _argument(table: Any, info: ValidationInfo) -> Any:
    """The kind of argument that the keys of a table name."""
    if not isinstance(table, dict):
        raise ValueError("a table")
    for key, kind in _KINDS.items():
        if key in table:
            return kind.model_validate(table, context=info.context)
    raise ValueError(f"a table with {' or '.join(_KINDS)}")


_KINDS: dict[str, type[Table]] = {
    "buffer": BufferArgument, "value": ScalarArgument, "pointer": PointerArgument,
    "members": StructArgument,
}  # fmt: skip
Argument = Annotated[
    ScalarArgument | BufferArgument | PointerArgument | StructArgument, PlainValidator(_argument)
]
