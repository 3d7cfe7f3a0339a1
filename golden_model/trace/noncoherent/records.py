"""Records of a binary trace of a CPU and its accelerators."""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.trace.noncoherent.operations import (
    ENGINE_KINDS,
    RANGE_KINDS,
    OperationKind,
)

__all__ = ["OPERATION_DTYPE", "USED_FIELDS"]

#: One operation; see ``Operation``.
OPERATION_DTYPE = np.dtype([
    ("address", "<u8"),
    ("size", "<u4"),
    ("stride", "<u4"),
    ("pc", "<u4"),
    ("rows", "<u2"),
    ("kind", "u1"),
    ("engine", "u1"),
])  # fmt: skip

_RANGE = ("address", "size", "rows", "stride")

#: Fields that each kind uses besides pc; all others are 0.
USED_FIELDS: dict[OperationKind, tuple[str, ...]] = {
    kind: (
        *(_RANGE if kind in RANGE_KINDS else ()),
        *(("engine",) if kind in ENGINE_KINDS else ()),
    )
    for kind in OperationKind
}
