"""Columns to packed words and back, against the layout's own packing of one record."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racetrap.golden_model.layout import Layout
from racetrap.golden_model.scord.packets import Packet, Preliminary, RaceKind, Step, TableRow
from racetrap.golden_model.scord.params import ScordParams
from racetrap.sim.cosim.fast.packing import (
    nested,
    pack_records,
    pack_tuples,
    unpack_column,
    unpack_records,
    words_of,
)

_WIDTHS = st.lists(st.integers(0, 64), min_size=1, max_size=12)


@given(_WIDTHS, st.data())
def test_round_trip_and_order_of_words(widths, data):
    layout = Layout({f"f{number}": width for number, width in enumerate(widths)})
    row = [data.draw(st.integers(0, (1 << width) - 1)) for width in widths]
    words = pack_records(layout, [[value, 0] for value in row])
    packed = int.from_bytes(words[0].tobytes(), "little")
    assert packed == layout.pack(dict(zip(layout.fields, row, strict=True)))
    assert unpack_records(layout, words) == [[value, 0] for value in row]


def test_nested_layouts_are_flat_columns():
    layout = ScordParams().step_layout
    values = [number % 2 if width else 0 for number, (*_, width) in enumerate(layout.flat())]
    words = pack_records(layout, [[value] for value in values])
    assert words.shape == (1, words_of(layout))
    assert [column[0] for column in unpack_records(layout, words)] == values


def test_column_by_name():
    layout = Layout({"a": 3, "b": Layout({"c": 40, "d": 9})})
    words = pack_records(layout, [[1, 2], [1 << 39, 5], [7, 256]])
    assert unpack_column(layout, words, "b.d").tolist() == [7, 256]


def test_fields_wider_than_a_machine_word_are_unpacked():
    layout = Layout({"a": 5, "wide": 130, "b": 9})
    values = {"a": 17, "wide": (0xABC << 118) | 0x1234_5678_9ABC_DEF1, "b": 300}
    packed = layout.pack(values).to_bytes(4 * words_of(layout), "little")
    words = np.frombuffer(packed, dtype=np.uint32).reshape(1, -1)
    assert unpack_records(layout, words) == [[17], [values["wide"]], [300]]


def test_no_records():
    layout = Layout({"a": 3, "b": 40})
    assert pack_records(layout, [(), ()]).shape == (0, 2)
    assert unpack_records(layout, np.zeros((0, 2), dtype=np.uint32)) == [[], []]


def test_value_too_large():
    with pytest.raises(ValueError, match="Field 'a' must fit in 3 bits, not 8"):
        pack_records(Layout({"a": 3}), [[1, 8]])


def test_named_tuples_with_one_inside():
    layout = ScordParams().step_layout
    packet = Packet(2, 1, 1, 100, 31, 255, 1 << 15, 1 << 31, (1 << 38) - 1)
    steps = [
        Step(
            packet,
            TableRow.STORE_LOCKED,
            Preliminary.BARRIER,
            RaceKind.NOT_STRONG,
            1,
            0,
            63,
            1,
            2,
            3,
            before,
            9,
        )
        for before in (0, (1 << 64) - 1)
    ]
    fields = [dict(zip(layout.fields, step, strict=True)) for step in steps]
    expected = [layout.pack(f | {"packet": packet._asdict()}) for f in fields]
    words = pack_tuples(layout, steps)
    assert [int.from_bytes(row.tobytes(), "little") for row in words] == expected
    assert list(map(nested(Step, Packet), *unpack_records(layout, words))) == steps
    assert pack_tuples(layout, []).shape == (0, words_of(layout))
