"""Record schema of a trace of a CPU and its accelerators.

Ref: ``docs/trace-format.md``, sections on the operations of a CPU and on both forms.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.trace.container.schema import EventSchema, Number
from racetrap.golden_model.trace.noncoherent.operations import (
    ENGINE_KINDS,
    RANGE_KINDS,
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
)

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

_PC = (Number("pc", is_hexadecimal=True, is_optional=True),)
_ENGINE = (Number("engine"),)
_RANGE = (
    Number("address", is_hexadecimal=True),
    Number("size"),
    Number("rows", is_optional=True),
    Number("stride", is_optional=True),
)

OPERATION_SCHEMA = EventSchema(
    NoncoherentTraceHeader,
    Operation,
    OperationKind,
    (OPERATION_DTYPE,),
    {
        kind: (
            *(_ENGINE if kind in ENGINE_KINDS else ()),
            *_PC,
            *(_RANGE if kind in RANGE_KINDS else ()),
        )
        for kind in OperationKind
    },
)
