"""Compressor: from a block to the flits of its Summary message, without loss.

A message is the header, the timestamp, then read and write set.  With ``form = sets`` a set is the
bitmap of its LSB values in alternating runs, and the list of its USB values.  With ``form =
hashed`` each filter of the signature is a list of the positions of its ones, or its bits if these
are no longer.

Ref: SigRace (ISCA'09) Sections 3.2 and 5.5 ("about 100 bytes").
"""

from __future__ import annotations

from dataclasses import replace

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.bit_stream import BitWriter
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.params import FLIT_BITS, Form, SigraceParams


def encode(params: SigraceParams, block: FinishedBlock) -> tuple[int, ...]:
    """Flits of the message of ``block``, which is in the form of ``params``."""
    writer = BitWriter()
    header = params.header_layout.pack({
        "core": block.core,
        "context": block.context,
        "thread": block.thread,
        "sequence": block.sequence,
        "cause": block.cause,
        "is_hashed": int(params.form is Form.HASHED),
    })  # fmt: skip
    writer.put(header, params.header_layout.width)
    for counter in block.timestamp:
        writer.put(counter, params.timestamp_bits)
    for addresses in (block.read, block.write):
        if isinstance(addresses, AddressSet):
            _put_set(writer, params, addresses)
        else:
            _put_signature(writer, params, addresses)
    return writer.flits()


def message_bytes(params: SigraceParams, block: FinishedBlock) -> dict[Form, int]:
    """Bytes of the message of a block, in the form of ``params`` and with signatures.

    The second is for comparison only: what hashing before compression would cost.
    """
    flit_bytes = FLIT_BITS // 8
    hashed = replace(params, form=Form.HASHED)
    return {
        Form.HASHED: flit_bytes * len(encode(hashed, block.hashed(params))),
        params.form: flit_bytes * len(encode(params, block)),
    }


def _put_set(writer: BitWriter, params: SigraceParams, addresses: AddressSet) -> None:
    writer.put(int(not addresses.usb), 1)
    if not addresses.usb:
        return
    value = addresses.bitmap & 1
    writer.put(value, 1)
    rest, left = addresses.bitmap, params.lsb_values
    while left:
        # The run ends at the first bit of the other value, or with the bitmap.
        other = ~rest if value else rest
        run = min((other & -other).bit_length() - 1, left) if other else left
        writer.put_gamma(run)
        rest >>= run
        left -= run
        value ^= 1
    writer.put(len(addresses.usb), params.usb_count_bits)
    for usb in addresses.usb:
        writer.put(usb, params.usb_bits)


def _put_signature(writer: BitWriter, params: SigraceParams, signature: int) -> None:
    writer.put(int(not signature), 1)
    if not signature:
        return
    for each in params.sub_filters:
        bits = signature >> each.offset & (1 << each.bits) - 1
        count, index_bits = bits.bit_count(), each.bits.bit_length() - 1
        is_list = index_bits * (1 + count) < each.bits and count < each.bits
        writer.put(int(not is_list), 1)
        if not is_list:
            writer.put(bits, each.bits)
            continue
        writer.put(count, index_bits)
        while bits:
            lowest = bits & -bits
            writer.put(lowest.bit_length() - 1, index_bits)
            bits ^= lowest
