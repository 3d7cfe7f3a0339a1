"""Kernels on simulated Vortex cores, beside a simulated detector."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import (
    POINTER,
    c_bool,
    c_char_p,
    c_int,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
    string_at,
)
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from racetrap.generators.systems import system_of
from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.gpu.params import GpuParams
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.gpu.region_table import MonitoredRegion
from racetrap.golden_model.vortex.issue_decoder import ISSUE_LAYOUT, LANES, SLOTS, WARPS
from racetrap.golden_model.vortex.window_access import MEMORY, WINDOW_SHIFT
from racetrap.sim.compiled_library import Functions
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.memory_timing import MemoryTiming
from racetrap.sim.cosim.fast.packing import words_of
from racetrap.sim.cosim.vortex.core_build import build_core
from racetrap.sim.cosim.vortex.harness import KERNEL_FIELDS, DetectorWait
from racetrap.sim.cosim.vortex.kernel_image import SHARED_BYTES, KernelImage
from racetrap.sim.failure import Failure

_TRACE = [c_void_p, c_uint32, c_uint32, POINTER(POINTER(c_uint32)), POINTER(POINTER(c_uint64))]
_FUNCTIONS: Functions = {
    "vortex_open": (c_int, [c_void_p, c_char_p]),
    "vortex_place": (None, [c_void_p, c_bool, c_char_p, c_uint64]),
    "vortex_launch": (c_int, [c_void_p, c_void_p]),
    "vortex_cycles": (c_uint64, [c_void_p]),
    "vortex_waits": (POINTER(c_uint64), [c_void_p]),
    "vortex_shared": (POINTER(c_uint8), [c_void_p]),
    "vortex_console": (c_char_p, [c_void_p]),
    "vortex_trace": (c_uint64, _TRACE),
}
#: Threads of a block at most: all lanes of a core.
MOST_THREADS = LANES * WARPS
#: What the detector watches, and where its metadata are.
REGION = Region(MEMORY << WINDOW_SHIFT, SHARED_BYTES.bit_length() - 1, 0xA0000000)


class Watched(NamedTuple):
    """What was seen at one place of a core: packed words, each with its cycle."""

    words: list[int]
    cycles: list[int]


@dataclass(frozen=True)
class Machine:
    """Size, memory and launch of the simulated GPU.

    Parameters
    ----------
    cores : int
        Cores, each of 4 warps of 4 lanes.
    blocks, threads : int
        Blocks of the grid, and threads of each: at most 16.
    l1 : bool
        Whether each core has an L1: write-back, not coherent.
    latency, jitter : int
        Cycles of an access past the L1, and the most that are added at random.
    transfer : int
        Cycles that 16 bytes take on the wires of the memory in which metadata are, too; 0: they
        have a memory of their own, which answers in a cycle, and nothing waits for wires.
    argument : int
        Argument of the kernel.
    launches : int
        Launches of the kernel, one after the other; each has an argument one larger.
    most_cycles : int
        Cycles after which a launch is stopped.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    cores: int = 4
    blocks: int = 8
    threads: int = 16
    l1: bool = False
    latency: int = 20
    jitter: int = 0
    transfer: int = 0
    argument: int = 0
    launches: int = 1
    most_cycles: int = 1_000_000

    #: Range of each number.
    limits: ClassVar[Mapping[str, tuple[int, int]]] = {
        "cores": (1, 8), "blocks": (1, 4096), "threads": (1, MOST_THREADS), "latency": (1, 1000),
        "jitter": (0, 1000), "transfer": (0, 1000), "argument": (0, (1 << 31) - 1),
        "launches": (1, 64), "most_cycles": (1, (1 << 32) - 1),
    }  # fmt: skip

    def __post_init__(self) -> None:
        for name, (low, high) in self.limits.items():
            check_integer(f"Machine {name}", getattr(self, name), low, high)


def params_beside(params: GpuParams, cores: int) -> Any:
    """A detector's parameters, changed to the size of so many cores of Vortex.

    Raises
    ------
    ValueError
        If the detector has no front end, or cannot be of this size.
    """
    system = system_of(params)
    if "front-end" not in system.parts:
        raise ValueError(f"Detector must have a front end for Vortex, and {system.title} has none")
    changes: dict[str, Any] = {
        "sm_count": cores, "warps_per_sm": WARPS, "blocks_per_sm": SLOTS, "lanes": LANES,
        "address_bits": 32, "pc_bits": 32, "outstanding_cas": WARPS, "trace_port": True,
    }  # fmt: skip
    return replace(params.with_lanes(independent=False), **changes)


