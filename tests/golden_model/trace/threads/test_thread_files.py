"""Files of traces of threads that are cut short, spoiled or written by hand with a mistake."""

import json
import zlib
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from racetrap.golden_model.call_stacks import Frame
from racetrap.golden_model.trace import (
    Rule,
    TraceError,
    read_gpu_trace,
    read_thread_trace,
    read_trace,
)
from racetrap.golden_model.trace.container.container import PREFIX
from racetrap.golden_model.trace.container.header import header_to_dict
from racetrap.golden_model.trace.threads.compression import BLOCK_LENGTH
from racetrap.golden_model.trace.threads.events import (
    BOUNDED,
    GRANULE_BYTES,
    SyncClass,
    ThreadEvent,
    ThreadEventKind,
    Variable,
)
from racetrap.golden_model.trace.threads.schema import THREAD_DTYPE
from racetrap.golden_model.trace.threads.thread_trace import ThreadTrace
from tests.support.threads.random_traces import random_thread_trace

_HEAD = """\
racetrap-trace 2
system sigrace
threads 2   # a comment
source "by # hand"
"""
_BODY = """\
begin thread=0
create thread=0 child=1
begin thread=1
acquire thread=1 pc=0x40 instructions=7 address=0x50 mutex
end thread=1
"""
_ACQUIRE_LINE = 8


def _refuse(path, rule, place="", words=""):
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert caught.value.rule == rule, caught.value
    assert caught.value.place == f"{path}{place}"
    assert words in str(caught.value)


@pytest.fixture(params=[False, True], ids=["plain", "compressed"])
def written(request, tmp_path):
    path = tmp_path / "whole.trace"
    random_thread_trace(5, 3, events=30).write_binary(path, request.param)
    return path


def test_record_size_is_that_of_the_document():
    assert THREAD_DTYPE.itemsize == 24
    for name, (_, offset, *_) in THREAD_DTYPE.fields.items():
        assert offset % THREAD_DTYPE[name].itemsize == 0, name


def test_file_cut_at_every_byte(written, tmp_path):
    whole = written.read_bytes()
    path = tmp_path / "short.trace"
    for length in range(1, len(whole)):
        path.write_bytes(whole[:length])
        _refuse(path, Rule.FILE_LENGTH, words="File is truncated: it has")


@pytest.mark.parametrize("is_binary", [False, True])
def test_variables_are_kept_in_both_forms(tmp_path, is_binary):
    trace, path = random_thread_trace(5, events=5), tmp_path / "kept.trace"
    variables = {0x404040: Variable(64, 'bank::"cells" # 2'), (1 << 64) - 4: Variable(4, "")}
    named = ThreadTrace(replace(trace.header, variables=variables), trace.events)
    (named.write_binary if is_binary else named.write_text)(path)
    assert read_thread_trace(path).header.variables == variables


@pytest.mark.parametrize("is_binary", [False, True])
def test_frames_of_accesses_are_kept_in_both_forms(tmp_path, is_binary):
    trace, path = random_thread_trace(5, events=50), tmp_path / "kept.trace"
    events = trace.events.copy()
    plain = events["kind"] <= ThreadEventKind.STORE
    events["value"][plain] = np.arange(plain.sum()) % 4  # not all of them are known
    frames = {1: Frame(0, "main", ""), 3: Frame(1, 'add("#")', "a # b.c:7")}
    named = ThreadTrace(replace(trace.header, frames=frames), events)
    (named.write_binary if is_binary else named.write_text)(path)
    assert read_thread_trace(path) == named


def test_variables_at_an_address_are_those_of_a_plain_search():
    random = Random(7)
    header = random_thread_trace(5, events=5).header
    for _ in range(40):
        starts = random.sample(range(200), 12)
        variables = {first: Variable(random.choice([1, 3, 8, 60]), "v") for first in starts}
        named = replace(header, variables=variables)
        for address in range(0, 280, 4):
            assert named.variables_at(address) == {
                first: variable
                for first, variable in variables.items()
                if first < address + GRANULE_BYTES and first + variable.size > address
            }


def test_a_variable_is_given_once(tmp_path):
    path = tmp_path / "twice.txt"
    path.write_text(_HEAD + 'variable 0x40 4 "a"\nvariable 64 4 "b"\n' + _BODY)
    _refuse(path, Rule.HEADER, ", line 6", "variable 64 twice")


def test_trailing_bytes(written):
    with written.open("ab") as file:
        file.write(b"\0")
    _refuse(written, Rule.FILE_LENGTH, words="1 bytes more")


