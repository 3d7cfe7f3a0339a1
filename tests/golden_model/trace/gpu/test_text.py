"""Text traces: the example of the document, round trips, and every rule broken once."""

import pytest

from racetrap.golden_model.events import AtomicOp, Event, EventKind, Lane, Scope, Space
from racetrap.golden_model.trace import Rule, Trace, TraceError, is_binary, read_trace

_HEAD = """\
# A comment.
racetrap-trace 2
system scord
geometry sm_count=2 blocks_per_sm=2 warps_per_sm=4
region data_base=0x10000 size_log2=16
source "by # hand"
"""
_BODY = """\
kernel_begin
block_placed sm=0 slot=0 warp=0 warp_count=2 grid_block=5
load sm=0 slot=0 warp=1 pc=0x40 size=4 strong block lanes 0:0x1000 1:0x1004  # a comment
block_retired sm=0 slot=0
kernel_end
"""
_LOAD_LINE = 9


def _write(tmp_path, text):
    path = tmp_path / "some.txt"
    path.write_text(text, encoding="utf-8")
    return path


def _refuse(path, rule, line):
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert caught.value.rule == rule, caught.value
    place = f"{path}, {line}" if isinstance(line, str) else f"{path}, line {line}"
    assert str(caught.value).startswith(f"{place if line else path}: "), caught.value


def test_a_trace_written_by_hand(tmp_path):
    path = _write(tmp_path, _HEAD + "\n  # and a blank line\n\n" + _BODY)
    trace = read_trace(path)
    assert not is_binary(path)
    assert trace.header.source == "by # hand"
    assert trace.header.seed is None
    lanes = (Lane(0, 0x1000), Lane(1, 0x1004))
    assert list(trace)[2] == Event(EventKind.LOAD, 0, 0, 1, 0, True, 0, 0x40, 4, lanes)


def test_round_trip(trace, tmp_path):
    trace.write_text(tmp_path / "one.txt")
    again = read_trace(tmp_path / "one.txt")
    assert again == trace
    again.write_text(tmp_path / "two.txt")
    assert (tmp_path / "one.txt").read_bytes() == (tmp_path / "two.txt").read_bytes()


@pytest.mark.parametrize(
    ("words", "lanes"),
    [
        ("0..3:0x100+4", [(lane, 0x100 + 4 * lane) for lane in range(4)]),
        ("0..31:0x100-8", [(lane, 0x100 - 8 * lane) for lane in range(32)]),
        ("4..6:0x100+0", [(4, 0x100), (5, 0x100), (6, 0x100)]),
        ("0:0x8 1:0xc", [(0, 8), (1, 12)]),
        ("0..2:0x8+4 7:0x8", [(0, 8), (1, 12), (2, 16), (7, 8)]),
        ("5:0x0 9..11:0x0+8", [(5, 0), (9, 0), (10, 8), (11, 16)]),
    ],
)  # fmt: skip
def test_lane_ranges(tmp_path, words, lanes):
    text = (_HEAD + _BODY).replace("0:0x1000 1:0x1004", words)
    trace = read_trace(_write(tmp_path, text))
    assert [(lane.lane, lane.address) for lane in list(trace)[2].lanes] == lanes
    trace.write_text(tmp_path / "again.txt")
    assert f"lanes {words}\n" in (tmp_path / "again.txt").read_text()


@pytest.mark.parametrize(
    ("words", "lane"),
    [
        ("cas lanes 3:0x8=0x0->0x1:ok", (AtomicOp.CAS, Lane(3, 8, 1, 0, True))),
        ("cas lanes 3:0x8=2->3:failed", (AtomicOp.CAS, Lane(3, 8, 3, 2, False))),
        ("exch lanes 3:0x8=7", (AtomicOp.EXCH, Lane(3, 8, 7))),
        ("other lanes 3:0x8", (AtomicOp.OTHER, Lane(3, 8))),
    ],
)
def test_atomics(tmp_path, words, lane):
    line = f"atomic sm=0 slot=0 warp=1 pc=0x40 size=4 device {words}\n"
    lines = (_HEAD + _BODY).splitlines(keepends=True)
    lines[_LOAD_LINE - 1] = line
    event = list(read_trace(_write(tmp_path, "".join(lines))))[2]
    assert (event.op, event.lanes[0]) == lane
    assert event.strong


