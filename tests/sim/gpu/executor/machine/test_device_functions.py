"""Output of kernels, against the C library's own `printf`."""

import struct
import subprocess

import pytest

from racetrap.sim.gpu.executor.machine.device_functions import formatted
from racetrap.sim.gpu.executor.machine.errors import KernelFault
from tests.support.gpu.ptx_kernels import Run

#: Format, codes of the values, values, and the values as C has them.
_CASES = [
    ("%d %i %u", "iiI", (-3, 4, 4000000000), "-3, 4, 4000000000u"),
    ("%5d|%-5d|%05d|%+d|% d", "iiiii", (1, 2, 3, 4, 5), "1, 2, 3, 4, 5"),
    ("%x %X %#x %o", "IIII", (255, 255, 255, 8), "255, 255, 255, 8"),
    ("%ld %lld %lu %zu", "qqQQ", (-1, 1 << 40, 1 << 63, 7), "-1l, 1ll << 40, 1ul << 63, (size_t)7"),
    ("%hd %hhu %hhd", "iIi", (70000, 300, 200), "70000, 300, 200"),
    (
        "%f %.2f %8.3f|%e %g",
        "ddddd",
        (1.5, 2.25, -3.5, 1e10, 0.0001),
        "1.5, 2.25, -3.5, 1e10, 1e-4",
    ),
    ("%c%c %%", "II", (65, 98), "65, 98"),
    ("%*d|%.*f|%.3d", "iiidi", (5, 42, 2, 3.14159, 7), "5, 42, 2, 3.14159, 7"),
    ("%d %f %d", "idi", (1, 2.5, 3), "1, 2.5, 3"),
    ("plain", "", (), "0"),
]


def _bytes(codes, values):
    """Values as a kernel lays them out: each aligned to its size."""
    data = b""
    for code, value in zip(codes, values, strict=True):
        size = struct.calcsize(code)
        data += bytes(-len(data) % size) + struct.pack(f"<{code}", value)
    return data


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    """What the C library prints, line by line."""
    folder = tmp_path_factory.mktemp("printf")
    calls = "".join(f'  printf("{text}\\n", {values});\n' for text, _, _, values in _CASES)
    source, program = folder / "print.c", folder / "print"
    source.write_text(f"#include <stdio.h>\nint main() {{\n{calls}}}\n", encoding="utf-8")
    subprocess.run(["gcc", "-w", str(source), "-o", str(program)], check=True)
    return subprocess.run([str(program)], capture_output=True, text=True).stdout.splitlines()


@pytest.mark.parametrize("number", range(len(_CASES)))
def test_numbers(in_c, number):
    text, codes, values, _ = _CASES[number]
    data = _bytes(codes, values)
    found = formatted(text, lambda start, size: data[start : start + size], str)
    assert found == in_c[number]


def test_strings_and_pointers():
    data = _bytes("QQ", (0x1234, 0x5678))
    found = formatted(
        "%6s|%p", lambda start, size: data[start : start + size], {0x1234: "abc"}.__getitem__
    )
    assert found == "   abc|0x5678"


#: Declarations of the functions.
DECLARED = """
.extern .func (.param .b64 p) malloc (.param .b64 size);
.extern .func free (.param .b64 p);
"""


def _run(body):
    return Run(body, outside=DECLARED)


ALLOCATE = """{{ .param .b64 a; .param .b64 b; st.param.b64 [a], {size};
    call.uni (b), malloc, (a); ld.param.b64 %d1, [b]; }}"""
FREE = "{ .param .b64 a; st.param.b64 [a], %d1; call.uni free, (a); }"


def test_memory_that_threads_allocate():
    body = ALLOCATE.format(size=8) + (
        "st.global.u32 [%d1], %r31; add.u64 %d2, %d1, 4; st.global.u32 [%d2], 5;"
        "ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d2]; add.u32 %r1, %r1, %r2;"
        "st.global.u32 [%d33], %r1;"
    )
    run = _run(body + FREE)
    assert run.out()[:32].tolist() == list(range(5, 37))
    first, *_ = run.events("STORE")
    assert len({lane.address for lane in first.lanes}) == 32


@pytest.mark.parametrize("size", [0, 1 << 40])
def test_no_memory_to_allocate(size):
    body = ALLOCATE.format(size=size) + "cvt.u32.u64 %r1, %d1; st.global.u32 [%d33], %r1;"
    run = _run("st.global.u32 [%d33], 9;" + body + FREE)
    assert run.out()[:32].tolist() == [0] * 32


def test_an_access_behind_what_was_allocated():
    with pytest.raises(KernelFault, match=r"must be inside a buffer, not .* malloc\(8\)"):
        _run(ALLOCATE.format(size=8) + "st.global.u32 [%d1+8], %r31;")


def test_what_was_not_allocated_cannot_be_freed():
    with pytest.raises(KernelFault, match=r"^Address 0x5 is not in a buffer \(thread"):
        _run("mov.u64 %d1, 5;" + FREE)