def test_text_cut_within_every_line(tmp_path):
    path = tmp_path / "cut.txt"
    lines = (_HEAD + _BODY).splitlines()
    for number, line in enumerate(lines, start=1):
        path.write_text("\n".join([*lines[: number - 1], line[: len(line) // 2]]))
        with pytest.raises(TraceError) as caught:
            read_trace(path)
        assert caught.value.place.startswith(str(path))


def test_written_text_cut_after_every_byte_of_its_events(tmp_path):
    path = tmp_path / "cut.txt"
    random_thread_trace(5, 3, events=30).write_text(path)
    whole = path.read_text()
    for length in range(whole.index("begin"), len(whole)):
        path.write_text(whole[:length])
        with pytest.raises(TraceError):
            read_trace(path)
    path.write_text(whole + "end thread=0\n")
    _refuse(path, Rule.FILE_LENGTH, words="File is cut short")


def _rewrite(path, counts, body):
    """Replace the two numbers of the prefix, and what follows the header."""
    raw = path.read_bytes()
    magic, version, length, *_ = PREFIX.unpack(raw[: PREFIX.size])
    header = raw[PREFIX.size : PREFIX.size + length]
    path.write_bytes(PREFIX.pack(magic, version, length, *counts) + header + body)


def _block(events, extra=b""):
    packed = zlib.compress(bytes(THREAD_DTYPE.itemsize * events)) + extra
    return BLOCK_LENGTH.pack(len(packed)) + packed


@pytest.mark.parametrize(
    ("events", "body"),
    [
        (3, _block(2)),
        (3, _block(4)),
        (3, _block(3, b"\0")),
        (3, _block(3)[:-1] + b"\0"),
        (3, BLOCK_LENGTH.pack(4) + b"\0\0\0\0"),
        (3, b"\0\0\0"),
        (3, BLOCK_LENGTH.pack((1 << 32) - 1) + b"\0\0\0\0"),
        (1, _block(1) + _block(1)),
        (1 << 60, _block(1 << 16)),
    ],
)
def test_compressed_blocks_that_are_wrong(tmp_path, events, body):
    path = tmp_path / "spoiled.trace"
    random_thread_trace(5, 3, events=30).write_binary(path, compress=True)
    _rewrite(path, (events, len(body)), body)
    _refuse(path, Rule.FILE_LENGTH, words="Compressed block")


def test_a_number_of_events_that_no_file_has(tmp_path):
    path = tmp_path / "spoiled.trace"
    random_thread_trace(5).write_binary(path)
    _rewrite(path, ((1 << 64) - 1, 0), b"")
    _refuse(path, Rule.FILE_LENGTH, words="File is truncated: it has 0 ")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"system": "other"}, "'scord' or 'sigrace' or 'noncoherent', not 'other'"),
        ({"system": ["sigrace"]}, "Trace system must be"),
        ({"threads": 0}, "Trace threads must be from 1 to 1024, not 0"),
        ({"threads": 1025}, "from 1 to 1024"),
        ({"threads": True}, "Trace threads must be an integer"),
        ({"threads": "4"}, "Trace threads must be an integer"),
        ({"region": {}}, "Header must have the fields system, threads"),
        ({"source": "two\nlines"}, "Trace source must be printable"),
        ({"seed": -1}, "Trace seed"),
        ({"locations": {"4294967296": "a.c:1"}}, "PC of a location"),
        ({"variables": []}, "Variables must be an object"),
        ({"variables": {"18446744073709551616": [4, "a"]}}, "Address of a variable"),
        ({"variables": {"0x40": [4, "a"]}}, "Address of a variable must be a decimal number"),
        ({"variables": {"64": [4]}}, "Variable 0x40 must be its size and its name"),
        ({"variables": {"64": "4a"}}, "Variable 0x40 must be its size and its name"),
        ({"variables": {"64": [0, "a"]}}, "Size of variable 0x40"),
        ({"variables": {"64": [4, "a\nb"]}}, "Name of variable 0x40"),
        ({"frames": {"1": [0, "f"]}}, "Frame 1 must be its caller, function and place"),
        ({"frames": {"1": [1, "f", ""]}}, "Caller of frame 1 must be from 0 to 0, not 1"),
    ],
)
def test_header(tmp_path, change, words):
    trace, path = random_thread_trace(5), tmp_path / "header.trace"
    trace.write_binary(path)
    header = json.dumps(header_to_dict(trace.header) | change).encode()
    header += b" " * (-len(header) % 8)
    raw = path.read_bytes()
    magic, version, length, *counts = PREFIX.unpack(raw[: PREFIX.size])
    start = PREFIX.pack(magic, version, len(header), *counts)
    path.write_bytes(start + header + raw[PREFIX.size + length :])
    _refuse(path, Rule.HEADER, ", header", words)


@pytest.mark.parametrize(
    ("change", "rule"),
    [({"kind": 17}, Rule.KIND), ({"size": 17}, Rule.SIZE), ({"thread": 999}, Rule.THREAD)],
)
def test_records(tmp_path, change, rule):
    trace, path = random_thread_trace(5), tmp_path / "records.trace"
    row = int((trace.events["kind"] == ThreadEventKind.LOAD).argmax())
    for name, value in change.items():
        trace.events[name][row] = value
    trace.write_binary(path)
    _refuse(path, rule, f", event record {row}")


