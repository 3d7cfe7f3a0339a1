"""Names of what races are about: variables, shared memory and allocations, with their elements."""

import pytest

from racetrap.golden_model.events import DataRegion, Geometry, Space, TraceHeader
from racetrap.golden_model.memory_objects import MemoryObject
from racetrap.golden_model.trace import Trace, read_trace
from racetrap.golden_model.trace.container.rules import TraceError
from racetrap.presenters.race_findings import object_text
from racetrap.verdict.gpu.memory_names import MemoryNames

_SOURCE = """\
int *partial, *out; Account *b, *accounts;
__device__ int lock;
  __shared__ int s[32];
  cudaMalloc(&partial, 1024);
  CHECK(cudaMallocManaged((void **)&a.out, 64)); cudaMalloc(&b, 64);
  cudaMalloc(&accounts, 64);
  if (small) cudaMalloc(&partial, 4); else cudaMalloc(&out, 4);
int *make() { int *own; cudaMalloc(&own, 64); return own; }
extern "C" __global__ void kernel(int *words, float2 *pairs) {}
#define KERNEL(NAME) __global__ void NAME(short *halves, int *others)
KERNEL(other_kernel) {}
struct Node { int value; Node *next; };
void main() { Node *node; cudaMalloc((void **)&node, sizeof *node); }
"""
_ALLOCATED = "allocated by the cudaMalloc"


def _header(*objects):
    return TraceHeader(
        geometry=Geometry(1, 1, 1), region=DataRegion(0, 16), objects=dict(enumerate(objects)),
        locations={1: "named.cu:9"},
    )  # fmt: skip


def _text(header, address, space=Space.GLOBAL, launch=0, access_bytes=4):
    memory, element = MemoryNames(header).named(space, address, launch, access_bytes)
    return memory and object_text(memory, element, {})


@pytest.fixture(autouse=True)
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "named.cu").write_text(_SOURCE)


@pytest.mark.parametrize(
    ("found", "address", "text"),
    [
        (
            MemoryObject(0, 0x100, 4, 4, 0, "lock", "a `__device__` variable", ""),
            0x100, "`lock` (a `__device__` variable, named.cu:2), 4 bytes",
        ),
        (
            MemoryObject(0, 0x100, 1024, 1, 0, "", _ALLOCATED, "named.cu:4"),
            0x10C, "`partial[3]`, allocated by the cudaMalloc at named.cu:4, 1,024 bytes",
        ),
        (
            MemoryObject(0, 0x100, 1024, 1, 0, "", _ALLOCATED, "named.cu:4"),
            0x10A, "`partial[2] + 2`, allocated by the cudaMalloc at named.cu:4, 1,024 bytes",
        ),
        # Elements of a structure have no size that is known.
        (
            MemoryObject(0, 0x100, 64, 1, 0, "", _ALLOCATED, "named.cu:6"),
            0x10C, "`accounts + 12`, allocated by the cudaMalloc at named.cu:6, 64 bytes",
        ),
        (
            MemoryObject(0, 0x100, 64, 1, 0, "", _ALLOCATED, "named.cu:6"),
            0x100, "`accounts`, allocated by the cudaMalloc at named.cu:6, 64 bytes",
        ),
        # Which of two calls of a line it was is not known.
        (
            MemoryObject(0, 0x100, 64, 1, 0, "", _ALLOCATED, "named.cu:5"),
            0x100, "allocated by the cudaMalloc at named.cu:5, 64 bytes",
        ),
        (
            MemoryObject(0, 0x100, 64, 8, 0, "graph", "a buffer of the launch file", ""),
            0x118, "`graph[3]` (a buffer of the launch file), 64 bytes",
        ),
        # Names of parameters, of which the compiler has only the numbers.
        (
            MemoryObject(0, 0x100, 64, 8, 0, "kernel_param_1", "a buffer of the launch file", ""),
            0x11C, "`pairs[3].y` (a buffer of the launch file), 64 bytes",
        ),
        (
            MemoryObject(0, 0x100, 64, 4, 0, "other_kernel_param_0", _ALLOCATED, ""),
            0x108, "`halves[4]`, allocated by the cudaMalloc, 64 bytes",
        ),
        (
            MemoryObject(0, 0x100, 64, 8, 0, "missing_param_1", "a buffer of the launch file", ""),
            0x118, "`argument 1[3]` (a buffer of the launch file), 64 bytes",
        ),
        # A function's own name is worse than that of the parameter, but better than none.
        (
            MemoryObject(0, 0x100, 64, 1, 0, "kernel_param_0", _ALLOCATED, "named.cu:8"),
            0x108, "`words[2]`, allocated by the cudaMalloc at named.cu:8, 64 bytes",
        ),
        (
            MemoryObject(0, 0x100, 64, 1, 0, "", _ALLOCATED, "named.cu:8"),
            0x108, "`own[2]`, allocated by the cudaMalloc at named.cu:8, 64 bytes",
        ),
        # One of two calls was made.
        (
            MemoryObject(0, 0x100, 4, 1, 0, "", _ALLOCATED, "named.cu:7"),
            0x100, "allocated by the cudaMalloc at named.cu:7, 4 bytes",
        ),
        (
            MemoryObject(0, 0x100, 16, 1, 0, "", _ALLOCATED, "named.cu:13"),
            0x108, "`node->next`, allocated by the cudaMalloc at named.cu:13, 16 bytes",
        ),
    ],
)  # fmt: skip
def test_global_memory(found, address, text):
    assert _text(_header(found), address) == text


def test_shared_memory_is_that_of_the_launch():
    objects = [
        MemoryObject(1, 0, 128, 1, 0, "_ZZ1kPiE1s", "a `__shared__` variable", ""),
        MemoryObject(1, 0, 64, 1, 2, "other", "a `__shared__` variable", ""),
    ]
    assert _text(_header(*objects), 20, Space.SHARED, 1) == "shared `s[5]` (named.cu:3)"
    assert _text(_header(*objects), 20, Space.SHARED, 2) == "shared `other[5]`"


def test_calls_of_one_line_have_their_order():
    first, second = (
        MemoryObject(0, address, 64, 1, 0, "", _ALLOCATED, "named.cu:5") for address in (256, 512)
    )
    header = _header(first, second)
    assert (
        _text(header, 260)
        == "`a.out + 4`, allocated by the cudaMallocManaged at named.cu:5, 64 bytes"
    )
    assert _text(header, 512) == "`b`, allocated by the cudaMalloc at named.cu:5, 64 bytes"


def test_memory_that_the_trace_does_not_know():
    assert _text(_header(), 0x100) is None


def test_both_forms_of_a_trace_have_objects(tmp_path):
    header = _header(MemoryObject(0, 0x100, 4, 4, 0, "lock", "a `__device__` variable", ""))
    trace = Trace.from_events(header, [])
    text, binary = tmp_path / "a.txt", tmp_path / "a.trace"
    trace.write_text(text)
    trace.write_binary(binary)
    assert read_trace(text).header == read_trace(binary).header == header


def test_a_header_with_a_wrong_object(tmp_path):
    path = tmp_path / "a.txt"
    Trace.from_events(_header(), []).write_text(path)
    lines = path.read_text().splitlines(keepends=True)
    lines.insert(1, 'object 0 [0, 256, 0, 1, 0, "lock", "", ""]\n')
    path.write_text("".join(lines))
    with pytest.raises(TraceError, match="Size of object 0 must be"):
        read_trace(path)
