"""Launches that the hardware must refuse: of a legal configuration one bit is another, or one base
is too near to the end of the address space."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.gpu.gpu_launches import RECORD_BYTES, GpuLaunches

#: Bits of the registers of addresses and of sizes.
_ADDRESS_BITS, _SIZE_BITS = 64, 6
#: Sizes of rings, as the hardware counts records with 32 bits.
_RINGS = 32
_TRIES = 8


def refuse_launches(
    sim: GpuLaunches, params: GpuParams, region: MonitoredRegion, random: Random
) -> None:
    """Try some illegal launches; a legal one must follow.

    Parameters
    ----------
    sim : GpuLaunches
        The hardware.
    params : GpuParams
        Its parameters.
    region : Region
        A legal region; with a table of regions nothing is tried.
    random : Random
        Source of randomness.

    Raises
    ------
    Mismatch
        If the hardware takes one.
    """
    if not isinstance(region, Region):
        return
    for _ in range(_TRIES):
        changed = {
            "data_base": region.data_base, "metadata_base": region.metadata_base,
            "size_log2": region.size_log2, "ring_base": 0, "ring_log2": random.randrange(_RINGS),
        }  # fmt: skip
        room = (1 << params.address_bits) - (RECORD_BYTES << changed["ring_log2"])
        changed["ring_base"] = RECORD_BYTES * random.randrange(max(1, room // RECORD_BYTES + 1))
        name = random.choice([*changed])
        if name in ("metadata_base", "ring_base") and random.random() < 0.5:
            changed[name] = _too_far(params, region, name, changed["ring_log2"], random)
        else:
            changed[name] ^= 1 << random.randrange(_SIZE_BITS if "log2" in name else _ADDRESS_BITS)
        ring_base, ring_log2 = changed.pop("ring_base"), changed.pop("ring_log2")
        other = replace(region, **changed)
        if _is_legal(params, other, ring_base, ring_log2):
            continue
        if not sim.is_refused(other, ring_base, ring_log2):
            raise Mismatch(
                f"Launch must be refused with {other} and a ring of 2**{ring_log2} records at "
                f"{ring_base:#x}"
            )


def _too_far(
    params: GpuParams, region: Region, name: str, ring_log2: int, random: Random
) -> int:  # fmt: skip
    """A base from which metadata or ring go beyond the end of the address space, by little or
    much."""
    size, unit = region.entries(params) * params.entry_bytes, params.segment_bytes
    if name == "ring_base":
        size, unit = RECORD_BYTES << ring_log2, RECORD_BYTES
    beyond = unit << random.randrange((size // unit).bit_length())
    return (1 << params.address_bits) - size + beyond


def _is_legal(params: GpuParams, region: Region, ring_base: int, ring_log2: int) -> bool:
    end = ring_base + (RECORD_BYTES << ring_log2)
    if ring_base % RECORD_BYTES or ring_log2 >= _RINGS or end > 1 << params.address_bits:
        return False
    try:
        region.check(params)
    except ValueError:
        return False
    return True
