"""Shapes inside a core unit: a granule on its way, a set or signature, a finished block.

Ref: SigRace (ISCA'09) Section 4.1, Fig. 5(b).
"""

from __future__ import annotations

from amaranth.lib import data

from racetrap.golden_model.sigrace.params import ADDRESS_BITS, Form, SigraceParams
from racetrap.golden_model.trace.threads.events import GRANULE_LOG2
from racetrap.rtl.common.layout import struct_layout

#: Bits of the number of a granule: an address without the bits inside the granule.
GRANULE_BITS = ADDRESS_BITS - GRANULE_LOG2


def item_layout(params: SigraceParams) -> data.StructLayout:
    """One granule of an access, or the whole of any other event.

    ``granule`` counts only if ``has_granule``; an access of no bytes may have none.
    """
    return data.StructLayout({
        "event": struct_layout(params.event_layout),
        "granule": GRANULE_BITS,
        "has_granule": 1,
        "is_first": 1,
        "is_last": 1,
    })  # fmt: skip


def index_layout(params: SigraceParams) -> data.StructLayout:
    """Which bit of each sub-filter a granule sets; the fields are numbered as sub-filters are."""
    return data.StructLayout({
        str(number): (sub_filter.bits - 1).bit_length()
        for number, sub_filter in enumerate(params.sub_filters)
    })  # fmt: skip


def set_layout(params: SigraceParams) -> data.StructLayout:
    """Read or write set of a block, in the form in which it is sent.

    Form ``sets``: a bit for each LSB value, and ``count`` USB values in order of arrival; the rest
    are undefined.  Form ``hashed``: the signature.
    """
    if params.form is Form.HASHED:
        return data.StructLayout({"signature": params.signature_bits, "is_empty": 1})
    return data.StructLayout({
        "bitmap": params.lsb_values,
        "usb": data.ArrayLayout(params.usb_bits, params.usb_limit),
        "count": params.usb_count_bits,
        "is_empty": 1,
    })  # fmt: skip


def block_layout(params: SigraceParams) -> data.StructLayout:
    """A finished block, as the compressor takes it."""
    return data.StructLayout({
        "header": struct_layout(params.header_layout),
        "timestamp": params.timestamp_width,
        "read": set_layout(params),
        "write": set_layout(params),
    })  # fmt: skip
