"""Firmware for the example systems, from C sources that the recorder takes as well.

``python -m racetrap.sim.soc.firmware`` compiles the programs with accelerators and keeps their
images beside this file; it needs the compiler of the package ``ziglang``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from racetrap.golden_model.noncoherent.packets import CACHE_RULES, DMA_RULES
from racetrap.rtl.common.report_writer import RECORD_BYTES
from racetrap.rtl.noncoherent.registers import compile_registers
from racetrap.rtl.soc import dma_engine
from racetrap.rtl.soc import params as soc
from racetrap.sim.accelerator.programs.catalogue import ACCELERATOR_PROGRAMS
from racetrap.sim.accelerator.recorder import Allocator
from racetrap.sim.failure import Failure
from racetrap.sim.gnu_tools import run_tool
from racetrap.sim.riscv import zig
from racetrap.sim.soc.build import definitions, places
from racetrap.sim.soc.image import Image, read_image, write_image
from racetrap.sim.soc.systems import ARGUMENTS, LEFT_OUT, SYSTEMS

#: Kept images, by program.
IMAGES = Path(__file__).parent / "images"
_FOLDER = Path(__file__).parent / "firmware"
_ACCELERATOR = Path(__file__).parents[1] / "accelerator"
_PAGE = 4096
#: Local memory kept for the stack, and the vector engine's own.
_STACK_BYTES, _SCRATCHPAD = 64 << 10, 256 << 10
_TARGET = ("-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m")
_COMPILE = (
    *_TARGET, "-O2", "-g", "-ffreestanding", "-fno-builtin", "-fno-sanitize=all",
    "-fno-stack-protector", "-fdata-sections", "-ffunction-sections", "-fno-pic",
    # A call that is not the last instruction has a place of its own.
    "-fno-optimize-sibling-calls",
)  # fmt: skip
#: Registers of the monitor that firmware uses, and bits in them.
_MONITOR_REGISTERS = (
    "CONTROL", "STATUS", "REPORT_BASE_LO", "REPORT_BASE_HI", "REPORT_CAPACITY_LOG2", "REPORT_HEAD",
    "REPORT_TAIL", "REPORTS_DROPPED",
)  # fmt: skip
_LIBRARY = ("start.S", "target.c", "library.c", "monitor.c")
_RUNTIME = ("api", "drivers", "descriptors", "vbx")
#: Firmware that programs the monitor and reads its reports itself.
MONITORED = "monitored"
#: Source of each kept image, and the layout of its heap.
SOURCES = {
    **{name: (each.source, each.allocator) for name, each in ACCELERATOR_PROGRAMS.items()},
    MONITORED: (_FOLDER / f"{MONITORED}.c", Allocator()),
}


def image_of(program: str) -> Path:
    """A kept image: of a program with accelerators, or ``MONITORED``."""
    return IMAGES / f"{program}.hex"


def addresses(heap: Allocator) -> str:
    """Header with the system's addresses, and the layout of the heap."""
    registers = (
        *((f"ENGINE_{name.upper()}", at) for name, at in dma_engine.REGISTERS.items()),
        *((f"CONTROL_{name.upper()}", at) for name, at in soc.CONTROL.items()),
    )
    line = max(system.params.cache.line_bytes for system in SYSTEMS.values())
    values = (
        *_monitor_values(),
        ("LOCAL_BASE", soc.LOCAL_BASE), ("MEMORY_BASE", soc.MEMORY_BASE),
        ("MEMORY_BYTES", soc.MEMORY_BYTES), ("ENGINE_BASE", soc.ENGINE_BASE),
        ("CONTROL_BASE", soc.CONTROL_BASE), ("ARGUMENTS", ARGUMENTS), ("LEFT_OUT", LEFT_OUT),
        ("PAGE", _PAGE), ("STACK_BYTES", _STACK_BYTES), ("SCRATCHPAD", _SCRATCHPAD), ("ENGINES", 1),
        ("LONGEST_LINE_BYTES", line), ("WINDOWS", soc.WINDOWS), ("WINDOWS_AT", soc.WINDOWS_AT),
        ("ENGINE_START_READ", dma_engine.START_READ),
        ("ENGINE_START_WRITE", dma_engine.START_WRITE), ("ENGINE_DONE", dma_engine.DONE),
        ("ENGINE_ROOM", dma_engine.ROOM), ("HEAP_OFFSET", heap.base or 0),
        ("HEAP_PADDING", heap.padding), ("HEAP_ALIGNMENT", heap.alignment), *registers,
    )  # fmt: skip
    lines = (*definitions(values), *places("RECORD", soc.SocParams().taps.monitor.report_layout))
    # The linker's scripts know no suffix of numbers.
    return "\n".join(line.removesuffix("u") for line in lines) + "\n"