def test_a_trace_written_by_hand(tmp_path):
    path = tmp_path / "some.txt"
    path.write_text(_HEAD + "\n" + _BODY)
    trace = read_thread_trace(path)
    assert (trace.header.threads, trace.header.source) == (2, "by # hand")
    assert list(trace)[3] == ThreadEvent(
        ThreadEventKind.ACQUIRE, 1, 0x50, value=SyncClass.MUTEX, pc=0x40, instructions=7
    )


def test_a_bounded_wait_is_a_word_of_its_own(tmp_path):
    path = tmp_path / "some.txt"
    text = (_HEAD + "\n" + _BODY).replace(" mutex", " mutex bounded", 1)
    path.write_text(text)
    trace = read_thread_trace(path)
    first = next(event for event in trace if event.kind == ThreadEventKind.ACQUIRE)
    assert first.size == BOUNDED
    for write in (trace.write_text, trace.write_binary):
        write(path)
        assert list(read_thread_trace(path)) == list(trace)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("jump thread=1", Rule.KIND),
        ("acquire thread=1 address=0x50 spinlock", Rule.CODE),
        ("atomic_load thread=1 address=0x50 size=4 mutex", Rule.CODE),
        ("load thread=1 address=0x10000000000000000 size=4", Rule.WIDTH),
        ("load thread=1 pc=0x100000000 address=0x8 size=4", Rule.WIDTH),
        ("load thread=70000 address=0x8 size=4", Rule.WIDTH),
        ("load thread=1 address=0x8 size=256", Rule.WIDTH),
        ("load thread=1 address=0x8 size=4 relaxed", Rule.UNUSED_FIELD),
        ("load thread=1 address=0x8 size=4 width=2", Rule.UNUSED_FIELD),
        ("acquire thread=1 address=0x50 size=4 mutex", Rule.UNUSED_FIELD),
        ("free thread=1 address=0x50 bytes=4", Rule.UNUSED_FIELD),
        ("load thread=1 address=0x8 size=0", Rule.SIZE),
        ("load thread=2 address=0x8 size=4", Rule.THREAD),
        ("create thread=1 child=1", Rule.BEGIN),
        ("join thread=1 child=0", Rule.JOIN),
        ("join thread=1 child=2", Rule.THREAD),
        ("release thread=1 address=0x50 mutex", Rule.HELD),
        ("barrier_leave thread=1 address=0x60 width=2", Rule.BARRIER_CROSSING),
        ("barrier_arrive thread=1 address=0x60 width=0", Rule.BARRIER_WIDTH),
        ("collect_on thread=1", Rule.COLLECT),
        ("load thread=1 address=0x8", Rule.TEXT),
        ("load address=0x8 size=4", Rule.TEXT),
        ("load thread=1 address=0x8 size=4 size=4", Rule.TEXT),
        ("load thread=1 address=-8 size=4", Rule.TEXT),
        ("load thread=1 address=0x8 size=4 hue=1", Rule.TEXT),
        ("acquire thread=1 address=0x50", Rule.TEXT),
        ("acquire thread=1 address=0x50 mutex mutex", Rule.TEXT),
        ("create thread=1", Rule.TEXT),
    ],
)
def test_lines(tmp_path, line, rule):
    lines = (_HEAD + _BODY).splitlines()
    lines[_ACQUIRE_LINE - 1] = line
    path = tmp_path / "some.txt"
    path.write_text("\n".join(lines) + "\n")
    _refuse(path, rule, f", line {_ACQUIRE_LINE}")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("threads 2", "threads two", ", line 3"),
        ("threads 2", "threads 0", ", header"),
        ("threads 2", "threads 1 2", ", line 3"),
        ("threads 2   # a comment\n", "", ", header"),
        ("threads 2", "geometry sm_count=2", ", header"),
        ("system sigrace\n", "", ", header"),
        ("system sigrace", "system scord", ", header"),
    ],
)
def test_header_of_text(tmp_path, old, new, place):
    path = tmp_path / "some.txt"
    path.write_text((_HEAD + _BODY).replace(old, new))
    _refuse(path, Rule.HEADER, place)


def test_traces_of_the_other_system(tmp_path):
    path, gpu = tmp_path / "threads.txt", tmp_path / "gpu.txt"
    path.write_text(_HEAD + _BODY)
    gpu.write_text(
        "racetrap-trace 2\nsystem scord\ngeometry sm_count=1 blocks_per_sm=1 warps_per_sm=1\n"
        'region data_base=0 size_log2=4\nsource ""\n'
    )
    assert read_gpu_trace(gpu) == read_trace(gpu)
    assert read_thread_trace(path) == read_trace(path)
    with pytest.raises(TraceError, match="Trace system must be 'scord', not 'sigrace'"):
        read_gpu_trace(path)
    with pytest.raises(TraceError, match="Trace system must be 'sigrace', not 'scord'"):
        read_thread_trace(gpu)
