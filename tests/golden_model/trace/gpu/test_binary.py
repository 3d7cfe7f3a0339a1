"""Binary traces: every rule broken once, and files cut short at every byte."""

import json
import struct
from dataclasses import replace

import pytest

from racetrap.golden_model.trace import Rule, Trace, TraceError, is_binary, read_trace
from racetrap.golden_model.trace.container.container import MAX_HEADER_BYTES, PREFIX
from racetrap.golden_model.trace.container.header import header_to_dict
from racetrap.golden_model.trace.gpu.schema import EVENT_DTYPE, LANE_DTYPE


def _refuse(path, rule, place=""):
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert caught.value.rule == rule, caught.value
    assert str(path) in str(caught.value)
    assert place in caught.value.place
    assert f"(rule {int(rule)})" in str(caught.value)


@pytest.fixture
def written(trace, tmp_path):
    path = tmp_path / "whole.trace"
    trace.write_binary(path)
    return path


def test_round_trip_and_mapping(trace, events, written):
    again = read_trace(written)
    assert is_binary(written)
    assert again == trace
    assert list(again) == events
    assert not again.events.flags.owndata
    assert not again.events.flags.writeable


def test_record_sizes_are_those_of_the_document():
    assert (PREFIX.size, EVENT_DTYPE.itemsize, LANE_DTYPE.itemsize) == (32, 40, 24)
    for name, (_, offset, *_) in EVENT_DTYPE.fields.items():
        assert offset % EVENT_DTYPE[name].itemsize == 0, name


def test_file_cut_at_every_byte(written, tmp_path):
    whole = written.read_bytes()
    path = tmp_path / "short.trace"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        # Nothing at all is an empty text file, and that is not a trace either.
        _refuse(path, Rule.FILE_LENGTH if length else Rule.MAGIC)


def test_trailing_bytes(written):
    with written.open("ab") as file:
        file.write(b"\0")
    _refuse(written, Rule.FILE_LENGTH)


@pytest.mark.parametrize(
    ("at", "new", "rule"),
    [
        (1, b"X", Rule.MAGIC),
        (6, b"\n", Rule.MAGIC),
        (0, b"\xff", Rule.MAGIC),
        (8, b"\x01", Rule.VERSION),
        (12, b"\x01", Rule.HEADER_LENGTH),
        (12, b"\0\0\0\0", Rule.HEADER_LENGTH),
        (12, b"\x08\0\0\x01", Rule.HEADER_LENGTH),
        (16, b"\xff", Rule.FILE_LENGTH),
        (23, b"\xff", Rule.FILE_LENGTH),
        (24, b"\0", Rule.FILE_LENGTH),
        (32, b"]", Rule.HEADER),
        (32, b"\xff", Rule.HEADER),
    ],
)
def test_prefix(written, at, new, rule):
    raw = bytearray(written.read_bytes())
    raw[at : at + len(new)] = new
    written.write_bytes(raw)
    _refuse(written, rule)


def _with_header(trace, path, header: bytes):
    trace.write_binary(path)
    raw = path.read_bytes()
    magic, version, length, events, lanes = PREFIX.unpack(raw[: PREFIX.size])
    header += b" " * (-len(header) % 8)
    start = PREFIX.pack(magic, version, len(header), events, lanes)
    path.write_bytes(start + header + raw[PREFIX.size + length :])


@pytest.mark.parametrize(
    "change",
    [
        {"system": "other"},
        {"surprise": 1},
        {"geometry": 3},
        {"geometry": {"sm_count": 2, "blocks_per_sm": 2}},
        {"geometry": {"sm_count": 0, "blocks_per_sm": 2, "warps_per_sm": 4}},
        {"geometry": {"sm_count": 2, "blocks_per_sm": 65, "warps_per_sm": 4}},
        {"geometry": {"sm_count": 2, "blocks_per_sm": 2, "warps_per_sm": True}},
        {"region": {"data_base": 1, "size_log2": 16}},
        {"region": {"data_base": 1 << 64, "size_log2": 16}},
        {"region": {"data_base": 0, "size_log2": 64}},
        {"region": {"data_base": 0.0, "size_log2": 16}},
        {"source": 7},
        {"source": "two\nlines"},
        {"seed": -1},
        {"seed": "1"},
        {"locations": []},
        {"locations": {"0x40": "a.cu:1"}},
        {"locations": {"064": "a.cu:1"}},
        {"locations": {"-64": "a.cu:1"}},
        {"locations": {"": "a.cu:1"}},
        {"locations": {"٣": "a.cu:1"}},
        {"locations": {"4294967296": "a.cu:1"}},
        {"locations": {"9" * 5000: "a.cu:1"}},
        {"locations": {"64": 1}},
        {"locations": {"64": "a\nb"}},
    ],
)
def test_header(trace, tmp_path, change):
    path = tmp_path / "header.trace"
    _with_header(trace, path, json.dumps(header_to_dict(trace.header) | change).encode())
    _refuse(path, Rule.HEADER, "header")


