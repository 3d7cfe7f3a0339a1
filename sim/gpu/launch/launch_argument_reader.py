"""One ``[[arguments]]`` table of a launch file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from racetrap.sim.gpu.launch.launch_arguments import (
    CONTENTS,
    ELEMENT_TYPES,
    BufferArgument,
    ScalarArgument,
)
from racetrap.sim.gpu.launch.launch_table import Table, is_integer

__all__ = ["read_argument"]

#: Bytes of a buffer at most.
_BUFFER_BYTES = 1 << 32


def _is_type(value: Any) -> bool:
    return isinstance(value, str) and value in ELEMENT_TYPES


_TYPE_RULE = f"one of {', '.join(ELEMENT_TYPES)}"


def _is_number(value: Any, dtype: np.dtype) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return True
    return abs(value) <= float(np.finfo(dtype).max)


def _read_scalar(table: Table) -> ScalarArgument:
    kind = table.take("type", _is_type, _TYPE_RULE)
    dtype = ELEMENT_TYPES[kind]
    if dtype.kind == "f":
        value = table.take(
            "value",
            lambda v: _is_number(v, dtype),
            f"a number of type {kind}",
        )
        return ScalarArgument(kind, float(dtype.type(value)))
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    value = table.take(
        "value",
        lambda v: is_integer(v, low, high),
        f"a whole number from {low} to {high} for type {kind}",
    )
    return ScalarArgument(kind, value)


def _read_array(table: Table, name: str, folder: Path) -> BufferArgument:
    path = folder / name
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise table.error("buffer", "an array file that can be read", repr(name)) from None
    kinds = {dtype: kind for kind, dtype in ELEMENT_TYPES.items()}
    kind = kinds.get(array.dtype.newbyteorder("<"))
    if kind is None:
        raise table.error("buffer", f"an array of {', '.join(ELEMENT_TYPES)}", array.dtype)
    if not array.size:
        raise table.error("buffer", "an array with elements", repr(name))
    table.take("type", lambda v: v == kind, f"the {kind} of the array file", kind)
    table.take("count", lambda v: v == array.size, f"the {array.size} of the array file", 0)
    return BufferArgument(path, kind, array.size)


def _read_buffer(table: Table, folder: Path) -> BufferArgument:
    contents = table.take(
        "buffer",
        lambda v: isinstance(v, str) and (v in CONTENTS or v.endswith(".npy")),
        f"one of {', '.join(CONTENTS)}, or a file ending in .npy",
    )
    if contents not in CONTENTS:
        return _read_array(table, contents, folder)
    kind = table.take("type", _is_type, _TYPE_RULE)
    most = _BUFFER_BYTES // ELEMENT_TYPES[kind].itemsize
    return BufferArgument(contents, kind, table.integer("count", 1, most))


def read_argument(table: Table, folder: Path) -> ScalarArgument | BufferArgument:
    """Argument that a table describes.

    Parameters
    ----------
    table : Table
        Either ``buffer``, ``type`` and ``count``, or ``value`` and ``type``.
    folder : Path
        Where array files are looked for.

    Raises
    ------
    LaunchError
        If the table breaks a rule.
    """
    if "buffer" in table:
        table.check_keys(("buffer", "type", "count"))
        return _read_buffer(table, folder)
    if "value" not in table:
        raise table.error("buffer or value", "given", "missing")
    table.check_keys(("value", "type"))
    return _read_scalar(table)
