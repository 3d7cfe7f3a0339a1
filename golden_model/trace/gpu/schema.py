"""Record schema of a GPU trace.

Ref: ``docs/trace-format.md``, sections on the events of a GPU and on both forms.
"""

from __future__ import annotations

import numpy as np

from racetrap.golden_model.events import (
    AtomicOp,
    Event,
    EventKind,
    EventScope,
    MemoryOrder,
    TraceHeader,
)
from racetrap.golden_model.trace.container.schema import EventSchema, Number, Word, words_of

#: One event.  The lane records of an access or a copy are the ones from ``first_lane`` on, one for
#: each bit of ``mask``; ``success_mask`` has a bit for each lane whose CAS succeeded.  Other kinds
#: have no lane records.
EVENT_DTYPE = np.dtype([
    ("kind", "u1"),
    ("scope", "u1"),
    ("strong", "u1"),
    ("op", "u1"),
    ("size", "u1"),
    ("slot", "u1"),
    ("warp", "u1"),
    ("warp_count", "u1"),
    ("sm", "<u4"),
    ("pc", "<u4"),
    ("grid_block", "<u4"),
    ("mask", "<u4"),
    ("success_mask", "<u4"),
    ("space", "<u2"),
    ("order", "<u2"),
    ("first_lane", "<u8"),
])  # fmt: skip

#: One active lane of an access.  The upper half of a 16-byte STORE is in ``compare``.
LANE_DTYPE = np.dtype([("address", "<u8"), ("value", "<u8"), ("compare", "<u8")])

_SLOT = (Number("sm"), Number("slot"))
_PC = Number("pc", is_hexadecimal=True)
_CALL = (
    Number("grid_block", "stream", is_optional=True),
    Number("pc", is_hexadecimal=True, is_optional=True),
)
_MASK = Number("mask", is_hexadecimal=True, is_optional=True)
_NUMBER = Number("grid_block", "number")
_ACTS = (*_SLOT, Number("warp"), _PC)
_WARP = (*_ACTS, Number("grid_block", "instructions", is_optional=True))
_LANES = (*_WARP, _MASK)
_SCOPES = words_of(EventScope)
_SPACE = Word("space", "space", {"shared": 1})
_ORDERS = {code.name.lower(): code for code in MemoryOrder if code}
_ORDER = Word("order", "order", _ORDERS)
_PLAIN = (
    *_WARP,
    Number("size"),
    Word("strong", "strong", {"strong": True}),
    Word("scope", "scope", _SCOPES, condition="strong"),
    Word("order", "order", _ORDERS, condition="strong"),
    _SPACE,
)

GPU_SCHEMA = EventSchema(
    TraceHeader,
    Event,
    EventKind,
    (EVENT_DTYPE, LANE_DTYPE),
    {
        EventKind.LOAD: _PLAIN,
        EventKind.STORE: _PLAIN,
        EventKind.ATOMIC: (
            *_WARP,
            Number("size"),
            Word("scope", "scope", _SCOPES),
            Word("op", "op", words_of(AtomicOp)),
            _ORDER,
            _SPACE,
        ),
        EventKind.FENCE: (*_LANES, Word("scope", "scope", _SCOPES), _ORDER),
        EventKind.BARRIER: (*_SLOT, _PC),
        EventKind.BLOCK_PLACED: (
            *_SLOT, Number("warp"), Number("warp_count"), Number("grid_block"), _MASK,
            Number("size", "rank", is_optional=True),
        ),
        EventKind.BLOCK_RETIRED: _SLOT,
        EventKind.KERNEL_BEGIN: _CALL,
        EventKind.KERNEL_END: (),
        EventKind.IF: _LANES,
        EventKind.ELSE: _LANES,
        EventKind.FI: _LANES,
        EventKind.EXIT: _LANES,
        EventKind.WARP_BARRIER: _LANES,
        EventKind.COPY_READ: _CALL,
        EventKind.COPY_WRITE: _CALL,
        EventKind.AFTER: (Number("grid_block", "operation"),),
        EventKind.BARRIER_ARRIVE: (*_ACTS, _NUMBER),
        EventKind.PARTIAL_BARRIER: (*_SLOT, _PC, _NUMBER, _MASK),
        EventKind.CLUSTER_ARRIVE: (*_LANES, _ORDER),
        EventKind.CLUSTER_WAIT: _LANES,
    },
    implied={
        EventKind.LOAD: ("mask",),
        EventKind.STORE: ("mask",),
        EventKind.ATOMIC: ("mask", "strong", "success_mask"),
        EventKind.COPY_READ: ("mask",),
        EventKind.COPY_WRITE: ("mask",),
    },
)  # fmt: skip
#: Kinds of event of which a trace may say how many instructions their warp has run; the number is
#: in ``grid_block``.
COUNTED_KINDS = frozenset(
    kind for kind, fields in GPU_SCHEMA.fields.items()
    if any(isinstance(field, Number) and field.name == "instructions" for field in fields)
)  # fmt: skip
