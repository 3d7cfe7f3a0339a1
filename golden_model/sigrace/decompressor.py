"""Decompressor: from the flits of a Summary message to timestamp and signatures.

Any flits give a summary; one that no compressor produces is marked as malformed.

Ref: SigRace (ISCA'09) Section 3.2, Fig. 5.
"""

from __future__ import annotations

from collections.abc import Sequence

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.bit_stream import BitReader, StreamError
from racetrap.golden_model.sigrace.packets import Summary
from racetrap.golden_model.sigrace.params import Form, SigraceParams


def decode(params: SigraceParams, flits: Sequence[int]) -> Summary:
    """Summary of a message.

    If it is malformed (another form, wrong length, a run beyond the bitmap, too many or no USB
    values, positions that do not ascend), only the header's fields are kept.
    """
    reader = BitReader(flits)
    header = params.header_layout.unpack(flits[0] if flits else 0)
    is_hashed = header.pop("is_hashed")
    try:
        reader.get(params.header_layout.width)
        if is_hashed != (params.form is Form.HASHED):
            raise StreamError(f"Message is not of form {params.form.value}")
        timestamp = tuple(reader.get(params.timestamp_bits) for _ in range(params.threads))
        get = _get_signature if is_hashed else _get_set
        read, write = get(reader, params), get(reader, params)
        reader.finish()
    except StreamError:
        nothing = (0,) * params.threads
        return Summary(**header, timestamp=nothing, read=0, write=0, is_malformed=1)
    return Summary(**header, timestamp=timestamp, read=read, write=write)


def _get_set(reader: BitReader, params: SigraceParams) -> int:
    if reader.get(1):
        return 0
    bitmap, position = 0, 0
    value = reader.get(1)
    while position < params.lsb_values:
        run = reader.get_gamma(params.lsb_values.bit_length() - 1)
        if value:
            bitmap |= ((1 << run) - 1) << position
        position += run
        value ^= 1
    if position > params.lsb_values:
        raise StreamError(f"Runs must sum to {params.lsb_values}, not {position}")
    count = reader.get(params.usb_count_bits)
    if not 0 < count <= params.usb_limit:
        raise StreamError(f"USB values must number 1 to {params.usb_limit}, not {count}")
    usb = [reader.get(params.usb_bits) for _ in range(count)]
    return AddressSet(bitmap, usb).signature(params)


def _get_signature(reader: BitReader, params: SigraceParams) -> int:
    if reader.get(1):
        return 0
    signature = 0
    for each in params.sub_filters:
        if reader.get(1):
            bits = reader.get(each.bits)
        else:
            bits = _get_positions(reader, each.bits.bit_length() - 1)
        signature |= bits << each.offset
    return signature


def _get_positions(reader: BitReader, index_bits: int) -> int:
    bits, last = 0, -1
    for _ in range(reader.get(index_bits)):
        position = reader.get(index_bits)
        if position <= last:
            raise StreamError(f"Position {position} does not follow {last} in ascending order")
        bits |= 1 << position
        last = position
    return bits
