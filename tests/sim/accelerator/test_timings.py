"""Programs under random timings: whose result depends on them, and whose does not."""

import pytest

from racetrap.golden_model.trace.noncoherent.operations import MemorySystem
from racetrap.sim.accelerator.timings import TimingProgram
from racetrap.sim.cpu.errors import RecordError

_TEXT = """
#include <stdio.h>
#include <string.h>
#include <racetrap_accelerator.h>
static char buffer[64] __attribute__((aligned(64))), device[64];
static int has(char **omitted, const char *name) { return !omitted[1] || strcmp(omitted[1], name); }
static void work(void *unused) { for (int i = 0; i < 64; i++) device[i]++; }
int main(int count, char **arguments) {
    if (!has(arguments, "return")) return 1;
    for (int i = 0; i < 64; i++) buffer[i] = i;
    if (has(arguments, "flush")) racetrap_cache_flush(buffer, 64);
    volatile char peek = buffer[40];  // the line is filled again
    (void)peek;
    racetrap_dma_read(0, buffer, device, 64);
    racetrap_device_run(0, work, "", 1);
    racetrap_dma_write(0, buffer, device, 64);
    if (has(arguments, "sync")) racetrap_sync(0);
    if (has(arguments, "invalidate")) racetrap_cache_invalidate(buffer, 64);
    int sum = 0;
    for (int i = 0; i < 64; i++) sum += buffer[i];
    printf("%d\\n", sum);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("timings")
    (folder / "case.c").write_text(_TEXT)
    return TimingProgram([folder / "case.c"], folder)


def _run(program, *arguments, seed=1, **options):
    memory = MemorySystem(line_bytes=32, granule_bytes=16, prefetch=True, **options)
    return program.run(arguments, 100, memory=memory, seed=seed)


def test_complete_program_has_one_result(program):
    runs = _run(program)
    assert runs.wrong == 0
    assert runs.first_wrong is None
    assert runs.reference.text == f"{sum(range(1, 65))}\n"
    assert runs.outcomes.total() == 100


@pytest.mark.parametrize("omission", ["flush", "sync", "invalidate"])
def test_omissions_show(program, omission):
    runs = _run(program, omission)
    assert runs.wrong > 0
    assert runs.reference.text == f"{sum(range(1, 65))}\n"
    # A seed gives the same run again, whatever the number of runs before.
    again = _run(program, omission, seed=runs.first_wrong)
    assert again.first_wrong == runs.first_wrong


def test_write_through_needs_no_flush(program):
    assert _run(program, "flush", write_through=True).wrong == 0
    assert _run(program, "invalidate", write_through=True).wrong > 0


def test_failing_program(program):
    with pytest.raises(RecordError, match="Program must return 0, not 1"):
        _run(program, "return")


def test_granule_that_the_model_cannot_keep(program):
    with pytest.raises(RecordError, match="Granule must be at least 4 bytes, not 2"):
        program.run([], 1, memory=MemorySystem(line_bytes=32, granule_bytes=2))


def test_snooping_is_not_modelled(program):
    with pytest.raises(ValueError, match="must bypass the cache"):
        program.run([], 1, memory=MemorySystem(uncached_snoops_cache=True))
