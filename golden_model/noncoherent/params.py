"""Parameters of a bus monitor for non-coherent accelerators; every width is derived here, once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from racetrap.golden_model.layout import Layout, index_bits
from racetrap.golden_model.parameters import Parameters, integer, later_switch
from racetrap.golden_model.trace.noncoherent.operations import (
    MAX_ENGINES,
    MAX_LINE_BYTES,
    MemorySystem,
)


class Mode(StrEnum):
    """Rules of the monitor, named after the software detector with the same rules."""

    STRICT = "strict"
    THESIS = "thesis"


#: Granules of a word of the bitmap.
WORD_GRANULES = 32
_SIZE_BITS = 32
_ROW_BITS = 16
_KIND_BITS = 4


@dataclass(frozen=True)
class NoncoherentParams(Parameters):
    """Size of a monitor, and the hardware that it watches.

    Parameters
    ----------
    mode : Mode or str
        Rules.
    line_bytes, granule_bytes, engines, prefetch, uncached_snoops_cache, write_through
        As of ``MemorySystem``.
    entries : int
        Entries of each set of bytes; one is kept free.
    address_bits : int
        Bits of a byte address.
    tag_bits : int
        Bits of the tag that identifies an operation in reports: its number, or its PC.
    report_fifo_depth : int
        Reports held until they are written to memory.
    observes_bus : bool
        Whether DMA is observed on an AXI4 bus, in addition to descriptors: "observed overlaps".
    bus_fifo_depth : int
        Bus cycles with a handshake that are queued; further ones are lost and counted.
    window_bytes : int
        If not 0, mode ``thesis`` keeps dirty granules in a bitmap over this many bytes of memory, a
        power of two, instead of entries.
    window_base : int
        First byte of the bitmap's window.
    trace_port : bool
        Whether the monitor has the retire-style trace port.
    macro_words : int
        Words from which an array on the chip is an SRAM macro, with all others in flip-flops; 0:
        tools choose.
    protection : bool
        Whether a register says who may access the registers.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type, is out of range or conflicts with another.
    """

    mode: Mode = Mode.STRICT
    line_bytes: int = integer(32, 1, MAX_LINE_BYTES, power_of_two=True)
    granule_bytes: int = integer(32, 1, MAX_LINE_BYTES, power_of_two=True)
    engines: int = integer(1, 1, MAX_ENGINES)
    prefetch: bool = False
    uncached_snoops_cache: bool = False
    entries: int = integer(8, 2, 64)
    address_bits: int = integer(32, 16, 48)
    tag_bits: int = integer(32, 4, 32)
    report_fifo_depth: int = integer(16, 1, 1024)
    observes_bus: bool = False
    bus_fifo_depth: int = integer(16, 2, 1024)
    window_bytes: int = integer(0, 0, 1 << 30)
    window_base: int = integer(0, 0, (1 << 48) - 1)
    trace_port: bool = True
    write_through: bool = later_switch()
    macro_words: int = integer(0, 0, 1 << 16, came_later=True)
    protection: bool = later_switch()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.granule_bytes > self.line_bytes:
            raise ValueError(
                f"Parameter granule_bytes must be at most line_bytes, {self.line_bytes}, "
                f"not {self.granule_bytes}"
            )
        if self.window_bytes:
            self._check_window()
        elif self.window_base:
            raise ValueError(
                f"Parameter window_base must be 0 without a window, not {self.window_base}"
            )

    def _check_window(self) -> None:
        size, word, least = self.window_bytes, self.word_bytes, 2 * self.word_bytes
        if self.is_strict:
            raise ValueError(f"Parameter window_bytes must be 0 in mode strict, not {size}")
        if self.write_through:
            raise ValueError(f"Parameter window_bytes must be 0 with write_through, not {size}")
        if size.bit_count() != 1 or size < least:
            raise ValueError(
                f"Parameter window_bytes must be 0 or a power of two from {least}, not {size}"
            )
        most = (1 << self.address_bits) - size
        if self.window_base % word or self.window_base > most:
            raise ValueError(
                f"Parameter window_base must be a multiple of {word} up to {most}, "
                f"not {self.window_base}"
            )

    @property
    def memory(self) -> MemorySystem:
        """The hardware, in the form of the software detectors and of trace headers."""
        return MemorySystem(
            line_bytes=self.line_bytes, granule_bytes=self.granule_bytes, engines=self.engines,
            prefetch=self.prefetch, uncached_snoops_cache=self.uncached_snoops_cache,
            write_through=self.write_through,
        )  # fmt: skip

    @property
    def is_strict(self) -> bool:
        """Whether the rules are those of mode ``strict``."""
        return self.mode is Mode.STRICT

    @property
    def set_names(self) -> tuple[str, ...]:
        """Sets of bytes that the monitor has."""
        of_cache = {
            "dirty_granules": not self.write_through,
            "dirty_bytes": self.is_strict and not self.write_through,
            "valid": self.is_strict and not self.prefetch,
            "stale": self.is_strict,
        }
        return (*(name for name, is_needed in of_cache.items() if is_needed), *(
            f"{what}_{engine}" for engine in range(self.engines) for what in ("writing", "reading")
        ))  # fmt: skip

    # Bitmap -----------------------------------------------------------------------------

    @property
    def word_bytes(self) -> int:
        """Bytes of memory that a word of the bitmap covers."""
        return WORD_GRANULES * self.granule_bytes

    @property
    def words(self) -> int:
        """Words of the bitmap."""
        return self.window_bytes // self.word_bytes

    @cached_property
    def word_layout(self) -> Layout:
        """Word of the bitmap: a bit for each granule, and their origin."""
        return Layout({"dirty": WORD_GRANULES, "tag": self.tag_bits, "others": 1})

    # Streams ----------------------------------------------------------------------------

    @property
    def engine_bits(self) -> int:
        """Bits of an engine's number."""
        return index_bits(self.engines)

    @property
    def end_bits(self) -> int:
        """Bits of the address after the last byte of a range."""
        return self.address_bits + 1

    @cached_property
    def operation_layout(self) -> Layout:
        """An operation from the CPU's bus or from the drivers of DMA engines."""
        return Layout({
            "kind": _KIND_BITS,
            "engine": self.engine_bits,
            "address": self.address_bits,
            "size": _SIZE_BITS,
            "rows": _ROW_BITS,
            "stride": _SIZE_BITS,
            "tag": self.tag_bits,
        })  # fmt: skip

    @cached_property
    def row_layout(self) -> Layout:
        """A row of an operation: the bytes from ``first`` up to the one before ``end``."""
        return Layout({
            "kind": _KIND_BITS,
            "engine": self.engine_bits,
            "first": self.address_bits,
            "end": self.end_bits,
            "tag": self.tag_bits,
        })  # fmt: skip

    @cached_property
    def entry_layout(self) -> Layout:
        """Entry of a set of bytes."""
        return Layout({
            "first": self.address_bits,
            "end": self.end_bits,
            "tag": self.tag_bits,
            "others": 1,
            "imprecise": 1,
        })  # fmt: skip

    @cached_property
    def hit_layout(self) -> Layout:
        """Match of a row on one side: the accelerators', or the cache's."""
        return Layout({"found": 1, "definite": 1, "others": 1, "tag": self.tag_bits})

    @cached_property
    def report_layout(self) -> Layout:
        """Race report; the report writer fills in ``sequence``."""
        return Layout({
            "sequence": 32, "row": self.row_layout, "dma": self.hit_layout,
            "cache": self.hit_layout,
        })  # fmt: skip

    @cached_property
    def step_layout(self) -> Layout:
        """Trace port: the row checked, its matches, and a digest of all entries after it."""
        return Layout({
            "row": self.row_layout, "dma": self.hit_layout, "cache": self.hit_layout, "digest": 32,
        })  # fmt: skip
