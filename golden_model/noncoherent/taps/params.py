"""Parameters of taps: a system's address map, its maintenance instructions and its engines."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum

from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from racetrap.golden_model.trace.noncoherent.operations import MAINTENANCE, OperationKind

#: Bits of addresses and of tags.
TAP_BITS = 32
_LAST = (1 << TAP_BITS) - 1
_MOST_WINDOWS = 16


class Attribute(IntEnum):
    """What an access of the CPU to an address is for the monitor."""

    CACHED = 0
    UNCACHED = 1
    #: A device, or memory that engines cannot reach.
    IGNORED = 2


@dataclass(frozen=True)
class Region:
    """Addresses with one attribute.

    Parameters
    ----------
    base, size : int
        First address, and bytes: a power of two that divides ``base``.
    attribute : Attribute
        What its accesses are.
    target : int or None
        Where it lies in memory if it is an alias, a multiple of ``size``.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    base: int
    size: int
    attribute: Attribute
    target: int | None = None

    def __post_init__(self) -> None:
        check_integer("Size of a region", self.size, 1, 1 << 32)
        if self.size.bit_count() != 1:
            raise ValueError(f"Size of a region must be a power of two, not {self.size}")
        for what, address in (("Base", self.base), ("Target", self.target)):
            if address is None:
                continue
            check_integer(f"{what} of a region", address, 0, _LAST)
            if address % self.size:
                raise ValueError(
                    f"{what} of a region must be a multiple of its size {self.size:#x}, "
                    f"not {address:#x}"
                )


@dataclass(frozen=True)
class MaintenanceWord:
    """Instruction that maintains the cache.

    Parameters
    ----------
    mask, match : int
        It is an instruction whose bits under ``mask`` are ``match``.
    kind : OperationKind
        What it does.  A kind with a range means the line of the address in ``rs1``.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    mask: int
    match: int
    kind: OperationKind

    def __post_init__(self) -> None:
        check_integer("Mask of an instruction", self.mask, 1, _LAST)
        check_integer("Match of an instruction", self.match, 0, _LAST)
        if self.match & ~self.mask:
            raise ValueError(
                f"Match of an instruction must lie under its mask {self.mask:#x}, "
                f"not {self.match:#x}"
            )
        if self.kind not in MAINTENANCE:
            raise ValueError(f"Kind of an instruction must be maintenance, not {self.kind!r}")


_CBO = 0xFFF0_7FFF
#: RISC-V's cache-block instructions.  Ref: RISC-V CMO Extensions 1.0, Section 5.
ZICBOM = (
    MaintenanceWord(_CBO, 0x0000_200F, OperationKind.CACHE_INVALIDATE),
    MaintenanceWord(_CBO, 0x0010_200F, OperationKind.CACHE_CLEAN),
    MaintenanceWord(_CBO, 0x0020_200F, OperationKind.CACHE_FLUSH),
)


@dataclass(frozen=True, kw_only=True)
class EngineRegisters:
    """Addresses of an engine's registers; None for one that it does not have.

    Parameters
    ----------
    length, start, status : int
        Bytes of a row; the register whose write starts DMA; and the one that software polls.
    source, target : int or None
        Addresses that the engine reads from and writes to.
    rows, stride : int or None
        Rows of a transfer, and bytes from one to the next.
    read_mask, write_mask : int
        Bits of ``start``, one of which starts a read from ``source``, or a write to ``target``.
    done_mask : int
        Bits of ``status``, all of which are set when nothing is in flight.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    length: int
    start: int
    status: int
    source: int | None = None
    target: int | None = None
    rows: int | None = None
    stride: int | None = None
    read_mask: int = 0
    write_mask: int = 0
    done_mask: int = 1

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                check_integer(f"Engine's {each.name}", value, 0, _LAST)
        for mask, address in ((self.read_mask, "source"), (self.write_mask, "target")):
            if bool(mask) != (getattr(self, address) is not None):
                raise ValueError(
                    f"Engine must have a register {address} if and only if a bit of start uses it"
                )


@dataclass(frozen=True, kw_only=True)
class TapParams:
    """A system, as its taps see it.

    Parameters
    ----------
    regions : tuple of Region
        Address map; the first that contains an address decides, and addresses in none are ignored.
    monitor : NoncoherentParams
        The monitor behind the taps.
    windows : int
        Programmable windows of uncached memory.
    maintenance : tuple of MaintenanceWord
        Instructions that maintain the cache.
    depth : int
        Places of the queue in front of the monitor, a power of two.

    Raises
    ------
    TypeError, ValueError
        If a value has the wrong type or is out of range.
    """

    regions: tuple[Region, ...]
    monitor: NoncoherentParams = field(default_factory=NoncoherentParams)
    windows: int = 0
    maintenance: tuple[MaintenanceWord, ...] = ZICBOM
    depth: int = 16

    def __post_init__(self) -> None:
        check_integer("Windows", self.windows, 0, _MOST_WINDOWS)
        check_integer("Depth of the queue", self.depth, 2, 1024)
        if self.depth.bit_count() != 1:
            raise ValueError(f"Depth of the queue must be a power of two, not {self.depth}")
        for name, bits in (
            ("address_bits", self.monitor.address_bits), ("tag_bits", self.monitor.tag_bits)
        ):  # fmt: skip
            if bits != TAP_BITS:
                raise ValueError(f"Parameter {name} of the monitor must be {TAP_BITS}, not {bits}")
