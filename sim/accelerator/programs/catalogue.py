"""Catalogue of the programs with accelerators: the thesis' eleven, and six modelled on firmware.

Ref: Young (UBC 2020) Section 5.1, Table 5.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from racetrap.golden_model.trace.noncoherent.operations import MemorySystem
from racetrap.sim.accelerator.recorder import Allocator

_FOLDER = Path(__file__).parent
#: The thesis' processor, inferred from the addresses of its races: write-backs of 64 bytes.
_THESIS = MemorySystem(line_bytes=64, granule_bytes=64)
#: Its heap: without padding, ``vector_in1`` of the vector addition begins at the offset in its line
#: that the published race shows, at 0x120f070.
_THESIS_HEAP = Allocator(base=0x30)
#: Controllers whose cache may prefetch lines.
_FIRMWARE = MemorySystem(line_bytes=32, granule_bytes=32, prefetch=True)


@dataclass(frozen=True, kw_only=True)
class AcceleratorProgram:
    """A program that the recorder and the timing model compile and run.

    Parameters
    ----------
    name : str
        Short name, also that of the source.
    title : str
        Short description.
    group : str
        ``"thesis"`` or ``"firmware"``.
    omissions : tuple of str
        Names of the syncs, flushes and paddings that can be removed, each removal a bug.
    least : int
        Smallest size, for runs in simulated hardware.
    small : int
        Size for runs under many timings.
    large : int
        Size of the original.
    thesis_name : str
        Name of the original in the thesis' Table 5.1; empty if there is none.
    """

    name: str
    title: str
    group: str
    omissions: tuple[str, ...]
    least: int
    small: int
    large: int
    thesis_name: str = ""

    @property
    def source(self) -> Path:
        """Its source."""
        return _FOLDER / f"{self.name}.c"

    @property
    def memory(self) -> MemorySystem:
        """Its target hardware."""
        return _THESIS if self.group == "thesis" else _FIRMWARE

    @property
    def allocator(self) -> Allocator:
        """Its heap."""
        return _THESIS_HEAP if self.group == "thesis" else Allocator()


def _of_thesis(
    name: str, title: str, original: str, sizes: tuple[int, int, int], *omissions: str
) -> AcceleratorProgram:
    least, small, large = sizes
    return AcceleratorProgram(
        name=name, title=title, group="thesis", omissions=omissions, least=least, small=small,
        large=large, thesis_name=original,
    )  # fmt: skip


def _firmware(name: str, title: str, least: int, *omissions: str) -> AcceleratorProgram:
    return AcceleratorProgram(
        name=name,
        title=title,
        group="firmware",
        omissions=omissions,
        least=least,
        small=8,
        large=1000,
    )


ACCELERATOR_PROGRAMS = {
    program.name: program
    for program in (
        _of_thesis("libfixmath", "fixed-point square root and division", "vbw_libfixmath",
                   (16, 64, 1024), "flush", "root-sync", "division-sync", "padding"),
        _of_thesis("mtx_fir", "2-D FIR filter, rows fetched ahead", "vbw_mtx_fir_t",
                   (8, 10, 256), "flush", "sync", "padding"),
        _of_thesis("mtx_median_argb32", "3x3 median of 32-bit pixels, in place",
                   "vbw_mtx_median_argb32", (4, 8, 540), "flush", "sync"),
        _of_thesis("mtx_median", "5x5 median of bytes", "vbw_mtx_median_t",
                   (6, 8, 128), "flush-input", "flush-output", "sync"),
        _of_thesis("mtx_motest", "motion estimation", "vbw_mtx_motest",
                   (4, 4, 16), "sync", "padding"),
        _of_thesis("mtx_sobel", "Sobel filter, one sync at the end", "vbw_mtx_sobel",
                   (4, 8, 1080), "flush", "sync", "padding"),
        _of_thesis("mtx_xp", "matrix transposes, the cache flushed around", "vbw_mtx_xp_t",
                   (8, 8, 512), "flush-before", "sync"),
        _of_thesis("vec_add", "vector addition", "vbw_vec_add_t",
                   (16, 64, 16384), "sync", "padding"),
        _of_thesis("vec_fft", "FFT with twiddle factors in shared memory", "vbw_vec_fft",
                   (3, 5, 10), "flush", "sync", "padding"),
        _of_thesis("vec_fir", "FIR filter for six types", "vbw_vec_fir_t",
                   (16, 32, 1024), "sync", "third-sync", "last-sync", "padding"),
        _of_thesis("vec_power", "vector power, two exponents", "vbw_vec_power_t",
                   (16, 64, 1024), "first-sync", "second-sync", "padding"),
        _firmware("adc_ring", "ADC samples by circular DMA into two halves", 4,
                  "wait", "invalidate", "alignment"),
        _firmware("camera", "camera with two frame buffers", 3,
                  "wait", "for-cpu", "for-device", "swap"),
        _firmware("crypto", "encryption in place", 2, "flush", "wait", "invalidate", "peek"),
        _firmware("eth_descriptors", "Ethernet descriptors, two in a line", 6,
                  "wait", "invalidate", "uncached"),
        _firmware("scatter_gather", "scatter-gather over unaligned buffers", 2,
                  "flush-sources", "flush-chain", "wait", "invalidate-chain", "invalidate",
                  "alignment"),
        _firmware("sd_read", "SD card read into a buffer on a task's stack", 2,
                  "wait", "invalidate", "bounce"),
    )
}  # fmt: skip
