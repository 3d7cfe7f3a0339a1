"""C kernels for Vortex: compiled for RISC-V, and what the testbench needs of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from racetrap.golden_model.vortex.window_access import MEMORY, WINDOW_SHIFT
from racetrap.sim.content_cache import cache_folder, content_key, keep
from racetrap.sim.cosim.vortex.harness import WINDOW_CODE
from racetrap.sim.failure import Failure
from racetrap.sim.gnu_tools import run_tool, source_lines
from racetrap.sim.riscv import elf_segments, zig

#: Folder of the header, the startup code and the linker script.
KERNELS = Path(__file__).parent / "kernels"
_PARTS = ("vortex.h", "start.S", "kernel.ld")
_OPTIONS = (
    "-O1", "-g", "-ffreestanding", "-fno-stack-protector", "-nostdlib", "-Wall", "-Werror",
)  # fmt: skip
_ZIG = (
    "cc", "-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m+zicsr",
    "-fno-sanitize=all", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables",
)  # fmt: skip
_GCC = ("-march=rv32im_zicsr_zifencei", "-mabi=ilp32", "-mno-relax")
#: Bytes of code and stacks of each core, and of the memory that all share.
OWN_BYTES, SHARED_BYTES = 1 << 19, 1 << 16


class KernelError(Failure):
    """A kernel cannot be compiled or loaded."""


def compiler() -> tuple[str, ...]:
    """Command of a C compiler for RISC-V: that of the package `ziglang`, or Debian's GCC.

    Raises
    ------
    KernelError
        If there is none.
    """
    if (program := zig()) is not None:
        return program, *_ZIG
    gcc = shutil.which("riscv64-unknown-elf-gcc")
    if gcc is None:
        raise KernelError(
            "A C compiler for RISC-V must be installed: `make vortex` or `pip install ziglang`, or "
            "Debian's `apt install gcc-riscv64-unknown-elf`"
        )
    return gcc, *_GCC


@dataclass(frozen=True)
class KernelImage:
    """A compiled kernel.

    Parameters
    ----------
    source : Path
        Its C source.
    elf : Path
        The compiled program.
    """

    source: Path
    elf: Path

    @cached_property
    def symbols(self) -> dict[str, tuple[int, int]]:
        """Address and bytes of each function and variable by name."""
        found = {}
        listed = run_tool(["nm", "-S", str(self.elf)], "Symbols of the kernel cannot be read")
        for line in listed.splitlines():
            words = line.split()
            if len(words) == 4:
                found[words[3]] = int(words[0], 16), int(words[1], 16)
        return found

    @property
    def entry(self) -> int:
        """Address of the kernel's function."""
        return self.symbols["kernel"][0]

    def memory(self, window: int, size: int) -> bytes:
        """Bytes of a window, as they are loaded."""
        memory, base = bytearray(size), window << WINDOW_SHIFT
        for address, data in elf_segments(self.elf, self.elf.read_bytes()):
            if address >> WINDOW_SHIFT == window and data:
                place = address - base
                if place + len(data) > size:
                    raise KernelError(
                        f"{self.source}: kernel must fit in {size} bytes, and its end is at "
                        f"{place + len(data)}"
                    )
                memory[place : place + len(data)] = data
        return bytes(memory)

    @cached_property
    def code(self) -> bytes:
        """Memory of each core's own."""
        return self.memory(WINDOW_CODE, OWN_BYTES)

    @property
    def data(self) -> bytes:
        """Memory that all cores share."""
        return self.memory(MEMORY, SHARED_BYTES)

    def variable(self, name: str, memory: bytes) -> list[int]:
        """Words of a global variable in a memory that all cores share; none if there is none."""
        if name not in self.symbols:
            return []
        address, size = self.symbols[name]
        place = address - (MEMORY << WINDOW_SHIFT)
        return np.frombuffer(memory[place : place + size], dtype="<u4").tolist()

    def instruction(self, pc: int) -> int:
        """The word of an instruction."""
        return int.from_bytes(self.code[pc & 0x0FFF_FFFF : (pc & 0x0FFF_FFFF) + 4], "little")

    def lines(self, pcs: Iterable[int]) -> dict[int, str]:
        """Source line of each program counter that has one."""
        return source_lines(self.elf, {pc: pc + 1 for pc in pcs})


def compile_kernel(source: Path, definitions: Sequence[str] = ()) -> KernelImage:
    """Compile a kernel, or find it in the cache.

    Parameters
    ----------
    source : Path
        Its C source; headers beside it are found.
    definitions : sequence of str
        Macros, as ``NAME`` or ``NAME=value``.

    Raises
    ------
    KernelError
        If there is no compiler, or it refuses the source, or the source has no function `kernel`.
    """
    command = [
        *compiler(), *_OPTIONS, *(f"-D{each}" for each in definitions), f"-I{KERNELS}",
        "-T", str(KERNELS / "kernel.ld"), str(KERNELS / "start.S"), str(source.resolve()),
    ]  # fmt: skip
    beside = sorted(source.resolve().parent.glob("*.h"))
    files = [source, *beside, *(KERNELS / part for part in _PARTS)]

    def build(target: Path) -> None:
        run_tool([*command, "-o", str(target)], f"{source}: kernel cannot be compiled",
                 error=KernelError)  # fmt: skip

    key = content_key(command, files=files)
    elf = keep(cache_folder() / "vortex-kernels" / f"{key}.elf", build)
    image = KernelImage(source, elf)
    if "kernel" not in image.symbols:
        raise KernelError(f"{source}: source must have a function `kernel(unsigned argument)`")
    return image