@pytest.mark.parametrize(
    "raw", [b"[]", b"{}", b"[" * 60000, b'{"seed": 1, "seed": 1}', b"9" * 5000, b"nothing"]
)
def test_header_is_not_what_json_should_be(trace, tmp_path, raw):
    path = tmp_path / "header.trace"
    _with_header(trace, path, raw)
    _refuse(path, Rule.HEADER, "header")


# Rows of the trace in conftest.py.
_PLACED, _LOAD, _STORE, _CAS, _FENCE, _EXCH, _BARRIER = 1, 3, 4, 5, 6, 7, 8
_IF, _WIDE, _EXIT, _ELSE, _FI, _MEET, _ARRIVE, _PARTIAL = range(9, 17)
_COME, _PASS, _RETIRED, _END, _READ, _AFTER, _WRITE = 17, 18, 19, 21, 22, 23, 24


@pytest.mark.parametrize(
    ("row", "changes", "rule"),
    [
        (_LOAD, {"kind": 21}, Rule.KIND),
        (_AFTER, {"pc": 1}, Rule.UNUSED_FIELD),
        (_READ, {"size": 1}, Rule.UNUSED_FIELD),
        (_READ, {"mask": 0}, Rule.LANES),
        (_AFTER, {"grid_block": 2}, Rule.AFTER),
        (_CAS, {"scope": 3}, Rule.CODE),
        (_COME, {"order": 5}, Rule.CODE),
        (_COME, {"scope": 2}, Rule.UNUSED_FIELD),
        (_PASS, {"order": 2}, Rule.UNUSED_FIELD),
        (_PLACED, {"size": 1}, Rule.RANK),
        (_PLACED + 1, {"size": 2}, Rule.RANK),
        (_CAS, {"op": 3}, Rule.CODE),
        (_LOAD, {"strong": 2}, Rule.CODE),
        (_LOAD, {"space": 2}, Rule.CODE),
        (_FENCE, {"space": 1}, Rule.UNUSED_FIELD),
        (_END, {"sm": 1}, Rule.UNUSED_FIELD),
        (_END, {"pc": 1}, Rule.UNUSED_FIELD),
        (_RETIRED, {"warp": 1}, Rule.UNUSED_FIELD),
        (_LOAD, {"scope": 1}, Rule.UNUSED_FIELD),
        (_LOAD, {"op": 1}, Rule.UNUSED_FIELD),
        (_LOAD, {"success_mask": 1}, Rule.UNUSED_FIELD),
        (_RETIRED, {"mask": 1}, Rule.UNUSED_FIELD),
        (_IF, {"scope": 1}, Rule.UNUSED_FIELD),
        (_EXIT, {"size": 4}, Rule.UNUSED_FIELD),
        (_MEET, {"strong": 1}, Rule.UNUSED_FIELD),
        (_FENCE, {"strong": 1}, Rule.UNUSED_FIELD),
        (_FENCE, {"size": 4}, Rule.UNUSED_FIELD),
        (_BARRIER, {"mask": 1}, Rule.UNUSED_FIELD),
        (_STORE, {"warp_count": 1}, Rule.UNUSED_FIELD),
        (_BARRIER, {"grid_block": 1}, Rule.UNUSED_FIELD),
        (_LOAD, {"sm": 2}, Rule.GEOMETRY),
        (_LOAD, {"slot": 2}, Rule.GEOMETRY),
        (_LOAD, {"warp": 4}, Rule.GEOMETRY),
        (_PLACED, {"warp_count": 0}, Rule.GEOMETRY),
        (_PLACED, {"warp_count": 5}, Rule.GEOMETRY),
        (_PLACED, {"warp": 3}, Rule.GEOMETRY),
        (_CAS, {"strong": 0}, Rule.ATOMIC_STRONG),
        (_LOAD, {"size": 0}, Rule.SIZE),
        (_LOAD, {"size": 32}, Rule.SIZE),
        (_CAS, {"size": 1}, Rule.SIZE),
        (_CAS, {"size": 16}, Rule.SIZE),
        (_LOAD, {"mask": 0}, Rule.LANES),
        (_IF, {"mask": 0}, Rule.LANES),
        (_ELSE, {"mask": 0}, Rule.LANES),
        (_STORE, {"mask": 0x1F}, Rule.LANE_RECORDS),
        (_STORE, {"mask": 0x7}, Rule.LANE_RECORDS),
        (_EXCH, {"mask": 3}, Rule.LANE_RECORDS),
        (_STORE, {"first_lane": 2}, Rule.LANE_RECORDS),
        (_STORE, {"first_lane": 1 << 63}, Rule.LANE_RECORDS),
        (_CAS, {"success_mask": 2}, Rule.LANE_VALUES),
        (_EXCH, {"success_mask": 1}, Rule.LANE_VALUES),
    ],
)
def test_event_rules(spoil, row, changes, rule):
    path = spoil({("events", row, name): value for name, value in changes.items()})
    # Lane records are counted from the start, so the event after the wrong one is named.
    _refuse(path, rule, "" if rule == Rule.LANE_RECORDS else f"event record {row}")