class VortexRun:
    """One launch of a kernel on fresh cores.

    Parameters
    ----------
    model : FastModel
        Library from ``build_beside``.
    kernel : KernelImage
        The kernel.
    machine : Machine
        Memory and launch.
    seed : int
        Seed of all that is random.
    launch : int
        Number of the launch.
    memory : bytes or None
        Memory that all cores share, before it; as the kernel was loaded by default.
    has_detector : bool
        Whether accesses wait for the detector, and it sees them.
    waves : Path or None
        File for waves, of a library that can write them.

    Raises
    ------
    SimulationError
        If the kernel does not end, accesses what is no memory, or does what is not supported.
    """

    def __init__(
        self, model: FastModel[Any], kernel: KernelImage, machine: Machine, seed: int = 1,
        launch: int = 0, memory: bytes | None = None, has_detector: bool = True,
        waves: Path | None = None,
    ):  # fmt: skip
        self.kernel, self.machine, self.params = kernel, machine, model.params
        shared = MemoryTiming(latency=machine.latency, jitter=machine.jitter)
        timing = shared if machine.transfer else MemoryTiming()
        seed += launch
        self.sim: Any = _simulation_class(system_of(model.params).name)(model, seed, timing)
        self._library, self._handle = self.sim._library, self.sim._sim
        if self._library.vortex_open(self._handle, str(build_core()).encode()):
            raise Failure("Library of the core cannot be loaded")
        for is_code, data in ((True, kernel.code), (False, memory or kernel.data)):
            self._library.vortex_place(self._handle, is_code, data, len(data))
        if waves is not None:
            self.sim.write_waves(waves)
        if has_detector:
            self.sim.launch(REGION)
        values = {
            "entry": kernel.entry, "detector": int(has_detector),
            "ordered": int(has_detector and self.params.orders_accesses),
            **{name: int(value) for name, value in vars(machine).items()},
            "argument": machine.argument + launch,
        }  # fmt: skip
        fields = np.array([values[name] for name in KERNEL_FIELDS], dtype=np.uint64)
        self.sim._must(not self._library.vortex_launch(self._handle, fields.ctypes.data))
        if has_detector:
            self.sim.wait_idle()

    @property
    def cycles(self) -> int:
        """Cycles from the launch until all cores are idle."""
        return int(self._library.vortex_cycles(self._handle))

    @property
    def console(self) -> str:
        """What the kernel has printed."""
        return str(self._library.vortex_console(self._handle).decode("utf-8", "replace"))

    @property
    def waits(self) -> dict[str, int]:
        """Cycles in which a core's request has waited for the detector, by what it waited for."""
        cycles = self._library.vortex_waits(self._handle)
        return {wait.name.lower(): cycles[wait] for wait in DetectorWait}

    @property
    def memory(self) -> bytes:
        """Memory that all cores share, when the kernel has ended."""
        return string_at(self._library.vortex_shared(self._handle), SHARED_BYTES)

    def close(self) -> None:
        """Free the simulation."""
        self.sim.close()

    # What was seen -----------------------------------------------------------------------

    def issued(self, core: int) -> Watched:
        """Packed words of all instructions that a core has issued."""
        return self._watched(0, core, words_of(ISSUE_LAYOUT))

    def starts(self, core: int) -> Watched:
        """Warps that have begun."""
        return self._watched(1, core, 1)

    def instructions(self, core: int) -> Watched:
        """What the adapter has given to the front end."""
        return self._watched(2, core, words_of(self.params.instruction_layout))

    def outcomes(self, core: int) -> Watched:
        """Outcomes of loads from LOCK, as the front end got them."""
        return self._watched(3, core, 1)

    def transactions(self, core: int) -> NDArray[np.uint32]:
        """Transactions that the detector has taken, each a row of 32-bit words."""
        width = words_of(self.params.transaction_layout)
        count, words, _ = self._read(4, core)
        if not count:
            return np.zeros((0, width), dtype=np.uint32)
        return np.ctypeslib.as_array(words, shape=(count, width)).copy()

    def accepted(self, core: int) -> list[int]:
        """Cycles in which the detector has taken its transactions."""
        count, _, cycles = self._read(4, core)
        return list(cycles[:count])

    def performed(self, core: int) -> Watched:
        """Numbers of the instructions whose requests memory has performed."""
        return self._watched(5, core, 2)

    def blocks(self, core: int) -> list[int]:
        """Blocks that a core was given."""
        return self._watched(6, core, 2).words

    def _watched(self, kind: int, core: int, width: int) -> Watched:
        count, words, cycles = self._read(kind, core)
        if not count:
            return Watched([], [])
        rows = np.ctypeslib.as_array(words, shape=(count, width))
        packed = [int.from_bytes(row.tobytes(), "little") for row in rows]
        return Watched(packed, np.ctypeslib.as_array(cycles, shape=(count,)).tolist())

    def _read(self, kind: int, core: int) -> tuple[int, Any, Any]:
        words, cycles = POINTER(c_uint32)(), POINTER(c_uint64)()
        count = self._library.vortex_trace(self._handle, kind, core, words, cycles)
        return count, words, cycles


@lru_cache
def _simulation_class(system: str) -> type[Any]:
    """The detector's simulation, whose transactions are those that the cores have made.

    A comparison that launches and plays is given what has been played.
    """
    from racetrap.generators.systems import system_named

    base = system_named(system).own("sim.cosim", "fast_simulation").FastSim

    class PlayedSim(base):  # type: ignore[misc, valid-type]
        functions = base.functions | _FUNCTIONS

        def begin(
            self, region: MonitoredRegion, transactions: list[Any], *options: Any
        ) -> tuple[list[Any], list[NDArray[np.uint32]]]:
            return transactions, self.queues(transactions)

        def run(self, *arguments: Any, **options: Any) -> None:
            pass

        def wait_idle(self) -> None:
            self._software.wait_idle()

    return PlayedSim
