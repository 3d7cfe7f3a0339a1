"""Recording programs with accelerators: hooks, shims, consolidation, heap, map and errors."""

import pytest

from racetrap.golden_model.noncoherent.noncoherent import Noncoherent
from racetrap.golden_model.trace.noncoherent.operations import MemorySystem, OperationKind
from racetrap.sim.accelerator.compiled.detector import run_compiled
from racetrap.sim.accelerator.recorder import Allocator, record_accelerator
from racetrap.sim.cpu.errors import RecordError

K = OperationKind

_DRIVER = """
#include <stdint.h>
#include <racetrap_accelerator.h>
static uint32_t out[64] __attribute__((aligned(64)));
static uint32_t in[64] __attribute__((aligned(64)));
static volatile uint32_t mailbox __attribute__((aligned(64)));
static uint32_t device[64];
static void work(void *argument) { for (int i = 0; i < 64; i++) device[i] += *(int *)argument; }
int main(void) {
    static const int added = 5;
    racetrap_uncached(&mailbox, 64);
    for (int i = 0; i < 64; i++) out[i] = i;
    mailbox = 7;
    racetrap_cache_clean(out, sizeof out);
    racetrap_dma_read(1, out, device, sizeof out);
    racetrap_device_run(1, work, &added, sizeof added);
    racetrap_dma_write_2d(1, in, device, 16, 4, 64, 16);
    racetrap_sync(1);
    racetrap_cache_invalidate(in, sizeof in);
    return !(in[0] == 5 && in[16] == 9 && in[1] == 6 && mailbox == 7);
}
"""


def _kinds(trace):
    return [K(operation.kind).name.lower() for operation in trace]


def test_driver(record):
    trace = record(_DRIVER)
    assert [kind for kind in _kinds(trace) if kind != "cached_read"] == [
        "cached_write", "uncached_write", "cache_clean", "dma_read", "dma_write", "sync",
        "cache_invalidate", "uncached_read",
    ]  # fmt: skip
    operations = {operation.kind: operation for operation in trace}
    assert operations[K.CACHED_WRITE].size == 256  # one record for 64 stores
    assert operations[K.DMA_READ][1:3] == operations[K.CACHE_CLEAN][1:3]
    written = operations[K.DMA_WRITE]
    assert (written.size, written.rows, written.stride, written.engine) == (16, 4, 64, 1)
    places = {trace.header.locations[operation.pc] for operation in trace if operation.pc}
    assert {"case.c:12", "case.c:14", "case.c:17"} <= places
    assert trace.header.memory.engines == 2
    assert trace.header.layout == "host"
    assert not run_compiled(Noncoherent(trace.header.memory), trace.events).races


def test_a_missing_clean_is_found(record):
    trace = record(_DRIVER.replace("racetrap_cache_clean(out, sizeof out);", ""))
    (race,) = run_compiled(Noncoherent(trace.header.memory), trace.events).races
    assert race.rule.value == "5b"
    assert trace.header.locations[race.earlier.pc] == "case.c:12"


