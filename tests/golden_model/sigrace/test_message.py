"""Summary messages: nothing is lost, and no flits can do harm."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from racetrap.golden_model.sigrace.address_set import AddressSet
from racetrap.golden_model.sigrace.bit_stream import BitWriter
from racetrap.golden_model.sigrace.block import FinishedBlock
from racetrap.golden_model.sigrace.compressor import encode, message_bytes
from racetrap.golden_model.sigrace.decompressor import decode
from racetrap.golden_model.sigrace.params import Form, SigraceParams
from racetrap.golden_model.sigrace.signature import signature_of_granules
from tests.support.sigrace.configurations import SIGNATURES, SMALL, signature_params

_HASHED = replace(SMALL, form=Form.HASHED)
_CONFIGURATIONS = {
    "sets": SigraceParams(),
    "small sets": SMALL,
    "hashed": SigraceParams(form=Form.HASHED),
    "small hashed": _HASHED,
    "one-hot sets": SigraceParams(one_hot_lsb=True),
    "one-hot hashed": SigraceParams(one_hot_lsb=True, form=Form.HASHED),
    "least bitmap": replace(SMALL, lsb_bits=4, usb_limit=1),
    "largest bitmap": replace(SMALL, lsb_bits=12, usb_limit=63),
    "one thread": replace(SMALL, threads=1),
} | {name: signature_params(name, Form.HASHED) for name in SIGNATURES}
_ZEROS = {name: (0,) * params.threads for name, params in _CONFIGURATIONS.items()}


@st.composite
def _blocks(draw, params):
    def addresses():
        usb_values = draw(
            st.lists(
                st.integers(0, (1 << params.usb_bits) - 1),
                max_size=min(params.usb_limit, 30),
                unique=True,
            )
        )
        lsb_values = draw(st.sets(st.integers(0, params.lsb_values - 1), min_size=1))
        if draw(st.integers(0, 9)) == 0:
            lsb_values = set(range(params.lsb_values))
        bitmap = sum(1 << value for value in lsb_values) if usb_values else 0
        collected = AddressSet(bitmap, usb_values)
        return collected if params.form is Form.SETS else collected.signature(params)

    counters = st.integers(0, params.max_counter)
    return FinishedBlock(
        core=draw(st.integers(0, 255)),
        context=draw(st.integers(0, 15)),
        thread=draw(st.integers(0, 255)),
        sequence=draw(st.integers(0, 255)),
        cause=draw(st.integers(0, 7)),
        timestamp=tuple(draw(counters) for _ in range(params.threads)),
        read=addresses(),
        write=addresses(),
    )


@pytest.mark.parametrize("name", _CONFIGURATIONS)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_round_trip(name, data):
    params = _CONFIGURATIONS[name]
    block = data.draw(_blocks(params))
    flits = encode(params, block)
    for flit in flits:
        assert 0 <= flit < 1 << 32
    assert decode(params, flits) == block.summary(params)


@pytest.mark.parametrize("name", _CONFIGURATIONS)
@given(flits=st.lists(st.integers(0, (1 << 32) - 1), max_size=40))
@settings(max_examples=30, deadline=None)
def test_random_flits_are_decoded_or_malformed(name, flits):
    params = _CONFIGURATIONS[name]
    summary = decode(params, flits)
    assert 0 <= summary.read < 1 << params.signature_bits
    if summary.is_malformed:
        assert summary.timestamp == _ZEROS[name]
        assert summary.read == summary.write == 0
    if flits:
        assert summary.core == flits[0] & 0xFF
        assert summary.thread == flits[0] >> 12 & 0xFF


@pytest.mark.parametrize("name", _CONFIGURATIONS)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_changed_messages_never_crash(name, data):
    """Bits that turn over reach states of the decoder that random flits do not."""
    params = _CONFIGURATIONS[name]
    flits = list(encode(params, data.draw(_blocks(params))))
    place = data.draw(st.integers(0, len(flits) - 1))
    flits[place] ^= 1 << data.draw(st.integers(0, 31))
    summary = decode(params, flits)
    assert len(summary.timestamp) == params.threads


def _block(params, read=None, write=None):
    empty = AddressSet() if params.form is Form.SETS else 0
    read, write = (empty if each is None else each for each in (read, write))
    return FinishedBlock(1, 0, 2, 5, 1, (0,) * params.threads, read, write)


@pytest.mark.parametrize("params", [SMALL, _HASHED])
def test_wrong_length_is_malformed(params):
    used = AddressSet(0b1011, [5, 9])
    used = used if params is SMALL else used.signature(params)
    flits = encode(params, _block(params, read=used))
    assert not decode(params, flits).is_malformed
    for length in range(len(flits)):
        assert decode(params, flits[:length]).is_malformed
    assert decode(params, (*flits, 0)).is_malformed
    assert decode(params, flits[:1]).core == 1  # the header is kept


def test_padding_is_not_looked_at():
    flits = encode(SMALL, _block(SMALL))
    assert decode(SMALL, (*flits[:-1], flits[-1] | 1 << 31)) == decode(SMALL, flits)


def test_the_other_form_is_malformed():
    assert decode(_HASHED, encode(SMALL, _block(SMALL))).is_malformed
    assert decode(SMALL, encode(_HASHED, _block(_HASHED))).is_malformed


def _set_message(write):
    """Message of SMALL with a read set that ``write`` puts into the stream; no write set."""
    writer = BitWriter()
    writer.put(encode(SMALL, _block(SMALL))[0], 32)
    writer.put(0, SMALL.timestamp_width)
    writer.put(0, 1)
    write(writer)
    writer.put(1, 1)
    return decode(SMALL, writer.flits())


@pytest.mark.parametrize(
    ("runs", "usb", "malformed"),
    [
        ([256], [7], 0),
        ([128, 128], [7], 0),
        ([100, 157], [7], 1),  # beyond the bitmap's end
        ([256], [], 1),
        ([256], [1, 2, 3, 4], 0),
        ([256], [1, 2, 3, 4, 5], 1),
        ([256], [7, 7], 0),  # harmless
    ],
)
def test_bounds_of_sets(runs, usb, malformed):
    def write(writer):
        writer.put(1, 1)
        for run in runs:
            writer.put_gamma(run)
        writer.put(len(usb), SMALL.usb_count_bits)
        for value in usb:
            writer.put(value, SMALL.usb_bits)

    assert _set_message(write).is_malformed == malformed


def test_a_run_of_too_many_bits_is_malformed():
    def write(writer):
        writer.put(1, 1)
        writer.put_gamma(512)

    assert _set_message(write).is_malformed


@pytest.mark.parametrize(
    ("positions", "malformed"), [([], 0), ([3], 0), ([0, 31], 0), ([4, 4], 1), ([9, 2], 1)]
)
def test_positions_must_ascend(positions, malformed):
    writer = BitWriter()
    writer.put(encode(_HASHED, _block(_HASHED))[0], 32)
    writer.put(0, _HASHED.timestamp_width)
    writer.put(0, 1)
    for _ in _HASHED.sub_filters:
        writer.put(0, 1)
        writer.put(len(positions), 5)
        for position in positions:
            writer.put(position, 5)
    writer.put(1, 1)
    summary = decode(_HASHED, writer.flits())
    assert summary.is_malformed == malformed
    if not malformed:
        assert summary.read & 0xFFFFFFFF == sum(1 << position for position in positions)


def test_filters_are_lists_only_while_these_are_shorter():
    """A list of c positions of 5 bits takes 5 + 5 c bits instead of 32."""
    sizes = []
    for count in range(1, 9):
        signature = sum((1 << count) - 1 << each.offset for each in _HASHED.sub_filters)
        writer_bits = sum(5 + 5 * count if count <= 5 else 32 for _ in range(4)) + 4
        flits = encode(_HASHED, _block(_HASHED, read=signature))
        assert len(flits) == -(-(32 + 18 + 1 + writer_bits + 1) // 32)
        sizes.append(len(flits))
    assert sizes[-1] == sizes[-2] > sizes[0]


def test_sizes_of_both_forms():
    params = SigraceParams()
    granules = [0x1000 + 4 * word for word in range(100)]
    block = _block(params, read=AddressSet())
    for granule in granules:
        block.read.insert(params, granule)
    sizes = message_bytes(params, block)
    assert sizes[Form.SETS] == 4 * len(encode(params, block))
    assert sizes[Form.SETS] < 40 < 150 < sizes[Form.HASHED]
    hashed = replace(params, form=Form.HASHED)
    signature = signature_of_granules(params, granules)
    assert message_bytes(hashed, _block(hashed, read=signature)) == {
        Form.HASHED: sizes[Form.HASHED]
    }