@pytest.mark.parametrize(
    ("event", "lane", "changes", "rule"),
    [
        (_STORE, 2, {"address": 0x204}, Rule.ALIGNMENT),
        (_CAS, 5, {"address": 0x102}, Rule.ALIGNMENT),
        (_LOAD, 0, {"value": 1}, Rule.LANE_VALUES),
        (_STORE, 1, {"compare": 1}, Rule.LANE_VALUES),
        (_EXCH, 7, {"compare": 1}, Rule.LANE_VALUES),
        (_CAS, 6, {"compare": 1 << 32}, Rule.VALUE_WIDTH),
        (_EXCH, 7, {"value": 1 << 32}, Rule.VALUE_WIDTH),
        (_LOAD, 0, {"compare": 1}, Rule.LANE_VALUES),
        (_READ, -3, {"value": 0}, Rule.ALIGNMENT),
        (_READ, -2, {"value": (1 << 63) + 1}, Rule.ALIGNMENT),
        (_WRITE, -1, {"compare": 1}, Rule.LANE_VALUES),
    ],
)
def test_lane_rules(spoil, event, lane, changes, rule):
    path = spoil({("lanes", lane, name): value for name, value in changes.items()})
    _refuse(path, rule, f"event record {event}")


_ALL = list(range(_END + 1))


@pytest.mark.parametrize(
    ("rows", "rule", "record"),
    [
        (_ALL[1:], Rule.KERNEL, _END - 1),
        (_ALL[:-1], Rule.KERNEL, 0),
        ([0, *_ALL], Rule.KERNEL, 1),
        ([*_ALL, _END], Rule.KERNEL, _END + 1),
        ([*_ALL, _RETIRED], Rule.KERNEL, _END + 1),
        ([*_ALL, _MEET], Rule.KERNEL, _END + 1),
        ([0, _END, 1, *_ALL[0:]], Rule.KERNEL, 2),
        ([0, 1, 1, *_ALL[2:]], Rule.SLOT_FREE, 2),
        ([*_ALL[: _RETIRED + 1], *_ALL[_RETIRED:]], Rule.SLOT_TAKEN, _RETIRED + 1),
        ([0, _RETIRED, *_ALL[1:]], Rule.SLOT_TAKEN, 1),
        ([*_ALL[: _RETIRED + 1], _END], Rule.ALL_RETIRED, _RETIRED + 1),
        ([*_ALL[:_RETIRED], _RETIRED + 1, _END], Rule.ALL_RETIRED, _RETIRED + 1),
        ([*_ALL[: _RETIRED + 1], _END, 0, _RETIRED + 1, _END], Rule.ALL_RETIRED, _RETIRED + 1),
        ([0, _LOAD, *_ALL[1:]], Rule.PLACED, 1),
        ([*_ALL[:_END], _LOAD, _END], Rule.PLACED, _END),
        ([*_ALL[: _RETIRED + 1], _LOAD, *_ALL[_RETIRED + 1 :]], Rule.PLACED, _RETIRED + 1),
        ([*_ALL[:_END], _BARRIER, _END], Rule.PLACED, _END),
        ([0, _FENCE, _END], Rule.PLACED, 1),
        *[
            ([0, row, *_ALL[1:]], Rule.PLACED, 1)
            for row in (_IF, _EXIT, _ELSE, _FI, _MEET, _ARRIVE, _PARTIAL)
        ],
        ([*_ALL[:_IF], *_ALL[_IF + 1 :]], Rule.DIVERGENCE, _ELSE - 1),
        ([*_ALL[:_ELSE], *_ALL[_ELSE + 1 :]], Rule.DIVERGENCE, _FI - 1),
        ([*_ALL[: _ELSE + 1], *_ALL[_ELSE:]], Rule.DIVERGENCE, _ELSE + 1),
        ([*_ALL[: _FI + 1], *_ALL[_FI:]], Rule.DIVERGENCE, _FI + 1),
        ([*_ALL[: _IF + 1], *_ALL[_IF:]], None, 0),
        ([*_ALL[:_FI], *_ALL[_FI + 1 :]], None, 0),
        *[([0, row, *_ALL[1:]], Rule.KERNEL, 1) for row in (_READ, _AFTER)],
        ([*_ALL, _READ, _AFTER], Rule.AFTER, _END + 2),
        ([_AFTER, *_ALL], Rule.AFTER, 0),
        ([*_ALL, _AFTER, _READ], None, 0),
    ],
)
def test_order_rules(cut, rows, rule, record):
    if rule is None:
        assert len(read_trace(cut(rows))) == len(rows)
    else:
        _refuse(cut(rows), rule, f"event record {record}")