#: Calls of each shim, and what they are in a trace.
_SHIMS = {
    "cmsis": (
        "core_cm7.h",
        "SCB_CleanDCache_by_Addr(data, 40); SCB_InvalidateDCache_by_Addr(data, 40);"
        "SCB_CleanInvalidateDCache_by_Addr(data, 40); SCB_CleanDCache();"
        "SCB_CleanInvalidateDCache(); SCB_InvalidateDCache(); __DSB();",
        ["cache_clean", "cache_invalidate", "cache_flush", "clean_all", "flush_all",
         "invalidate_all"],
    ),
    "xilinx": (
        "xil_cache.h",
        "Xil_DCacheFlushRange((intptr_t)data, 64); Xil_DCacheFlush();"
        "Xil_DCacheInvalidateRange((intptr_t)data, 64); Xil_DCacheFlushLine((intptr_t)data);",
        ["cache_flush", "flush_all", "cache_invalidate", "cache_flush"],
    ),
    "xilinx-partial-lines": (
        "xil_cache.h",
        "Xil_DCacheInvalidateRange((intptr_t)data + 4, 72);",
        ["cache_flush", "cache_flush", "cache_invalidate"],
    ),
    "linux": (
        "linux/dma-mapping.h",
        "dma_addr_t at = dma_map_single(0, data, 64, DMA_TO_DEVICE);"
        "dma_unmap_single(0, at, 64, DMA_TO_DEVICE);"
        "at = dma_map_single(0, data, 64, DMA_FROM_DEVICE);"
        "dma_sync_single_for_cpu(0, at, 64, DMA_FROM_DEVICE);"
        "dma_sync_single_for_device(0, at, 64, DMA_TO_DEVICE);",
        ["cache_clean", "cache_clean", "cache_invalidate", "cache_clean"],
    ),
    "vbx": (
        "vbx.h",
        "vbx_sp_t *v = vbx_sp_malloc(64); vbx_dcache_flush(data, 64);"
        "vbx_dma_to_vector(v, data, 64); vbx_dma_to_host(data, v, 64); vbx_sync();",
        ["cache_flush", "dma_read", "dma_write", "sync"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _SHIMS)
def test_shim(record, name):
    header, calls, due = _SHIMS[name]
    trace = record(
        f"#include <stdint.h>\n#include <{header}>\n"
        "static char data[128] __attribute__((aligned(64)));\n"
        f"int main(void) {{ {calls} return data[0]; }}\n"
    )
    assert [kind for kind in _kinds(trace) if kind not in ("cached_read", "cached_write")] == due


def test_descriptor_chain(record):
    """The engine fetches descriptors, moves data, and writes each status."""
    trace = record("""
#include <string.h>
#include <descriptor_dma.h>
static char from[2][8] = {"one", "two"}, to[16];
static struct dma_descriptor chain[2];
int main(void) {
    for (int i = 0; i < 2; i++)
        chain[i] = (struct dma_descriptor){(uintptr_t)from[i], (uintptr_t)(to + 8 * i),
                                           i ? 0 : (uintptr_t)&chain[1], 8, 0};
    descriptor_dma_start(3, chain);
    descriptor_dma_wait(3);
    return strcmp(to, "one") || strcmp(to + 8, "two") || chain[1].status != DESCRIPTOR_DONE;
}
""")
    dma = [operation for operation in trace if operation.kind in (K.DMA_READ, K.DMA_WRITE)]
    assert [K(operation.kind).name for operation in dma] == [
        "DMA_READ", "DMA_READ", "DMA_WRITE", "DMA_WRITE"
    ] * 2  # fmt: skip
    assert {operation.engine for operation in dma} == {3}


_HEAP = """
#include <stdlib.h>
int main(void) {
    volatile char *one = malloc(20), *other = malloc(20);
    *one = *other = 1;
    return 0;
}
"""


def _written(trace):
    return [operation.address for operation in trace if operation.kind == K.CACHED_WRITE]


@pytest.mark.parametrize(
    ("allocator", "distance"),
    [
        (Allocator(), 48),
        (Allocator(padding=8, alignment=8), 32),
        (Allocator(padding=0, alignment=64), 64),
    ],
)
def test_heap_of_the_target(record, allocator, distance):
    writes = [
        one.address for one in record(_HEAP, allocator=allocator) if one.kind == K.CACHED_WRITE
    ]
    assert abs(writes[1] - writes[0]) == distance


def test_heap_begins_where_the_target_has_it_in_a_line(record):
    traces = [record(_HEAP, allocator=Allocator(base=base)) for base in (0x20001000, 0x20001030)]
    low, high = (
        min(one.address for one in trace if one.kind == K.CACHED_WRITE) for trace in traces
    )
    assert high - low == 0x30


_MAP = """\
 .bss.out       0x0000000024000000      0x100 driver.o
 .bss.in
                0x0000000024000120      0x100 driver.o
                0x0000000024000240                mailbox
"""


def test_addresses_of_the_target(record, tmp_path):
    path = tmp_path / "target.map"
    path.write_text(_MAP)
    trace = record(_DRIVER, target_map=path)
    operations = {operation.kind: operation for operation in trace}
    assert trace.header.layout == "target"
    assert operations[K.DMA_READ].address == 0x24000000
    assert operations[K.DMA_WRITE].address == 0x24000120
    assert operations[K.UNCACHED_WRITE].address == 0x24000240
    # The target's layout has a race that the host's does not have.
    path.write_text(_MAP.replace("24000000", "24000010").replace("24000240", "24000110"))
    (race,) = run_compiled(
        Noncoherent(trace.header.memory), record(_DRIVER, target_map=path).events
    ).races
    assert race.rule.value == "2b"
    assert race.overlap.value == "granule"
    path.write_text(_MAP.replace("mailbox", "letterbox"))
    assert record(_DRIVER, target_map=path).header.layout == "mixed"
    path.write_text("nothing\n")
    with pytest.raises(ValueError, match=r"target\.map: Map has no symbols"):
        record(_DRIVER, target_map=path)


def test_memory_goes_into_the_header(record):
    memory = MemorySystem(line_bytes=64, granule_bytes=16, prefetch=True)
    assert record(_HEAP, memory=memory).header.memory == memory


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("racetrap_sync(64);", "Engine must be from 0 to 63, not 64"),
        (
            "char d[64]; racetrap_dma_read_2d(0, d, d, 16, 2, 8, 16);",
            "Stride of DMA must be at least the row's 16 bytes, not 8",
        ),
        ("return 3;", "3"),
    ],
)
def test_errors(record, body, words):
    with pytest.raises(RecordError, match=words):
        record(f"#include <racetrap_accelerator.h>\nint main(void) {{ {body} return 0; }}\n")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("pthread_create((void *)&buffer, 0, work, 0);", "pthread_create cannot be recorded"),
        ("signal(2, (void *)work);", "signal cannot be recorded"),
    ],
)
def test_what_one_cpu_does_not_have(record, call, words):
    text = f"""
#include <pthread.h>
#include <signal.h>
static long buffer[8];
static void *work(void *unused) {{ return unused; }}
int main(void) {{ {call} return 0; }}
"""
    with pytest.raises(RecordError, match=words):
        record(text)


def test_c_plus_plus(tmp_path):
    """Containers, static variables of functions, and the heap of the target."""
    source = tmp_path / "case.cpp"
    source.write_text("""
#include <vector>
#include <racetrap_accelerator.h>
static std::vector<char> &buffer() { static std::vector<char> bytes(256); return bytes; }
int main() {
    static char device[256];
    for (char &byte : buffer()) byte = 7;
    racetrap_dma_read(0, buffer().data(), device, 256);
    racetrap_sync(0);
    return device[255] != 7;
}
""")
    trace = record_accelerator([source]).trace
    races = run_compiled(Noncoherent(trace.header.memory), trace.events).races
    assert {race.rule.value for race in races} == {"5b"}
    assert trace.header.locations[races[-1].later.pc] == "case.cpp:8"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"alignment": 24}, "power of two, not 24"),
        ({"padding": -1}, "from 0 to 4096, not -1"),
        ({"base": -1}, "Begin of the heap"),
    ],
)
def test_allocator(fields, words):
    with pytest.raises(ValueError, match=words):
        Allocator(**fields)
