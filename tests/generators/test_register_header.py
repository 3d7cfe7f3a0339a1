"""The C header of the registers, through compilers for machines without an operating system."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from racetrap.generators.description import describe_registers
from racetrap.generators.presets import PRESETS, module_name, with_settings
from racetrap.generators.register_files import write_register_files
from racetrap.generators.systems import system_of

HOST = {"C": ["cc", "-std=c11"], "C++": ["c++", "-std=c++11", "-x", "c++"]}
RISC_V = {
    language: [
        sys.executable, "-m", "ziglang", *command, "-target", f"riscv{bits}-freestanding",
        "-Wno-unused-command-line-argument",
    ]
    for bits in (32, 64)
    for language, command in {
        f"C{bits}": ["cc", "-std=c11"], f"C++{bits}": ["c++", "-std=c++11", "-x", "c++"],
    }.items()
}  # fmt: skip
needs_zig = pytest.mark.skipif(
    find_spec("ziglang") is None,
    reason="no compiler for RISC-V: `pip install ziglang` adds one to this environment",
)
CONFIGURATIONS = {
    **{preset: (preset, []) for preset in PRESETS},
    "regions": ("scord-tiny", ["regions=3"]),
    "everything": (
        "scord-tiny",
        ["access_buffer_depth=4", "access_policy=drop", "valid_segments=64", "banks=256"],
    ),
}


def headers(folder):
    """Header, structure and registers of every configuration."""
    for name, (preset, settings) in CONFIGURATIONS.items():
        params = with_settings(PRESETS[preset].params, settings)
        paths = write_register_files(params, module_name(name), folder, name)
        yield paths["header"], system_of(params).name, describe_registers(params)


def program(header, system, registers):
    """A program that says of every register and field where it must be."""
    lines = [f'#include "{header}"', "#ifndef __cplusplus", "#define static_assert _Static_assert",
             "#endif"]  # fmt: skip
    for name, register in registers.items():
        place = f"__builtin_offsetof({system}_t, {name})"
        lines.append(f'static_assert({place} == {register["offset"]}, "{name}");')
        for field, at in register["fields"].items():
            macro = f"{system}__{name}__{field}".upper()
            mask = ((1 << at["width"]) - 1) << at["offset"]
            lines += [
                f'static_assert({macro}_bm == {mask}u, "{macro}");',
                f'static_assert({macro}_bp == {at["offset"]}, "{macro}");',
                f'static_assert({macro}_bw == {at["width"]}, "{macro}");',
            ]
    lines.append(f"uint32_t first(volatile {system}_t *at) {{ return at->STATUS; }}")
    return "\n".join(lines) + "\n"


def compiled(command, source, target, *options):
    """What a compiler makes of a source for a machine with nothing on it."""
    bare = ["-ffreestanding", "-nostdlib", "-Wall", "-Werror"]
    done = subprocess.run(
        [*command, *bare, *options, "-o", target, source], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


@pytest.mark.parametrize(
    "command",
    [
        *(pytest.param(command, id=f"host {name}") for name, command in HOST.items()),
        *(
            pytest.param(command, id=f"RISC-V {name}", marks=needs_zig)
            for name, command in RISC_V.items()
        ),
    ],
)
def test_every_register_and_field_is_named_and_placed(command, tmp_path):
    for header, system, registers in headers(tmp_path):
        assert "<assert.h>" not in header.read_text()
        source = tmp_path / f"{header.stem}.c"
        source.write_text(program(header, system, registers))
        compiled(command, source, tmp_path / "program.o", "-c")


def test_a_field_elsewhere_is_seen(tmp_path):
    header, system, registers = next(headers(tmp_path))
    registers["STATUS"]["fields"]["idle"]["offset"] += 1
    source = tmp_path / "program.c"
    source.write_text(program(header, system, registers))
    with pytest.raises(AssertionError, match="SCORD__STATUS__IDLE"):
        compiled(HOST["C"], source, tmp_path / "program.o", "-c")


@needs_zig
def test_a_register_is_read_at_once(tmp_path):
    """A machine without misaligned accesses reads a word of unknown place byte by byte."""
    header, system, registers = next(headers(tmp_path))
    source = tmp_path / "program.c"
    source.write_text(program(header, system, registers))
    text = compiled(RISC_V["C32"], source, tmp_path / "program.s", "-S", "-O1").read_text()
    assert "lw" in text.split()
    assert "lbu" not in text.split()
