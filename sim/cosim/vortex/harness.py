"""Shared library of a detector with adapters, and the testbench with Vortex cores around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any

from racetrap.generators.systems import system_of
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.vortex.adapter import AdapterError
from racetrap.golden_model.vortex.issue_decoder import ISSUE_LAYOUT
from racetrap.golden_model.vortex.window_access import MONITORED, Window
from racetrap.sim.cosim.fast.build import FastModel, build_library
from racetrap.sim.cosim.fast.harness import Harness, folded
from racetrap.sim.cosim.fast.ports import Internals, PortGroup, words_of_bits
from racetrap.sim.cosim.verilator.build_cache import WITH_VORTEX
from racetrap.sim.twins import constants, enumeration, positions

#: What the launcher gets of a kernel.
KERNEL_FIELDS = (
    "entry", "argument", "blocks", "threads", "l1", "latency", "jitter", "detector",
    "most_cycles", "transfer", "ordered",
)  # fmt: skip
#: Upper address bits of code and stacks.
WINDOW_CODE = 8


class DetectorWait(IntEnum):
    """What of the detector a core's request waits for."""

    #: Its warp's transactions, which the detector does not take yet.
    DETECTOR = 0
    #: Adapter and front end, which have not made all of them yet.
    FRONT_END = 1
    #: A fence of its warp, on its way to the banks.
    FENCE = 2
    #: A lock that its warp has tried, of which memory knows the answer: its transaction.
    LOCK = 3
    #: A strong access to one of its words, which comes first in memory.
    ORDER = 4


_TWINS = (
    positions("KernelField", KERNEL_FIELDS, prefix="KERNEL_"),
    enumeration(AdapterError, prefix="ADAPTER_"),
    enumeration(DetectorWait, prefix="WAIT_"),
    constants({
        "WINDOW_CODE": WINDOW_CODE, "WAITS": len(DetectorWait),
        **{f"WINDOW_{window.name}": int(window) for window in Window},
        "MONITORED": sum(1 << window for window in MONITORED),
    }),
)  # fmt: skip
_WATCHED = ("valid", "ready", "payload")
#: Fields of a transaction by which memory keeps the order of strong accesses.
_TAKEN = ("strong", "warp", "word", "bytes")
#: Signals of each core.
_SIGNALS = ("passed", "full", "held", "error", "error_pc")


def build_beside(preset: str, params: GpuParams, has_waves: bool = False) -> FastModel[Any]:
    """Library of a detector for Vortex cores, with or without waves, built or found in the cache.

    Raises
    ------
    BuildError
        If generation, Verilator or the C++ compiler fails.
    """
    own = system_of(params).own("sim.cosim", "fast_harness").HARNESS
    return build_library(preset, params, _beside(own), part=WITH_VORTEX, has_waves=has_waves)


def _beside(own: Harness) -> Harness:
    """The detector's harness with the ports of adapters, and Vortex's shim."""

    def ports(params: Any) -> Sequence[PortGroup]:
        cores = params.sm_count
        groups = [group for group in own.ports(params) if group.member != "transaction"]
        streams = {
            "transaction": ("o_transaction__{}__", _WATCHED),
            "instruction": ("o_instruction__{}__", _WATCHED),
            "outcome": ("o_outcome__{}__", _WATCHED),
            "issue": ("i_issue__{}__", _WATCHED[::2]),
            "start": ("i_start__{}__", _WATCHED[::2]),
            "found": ("i_found__{}__", _WATCHED),
            **{name: (f"o_{name}__{{}}", ()) for name in _SIGNALS},
        }  # fmt: skip
        groups += [
            PortGroup(f"{name.title()}Port", name, prefix, signals, cores)
            for name, (prefix, signals) in streams.items()
        ]
        return [*groups, PortGroup("IdlePort", "idle", "o_idle", (), 1)]

    def numbers_of(params: Any) -> Mapping[str, int]:
        words = words_of_bits(params.instruction_layout.width)
        return {
            **own.constants(params), "INSTRUCTION_WORDS": words,
            "ISSUE_WORDS": words_of_bits(ISSUE_LAYOUT.width), **_taken_bits(params),
        }  # fmt: skip

    def internals(params: Any) -> Sequence[Internals]:
        return [replace(each, path=f"detector.{each.path}") for each in own.internals(params)]

    return replace(
        own, folder=Path(__file__).parent, ports=ports, constants=numbers_of, internals=internals,
        shared=(own.folder / "gpu_testbench.h",),
        scripts=(__file__, *(str(own.folder / name) for name in own.scripts)),
        twins=(*own.twins, *_TWINS), rewrite=folded, rewrite_least=folded,
        counters=f"detector.{own.counters}",
    )  # fmt: skip


def _taken_bits(params: GpuParams) -> dict[str, int]:
    """Highest and lowest bits of what must be known of a transaction; none if nothing must."""
    ends = {
        name: (offset + width - 1, offset)
        for name, offset, width in params.transaction_layout.flat()
        if params.orders_accesses
    }
    return {
        f"TAKEN_{name}_{end}".upper(): bit
        for name in _TAKEN
        for end, bit in zip(("high", "low"), ends.get(name, (-1, 0)), strict=True)
    }