def test_warps_of_another_block(spoil):
    _refuse(spoil({("events", _PLACED + 1, "warp"): 1}), Rule.WARPS_FREE, "event record 2")


@pytest.mark.parametrize("warp", [0, 1])
def test_warp_of_another_slot(spoil, warp):
    _refuse(spoil({("events", _STORE, "warp"): warp}), Rule.PLACED, f"event record {_STORE}")


def test_place_of_another_sm(spoil):
    _refuse(spoil({("events", _FENCE, "sm"): 0}), Rule.PLACED, f"event record {_FENCE}")


def test_warps_at_a_barrier_of_another_block(spoil):
    changes = {("events", _PARTIAL, "mask"): 0b100}
    _refuse(spoil(changes), Rule.PLACED, f"event record {_PARTIAL}")


def test_lane_records_without_events(trace, tmp_path):
    path = tmp_path / "lanes.trace"
    trace.write_binary(path)
    raw = path.read_bytes()
    magic, version, length, _, _ = PREFIX.unpack(raw[: PREFIX.size])
    start = struct.pack("<8sIIQQ", magic, version, length, 0, 1)
    path.write_bytes(start + raw[PREFIX.size : PREFIX.size + length] + bytes(24))
    _refuse(path, Rule.LANE_RECORDS)


def test_no_events_is_a_trace(header, tmp_path):
    Trace.from_events(header, []).write_binary(tmp_path / "empty.trace")
    assert list(read_trace(tmp_path / "empty.trace")) == []


def test_reused_slots_and_warps(header, events, tmp_path):
    """A second block may take a slot, or only its warps, after the first has retired."""
    first = events[: _RETIRED + 1]
    placed = [events[1]._replace(slot=0, warp=1, warp_count=1), events[3]]
    rest = events[_RETIRED:]
    trace = Trace.from_events(header, [*first, *placed, *rest])
    trace.write_binary(tmp_path / "again.trace")
    assert read_trace(tmp_path / "again.trace") == trace


def test_header_with_many_locations(header, tmp_path):
    many = replace(header, locations={8 * n: f"kernel.cu:{n}" for n in range(5000)})
    Trace.from_events(many, []).write_binary(tmp_path / "many.trace")
    assert read_trace(tmp_path / "many.trace").header == many


def test_header_that_is_too_long_is_not_written(header, tmp_path):
    long = Trace.from_events(replace(header, source="x" * MAX_HEADER_BYTES), [])
    with pytest.raises(ValueError, match="Header of a binary trace must be at most 16777216 bytes"):
        long.write_binary(tmp_path / "never.trace")
    assert list(tmp_path.iterdir()) == []


def test_writing_over_the_mapped_file(written, trace):
    read_trace(written).write_binary(written)
    assert read_trace(written) == trace
    assert [path.name for path in written.parent.iterdir()] == [written.name]


def test_failed_writing_leaves_nothing(trace, tmp_path, monkeypatch):
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        trace.write_binary(tmp_path / "never.trace")
    assert list(tmp_path.iterdir()) == []