@pytest.mark.parametrize(
    ("size", "words", "lanes"),
    [
        (1, "3:0x8=0xff", [Lane(3, 8, 255)]),
        (4, "0..2:0x8+4=0x7 4:0x8", [Lane(0, 8, 7), Lane(1, 12, 7), Lane(2, 16, 7), Lane(4, 8)]),
        (16, "3:0x10=0x20000000000000005", [Lane(3, 16, 5, 2)]),
        (16, "3:0x10=0x50000000000000000", [Lane(3, 16, 0, 5)]),
    ],
)
def test_values_stored(tmp_path, size, words, lanes):
    lines = (_HEAD + _BODY).splitlines(keepends=True)
    lines[_LOAD_LINE - 1] = f"{_STORE.replace('size=4', f'size={size}')} shared lanes {words}\n"
    trace = read_trace(_write(tmp_path, "".join(lines)))
    event = list(trace)[2]
    assert (event.space, event.strong, list(event.lanes)) == (Space.SHARED, False, lanes)
    trace.write_text(tmp_path / "again.txt")
    assert f" shared lanes {words}\n" in (tmp_path / "again.txt").read_text()


def test_instructions_are_counted_or_not(tmp_path):
    path = _write(tmp_path, _HEAD + _BODY.replace("pc=0x40", "pc=0x40 instructions=7"))
    trace = read_trace(path)
    assert trace.instructions.tolist() == [0, 0, 7, 0, 0]
    assert trace.totals == {"instructions": 7}
    trace.write_text(path)
    assert read_trace(path) == trace
    assert trace.with_instructions([1, 2], [5, 0]) == read_trace(_write(tmp_path, _HEAD + _BODY))


def test_locations(tmp_path):
    text = _HEAD + 'location 64 "b.cu:2 # x"  \nlocation 0x8 ""\n' + _BODY
    trace = read_trace(_write(tmp_path, text))
    assert trace.header.locations == {8: "", 64: "b.cu:2 # x"}
    trace.write_text(tmp_path / "again.txt")
    assert 'location 0x8 ""\nlocation 0x40 "b.cu:2 # x"\n' in (tmp_path / "again.txt").read_text()


def test_version_1_is_refused_by_name(tmp_path):
    with pytest.raises(TraceError, match="Version must be 2, not '1'"):
        read_trace(_write(tmp_path, _HEAD.replace("trace 2", "trace 1") + _BODY))


@pytest.mark.parametrize("last", ["=0x0->0x1:failed", "=0x0->0x2:ok", "=0x1->0x1:ok"])
def test_ranges_end_where_values_change(tmp_path, last):
    words = f"lanes 0..2:0x8+0=0x0->0x1:ok 3:0x8{last}"
    lines = (_HEAD + _BODY).splitlines(keepends=True)
    lines[_LOAD_LINE - 1] = f"atomic sm=0 slot=0 warp=1 pc=0x40 size=4 device cas {words}\n"
    trace = read_trace(_write(tmp_path, "".join(lines)))
    trace.write_text(tmp_path / "again.txt")
    assert f" {words}\n" in (tmp_path / "again.txt").read_text()
    assert read_trace(tmp_path / "again.txt") == trace


