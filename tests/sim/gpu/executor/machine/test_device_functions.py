"""Output of kernels, against the C library's own `printf`."""

import struct
import subprocess

import pytest

from racetrap.sim.gpu.executor.machine.device_functions import formatted

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