def _monitor_values() -> Iterator[tuple[str, int]]:
    """Where the monitor's registers are, bits in them, and the size of a record."""
    yield from (("MONITOR_BASE", soc.MONITOR_BASE), ("RECORD_BYTES", RECORD_BYTES))
    for register in compile_registers(soc.SocParams().taps.monitor).registers():
        name = register.inst_name
        if name in _MONITOR_REGISTERS:
            yield f"MONITOR_{name}", register.address_offset
        if name in ("CONTROL", "STATUS"):
            for field in register.fields():
                yield f"MONITOR_{name}_{field.inst_name.upper()}", 1 << field.low


def _rules() -> str:
    """Header with the rule that each kind of operation breaks, with DMA and with the cache."""
    lines = []
    for name, rules in (("DMA", DMA_RULES), ("CACHE", CACHE_RULES)):
        texts = ", ".join(f'[{kind.value}] = "{rule.value}"' for kind, rule in rules.items())
        lines.append(f"static const char *const {name}_RULES[] = {{{texts}}};")
    return "\n".join([*lines, ""])


def compile_firmware(source: Path, heap: Allocator, target: Path) -> None:
    """Compile a program with accelerators for the example systems.

    Parameters
    ----------
    source : Path
        The program, in C.
    heap : Allocator
        Layout of its heap.
    target : Path
        The ELF file.

    Raises
    ------
    Failure
        If the compiler is missing or refuses a source.
    """
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        folder = Path(name)
        (folder / "addresses.h").write_text(addresses(heap), encoding="ascii")
        (folder / "rules.h").write_text(_rules(), encoding="ascii")
        include = [f"-I{each}" for each in (folder, _FOLDER, _FOLDER / "include",
                                            _ACCELERATOR / "include")]  # fmt: skip
        sources = [
            (source, "program.o", ()),
            *((_FOLDER / each, f"{each}.o", ()) for each in _LIBRARY),
            *((_ACCELERATOR / "runtime" / f"{each}.c", f"{each}.o", ("-include", "target.h"))
              for each in _RUNTIME),
        ]  # fmt: skip
        for each, made, options in sources:
            _zig(*_COMPILE, *include, *options, "-c", str(each), "-o", str(folder / made))
        script = folder / "link.ld"
        text = (_FOLDER / "link.ld").read_text(encoding="ascii")
        for line in addresses(heap).splitlines():
            _, word, value = line.split()
            text = text.replace(f"@{word}@", value)
        script.write_text(text, encoding="ascii")
        _zig(
            *_TARGET, "-O2", "-nostdlib", "-Wl,--gc-sections", f"-Wl,-T,{script}",
            *(str(folder / made) for _, made, _ in sources), "-lcompiler_rt", "-o", str(target),
        )  # fmt: skip


def read_firmware(path: Path) -> Image:
    """Image of a file: an image, or a program in C, which is compiled.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is no image.
    Failure
        If it cannot be compiled.
    """
    if path.suffix != ".c":
        return read_image(path)
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        elf, text = Path(name) / "firmware.elf", Path(name) / "firmware.hex"
        compile_firmware(path, Allocator(), elf)
        # As text the image holds its source lines itself.
        write_image(read_image(elf), text, ())
        return replace(read_image(text), path=path)


def _zig(*options: str) -> None:
    if (program := zig()) is None:
        raise Failure("Package ziglang is missing: install the extra soc (pip install '.[soc]')")
    run_tool([program, "cc", *options], "Firmware cannot be compiled")


def _main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        for program, (source, heap) in SOURCES.items():
            elf = Path(name) / f"{program}.elf"
            compile_firmware(source, heap, elf)
            place = source.relative_to(_FOLDER.parents[2])
            comments = (f"{place}, compiled by `python -m racetrap.sim.soc.firmware`",)
            write_image(read_image(elf), image_of(program), comments)


if __name__ == "__main__":
    _main()