_LOAD = "load sm=0 slot=0 warp=1 pc=0x40 size=4"
_ATOMIC = "atomic sm=0 slot=0 warp=1 pc=0x40 size=4 device"
_STORE = "store sm=0 slot=0 warp=1 pc=0x40 size=4"
_FENCE = "fence sm=0 slot=0 warp=1 pc=0x40"
_IF = "if sm=0 slot=0 warp=1 pc=0x40"


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("jump sm=0", Rule.KIND),
        ("copy_read stream=0x100000000 lanes 0:0x0=1", Rule.WIDTH),
        ("copy_read sm=0 lanes 0:0x0=1", Rule.UNUSED_FIELD),
        ("copy_write pc=1 lanes 0:0x0", Rule.LANE_VALUES),
        ("copy_write lanes 0:0x0=1", Rule.KERNEL),
        ("after operation=0", Rule.KERNEL),
        ("after", Rule.TEXT),
        (f"{_LOAD} weak lanes 0:0x0", Rule.CODE),
        (f"{_LOAD} system lanes 0:0x0", Rule.CODE),
        (f"{_LOAD} sm lanes 0:0x0", Rule.CODE),
        (_LOAD.replace("pc=0x40", "pc=0x100000000") + " lanes 0:0x0", Rule.WIDTH),
        (f"{_FENCE} device mask=0x100000000", Rule.WIDTH),
        (f"{_STORE} lanes 0:0x0=0x100000000000000000000000000000000", Rule.WIDTH),
        (_LOAD.replace("sm=0", "sm=4294967296") + " lanes 0:0x0", Rule.WIDTH),
        (_LOAD.replace("warp=1", "warp=256") + " lanes 0:0x0", Rule.WIDTH),
        (f"{_LOAD} instructions=0x100000000 lanes 0:0x0", Rule.WIDTH),
        (f"{_LOAD} lanes 0:0x10000000000000000", Rule.WIDTH),
        (f"{_LOAD} lanes 0..3:0xfffffffffffffffc+4", Rule.WIDTH),
        (f"{_LOAD} lanes 0..3:0x4-4", Rule.WIDTH),
        (f"{_LOAD} device lanes 0:0x0", Rule.UNUSED_FIELD),
        (f"{_LOAD} mask=1 lanes 0:0x0", Rule.UNUSED_FIELD),
        (f"{_FENCE} device shared", Rule.UNUSED_FIELD),
        (f"{_IF} device mask=1", Rule.UNUSED_FIELD),
        (f"{_IF} lanes 0:0x0", Rule.UNUSED_FIELD),
        (f"{_IF} size=4 mask=1", Rule.UNUSED_FIELD),
        ("barrier sm=0 slot=0 pc=0x1 mask=1", Rule.UNUSED_FIELD),
        ("barrier sm=0 slot=0 pc=0x1 instructions=1", Rule.UNUSED_FIELD),
        (f"{_LOAD} cas lanes 0:0x0", Rule.UNUSED_FIELD),
        (f"{_LOAD} grid_block=0 lanes 0:0x0", Rule.UNUSED_FIELD),
        (f"{_ATOMIC} other strong lanes 0:0x0", Rule.UNUSED_FIELD),
        (f"{_FENCE} device strong", Rule.UNUSED_FIELD),
        (f"{_FENCE} device lanes 0:0x0", Rule.UNUSED_FIELD),
        ("barrier sm=0 slot=0 pc=0x1 warp=1", Rule.UNUSED_FIELD),
        ("kernel_begin sm=0", Rule.UNUSED_FIELD),
        (_LOAD.replace("sm=0", "sm=2") + " lanes 0:0x0", Rule.GEOMETRY),
        (_LOAD.replace("slot=0", "slot=2") + " lanes 0:0x0", Rule.GEOMETRY),
        (_LOAD.replace("warp=1", "warp=4") + " lanes 0:0x0", Rule.GEOMETRY),
        ("block_placed sm=0 slot=1 warp=2 warp_count=0 grid_block=1", Rule.GEOMETRY),
        ("block_placed sm=0 slot=1 warp=2 warp_count=3 grid_block=1", Rule.GEOMETRY),
        (_LOAD.replace("size=4", "size=3") + " lanes 0:0x0", Rule.SIZE),
        (_ATOMIC.replace("size=4", "size=16") + " other lanes 0:0x0", Rule.SIZE),
        (_LOAD, Rule.LANES),
        (_IF, Rule.LANES),
        (f"{_IF} mask=0", Rule.LANES),
        (f"{_LOAD} lanes", Rule.LANES),
        (f"{_LOAD} lanes 32:0x0", Rule.LANES),
        (f"{_LOAD} lanes 1:0x0 0:0x0", Rule.LANES),
        (f"{_LOAD} lanes 1:0x0 1:0x0", Rule.LANES),
        (f"{_LOAD} lanes 3..1:0x0+4", Rule.LANES),
        (f"{_LOAD} lanes 0..999999999:0x0+4", Rule.LANES),
        (f"{_LOAD} lanes 0:0x1", Rule.ALIGNMENT),
        (f"{_LOAD} lanes 0..3:0x0+2", Rule.ALIGNMENT),
        (f"{_LOAD} lanes 0:0x0=1", Rule.LANE_VALUES),
        (f"{_ATOMIC} other lanes 0:0x0=1", Rule.LANE_VALUES),
        (f"{_ATOMIC} exch lanes 0:0x0", Rule.LANE_VALUES),
        (f"{_ATOMIC} exch lanes 0:0x0=0->1:ok", Rule.LANE_VALUES),
        (f"{_ATOMIC} cas lanes 0:0x0=1", Rule.LANE_VALUES),
        (f"{_ATOMIC} cas lanes 0:0x0=0->1", Rule.LANE_VALUES),
        (f"{_ATOMIC} exch lanes 0:0x0=0x100000000", Rule.VALUE_WIDTH),
        (f"{_ATOMIC} cas lanes 0:0x0=0x100000000->1:ok", Rule.VALUE_WIDTH),
        (f"{_STORE} lanes 0:0x0=0->1:ok", Rule.LANE_VALUES),
        (f"{_STORE} lanes 0:0x0=0x10000000000000000", Rule.LANE_VALUES),
        (f"{_STORE} lanes 0:0x0=0x100000000", Rule.VALUE_WIDTH),
        (_STORE.replace("size=4", "size=2") + " lanes 0:0x0=0x10000", Rule.VALUE_WIDTH),
        (_STORE.replace("size=4", "size=1") + " lanes 0:0x0=256", Rule.VALUE_WIDTH),
        ("kernel_begin", Rule.KERNEL),
        ("block_placed sm=0 slot=0 warp=2 warp_count=2 grid_block=1", Rule.SLOT_FREE),
        ("block_retired sm=0 slot=1", Rule.SLOT_TAKEN),
        ("kernel_end", None),
        ("block_placed sm=0 slot=1 warp=1 warp_count=2 grid_block=1", None),
        (_LOAD.replace("warp=1", "warp=2") + " lanes 0:0x0", Rule.PLACED),
        ("barrier sm=1 slot=0 pc=0x1", Rule.PLACED),
        (_IF.replace("warp=1", "warp=2") + " mask=1", Rule.PLACED),
        ("exit sm=1 slot=0 warp=1 pc=0x1 mask=1", Rule.PLACED),
        ("warp_barrier sm=0 slot=1 warp=1 pc=0x1", Rule.PLACED),
        ("else sm=0 slot=0 warp=1 pc=0x1 mask=1", Rule.DIVERGENCE),
        ("fi sm=0 slot=0 warp=1 pc=0x1", Rule.DIVERGENCE),
        (f"{_LOAD} strong lanes 0:0x0", Rule.TEXT),
        (f"{_LOAD} strong shared shared device lanes 0:0x0", Rule.TEXT),
        (f"{_ATOMIC} lanes 0:0x0", Rule.TEXT),
        (f"{_ATOMIC} cas exch lanes 0:0x0", Rule.TEXT),
        (f"{_FENCE}", Rule.TEXT),
        (f"{_FENCE} block device", Rule.TEXT),
        (f"{_FENCE} block pc=0x1", Rule.TEXT),
        (f"{_LOAD} hue=1 lanes 0:0x0", Rule.TEXT),
        (_LOAD.replace(" pc=0x40", "") + " lanes 0:0x0", Rule.TEXT),
        (_LOAD.replace("pc=0x40", "pc=-1") + " lanes 0:0x0", Rule.TEXT),
        (_LOAD.replace("pc=0x40", "pc=") + " lanes 0:0x0", Rule.TEXT),
        (_LOAD.replace("pc=0x40", "pc=1_0") + " lanes 0:0x0", Rule.TEXT),
        (f"{_LOAD} lanes 0:0x0+4", Rule.TEXT),
        (f"{_LOAD} lanes 0..3:0x0", Rule.TEXT),
        (f"{_LOAD} lanes 0", Rule.TEXT),
        (f"{_LOAD} lanes 0:0x0 strong", Rule.TEXT),
    ],
)
def test_line_rules(tmp_path, line, rule):
    lines = (_HEAD + _BODY).splitlines(keepends=True)
    lines[_LOAD_LINE - 1] = line + "\n"
    path = _write(tmp_path, "".join(lines))
    if line == "kernel_end":
        _refuse(path, Rule.KERNEL, _LOAD_LINE + 2)
    elif rule is None:
        # Warps in use: make the block retire, so that nothing but its warps is wrong.
        retired = "block_retired sm=0 slot=1\n"
        lines.insert(_LOAD_LINE, retired)
        _refuse(_write(tmp_path, "".join(lines)), Rule.WARPS_FREE, _LOAD_LINE)
    else:
        _refuse(path, rule, _LOAD_LINE)


