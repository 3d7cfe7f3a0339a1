"""`racetrap trace record --accelerator`: from a driver to a trace file, and what it says."""

import json

import pytest

from racetrap.golden_model.trace import read_trace

_PROGRAM = """
#include <stdlib.h>
#include <racetrap_accelerator.h>
static char buffer[64] __attribute__((aligned(64))), device[64];
int main(int count, char **arguments) {
    if (count != 2) return 7;
    for (int i = 0; i < 64; i++) buffer[i] = atoi(arguments[1]);
    racetrap_dma_read(0, buffer, device, 64);
    racetrap_sync(0);
    return 0;
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "driver.c"
    path.write_text(_PROGRAM)
    return path


def test_record_and_check(racetrap, program, tmp_path):
    target, report = tmp_path / "x.trace", tmp_path / "x.json"
    result = racetrap(
        "trace", "record", "--accelerator", "-o", target, "--json", report,
        "--set", "line_bytes=64", "--set", "granule_bytes=16", "--set", "prefetch=true",
        "--set", "base=0x20000030", program, "4",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "operations of a CPU and its accelerators, layout of the host" in result.stdout
    data, trace = json.loads(report.read_text()), read_trace(target)
    assert data["events"] == len(trace) == sum(data["kinds"].values())
    assert data["memory"] == {
        "line_bytes": 64, "granule_bytes": 16, "engines": 1, "prefetch": True,
        "uncached_snoops_cache": False, "write_through": False,
    }  # fmt: skip
    result = racetrap("check", target)
    assert result.exit_code == 1
    assert "(driver.c:7)" in result.stdout
    assert "(driver.c:8)" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--accelerator", "--seed", 3], "Option --seed is for a program with threads"),
        (["--accelerator", "--set", "line_bytes=24"], "Cache line must be a power of two, not 24"),
        (["--accelerator", "--set", "alignment=24"], "power of two, not 24"),
        (["--set", "line_bytes=64"], "Option --set is for a program with accelerators"),
        (["--set", "padding=8"], "Option --set is for a program with accelerators"),
    ],
)
def test_options_that_do_not_fit(racetrap, program, options, words):
    result = racetrap("trace", "record", *options, program, "4")
    assert result.exit_code == 2
    assert words in result.stderr


def test_failing_program(racetrap, program, tmp_path):
    result = racetrap("trace", "record", "--accelerator", "-o", tmp_path / "x", program)
    assert result.exit_code == 2
    assert "7" in result.stderr
    assert not (tmp_path / "x").exists()


def test_map_without_symbols(racetrap, program, tmp_path):
    (tmp_path / "empty.map").write_text("nothing\n")
    result = racetrap(
        "trace", "record", "--accelerator", "--map", tmp_path / "empty.map", program, "4"
    )
    assert result.exit_code == 2
    assert "Map has no symbols with addresses" in result.stderr