def test_blocks_left_at_the_end(tmp_path):
    text = (_HEAD + _BODY).replace("block_retired sm=0 slot=0\n", "")
    _refuse(_write(tmp_path, text), Rule.ALL_RETIRED, _LOAD_LINE + 1)


def test_open_kernel(tmp_path):
    text = (_HEAD + _BODY).replace("kernel_end\n", "")
    _refuse(_write(tmp_path, text), Rule.KERNEL, _LOAD_LINE - 2)


def test_event_outside_a_kernel(tmp_path):
    _refuse(_write(tmp_path, _HEAD + _BODY + "barrier sm=0 slot=0 pc=0\n"), Rule.KERNEL, 12)


@pytest.mark.parametrize(
    ("old", "new", "rule", "line"),
    [
        ("racetrap-trace 2", "racetrap 1", Rule.MAGIC, 2),
        ("racetrap-trace 2", "racetrap-trace 1", Rule.VERSION, 2),
        ("racetrap-trace 2", "racetrap-trace", Rule.VERSION, 2),
        ("system scord\n", "", Rule.HEADER, "header"),
        ("system scord", "system barracuda", Rule.HEADER, "header"),
        ("system scord\n", "system scord\nsystem scord\n", Rule.HEADER, 4),
        ("geometry sm_count=2 ", "geometry ", Rule.HEADER, "header"),
        ("geometry sm_count=2", "geometry sm_count=two", Rule.HEADER, 4),
        ("geometry sm_count=2", "geometry sm_count=2 sm_count=2", Rule.HEADER, 4),
        ("geometry sm_count=2", "geometry sm_count=0", Rule.HEADER, "header"),
        ("data_base=0x10000", "data_base=0x10001", Rule.HEADER, "header"),
        ("size_log2=16", "size_log2=64", Rule.HEADER, "header"),
        ('source "by # hand"', "source by hand", Rule.HEADER, 6),
        ('source "by # hand"', "source 7", Rule.HEADER, "header"),
        ('source "by # hand"', 'source "a\\nb"', Rule.HEADER, "header"),
        ('source "by # hand"', "source", Rule.HEADER, 6),
        ('"by # hand"\n', '""\nseed x\n', Rule.HEADER, 7),
        ('"by # hand"\n', '""\nseed 18446744073709551616\n', Rule.HEADER, "header"),
        ("kernel_begin", "seed 1 2", Rule.HEADER, 7),
        ("kernel_begin", "location", Rule.HEADER, 7),
        ("kernel_begin", "location 0x8", Rule.HEADER, 7),
        ("kernel_begin", 'location x "a.cu:1"', Rule.HEADER, 7),
        ("kernel_begin", "location 0x8 a.cu:1", Rule.HEADER, 7),
        ("kernel_begin", 'location 0x8 "a"\nlocation 8 "a"', Rule.HEADER, 8),
        ("kernel_begin", "location 0x8 7", Rule.HEADER, "header"),
        ("kernel_begin", 'location 0x100000000 "a"', Rule.HEADER, "header"),
        ("kernel_begin", "location 0x8 " + "[" * 60000, Rule.HEADER, 7),
        ("kernel_begin", "colour 1", Rule.KIND, 7),
        ("kernel_begin\n", "kernel_begin\nseed 1\n", Rule.KIND, 8),
    ],
)
def test_header(tmp_path, old, new, rule, line):
    text = _HEAD + _BODY
    assert old in text
    _refuse(_write(tmp_path, text.replace(old, new)), rule, line)


@pytest.mark.parametrize("raw", [b"", b"\n\n", b"# only this\n", b"\x00\x01\x02", b"\x7fELF"])
def test_not_a_trace(tmp_path, raw):
    path = tmp_path / "other"
    path.write_bytes(raw)
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert caught.value.rule == Rule.MAGIC


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(b"racetrap-trace 2\n\xff\n")
    _refuse(path, Rule.MAGIC, "")


def test_cut_text_is_refused_wherever_it_is_cut(tmp_path, trace):
    """A cut may only go unseen in the blanks after the last event."""
    path = tmp_path / "cut.txt"
    trace.write_text(path)
    whole = path.read_bytes()
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        if not whole[:length].count(b"kernel_begin"):
            continue  # a header and no events is a trace
        with pytest.raises(TraceError):
            read_trace(path)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"pc": 1 << 32}, Rule.WIDTH),
        ({"pc": -1}, Rule.WIDTH),
        ({"pc": 1.0}, Rule.WIDTH),
        ({"kind": 300}, Rule.WIDTH),
        ({"kind": 77}, Rule.KIND),
        ({"lanes": (Lane(32, 0),)}, Rule.LANES),
        ({"lanes": (Lane(-1, 0),)}, Rule.LANES),
        ({"lanes": (Lane(1, 0), Lane(1, 0))}, Rule.LANES),
        ({"lanes": (Lane(1, -16),)}, Rule.WIDTH),
        ({"lanes": (Lane(1, 0, success=True),)}, Rule.UNUSED_FIELD),
        ({"mask": 1}, Rule.UNUSED_FIELD),
        ({"kind": EventKind.EXIT, "size": 0}, Rule.UNUSED_FIELD),
        ({"scope": Scope.DEVICE}, Rule.UNUSED_FIELD),
        ({"space": 2}, Rule.CODE),
    ],
)
def test_events_in_memory_obey_the_same_rules(header, events, change, rule):
    events[3] = events[3]._replace(**change)
    with pytest.raises(TraceError) as caught:
        Trace.from_events(header, events)
    assert (caught.value.rule, caught.value.place) == (rule, "event 3")
