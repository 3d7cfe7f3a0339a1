"""One instance of a Verilated system: registers, timing and traces, for all detectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ctypes import POINTER, byref, c_bool, c_char_p, c_int, c_uint32, c_uint64, c_void_p
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from racetrap.generators.register_map import RegisterPort
from racetrap.golden_model.checks import check_integer
from racetrap.golden_model.layout import Layout
from racetrap.sim.compiled_library import Functions, load_library
from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.cosim.fast.packing import words_of
from racetrap.sim.failure import Failure
from racetrap.sim.twins import Twin, numbers

#: Functions of testbench.h, and the shim's constructor.
_FUNCTIONS: Functions = {
    "sim_select": (None, [c_uint32]),
    "sim_new": (c_void_p, [c_uint64]),
    "sim_delete": (None, [c_void_p]),
    "sim_write": (c_int, [c_void_p, c_uint32, c_uint32]),
    "sim_read": (c_int, [c_void_p, c_uint32, POINTER(c_uint32)]),
    "sim_access": (
        c_int, [c_void_p, c_bool, c_uint32, POINTER(c_uint32), *[c_uint32] * 4]
    ),
    "sim_timing": (None, [c_void_p, c_void_p]),
    "sim_stats": (None, [c_void_p, c_void_p]),
    "sim_trace": (
        c_uint64, [c_void_p, c_uint32, POINTER(POINTER(c_uint32)), POINTER(POINTER(c_uint64))],
    ),
    "sim_waves": (c_int, [c_void_p, c_char_p]),
    "sim_failure": (c_char_p, [c_void_p]),
}  # fmt: skip
_MOST = (1 << 32) - 1


class SimulationError(Failure):
    """The simulated system stalled, violated a memory's protocol or refused a register access."""


@dataclass(frozen=True)
class SimulationTiming:
    """Timing of a system's environment; detectors add fields.

    Parameters
    ----------
    watchdog : int
        Cycles without any transfer after which a run is aborted.

    Raises
    ------
    TypeError, ValueError
        If a field is not an integer in its range.
    """

    watchdog: int = 100_000

    #: Range of fields with limits.
    limits: ClassVar[Mapping[str, tuple[int, int]]] = {}

    def __post_init__(self) -> None:
        limits = {"watchdog": (1, _MOST), **self.limits}
        for field in fields(self):
            low, high = limits.get(field.name, (0, _MOST))
            check_integer(f"Timing {field.name}", int(getattr(self, field.name)), low, high)


class _Stats(Protocol):
    @property
    def cycles(self) -> int: ...


T = TypeVar("T", bound=SimulationTiming)
S = TypeVar("S", bound=_Stats)


def simulation_twins(timing: type[SimulationTiming], stats: type[_Stats]) -> tuple[Twin, ...]:
    """Declarations that every shim shares with Python: timing and statistics."""
    names: Any = stats
    return (
        numbers("Timing", [field.name for field in fields(timing)], bits=32),
        numbers("Stats", names._fields),
    )


class Simulation(RegisterPort, Generic[T, S]):
    """A system after reset.

    Parameters
    ----------
    model : FastModel
        Library from ``build_fast``.
    seed : int
        Seed of all randomness in the simulation, including unreset state.
    functions : Functions
        The shim's own functions.
    timing : T
        Timing of the environment, with the fields of the shim's ``Timing``.
    stats : type of S
        Named tuple of the shim's statistics, including ``cycles`` since reset.
    twins : sequence of Twin
        Further declarations shared by the shim and Python.

    Raises
    ------
    SimulationError
        From every method that advances time.
    """

    def __init__(
        self,
        model: FastModel,
        seed: int,
        functions: Functions,
        timing: T,
        stats: type[S],
        twins: Sequence[Twin] = (),
    ):
        super().__init__(model.registers)
        own = (*simulation_twins(type(timing), stats), *twins)
        self._library = load_library(model.library, model.preset, {**_FUNCTIONS, **functions}, own)
        self._library.sim_select(model.mutant)
        self._sim = self._library.sim_new(seed)
        self._stats: Any = stats
        self._buffers: dict[object, NDArray] = {}  # arrays that the library points to
        self.timing = timing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Free the simulation."""
        if self._sim is not None:
            self._library.sim_delete(self._sim)
            self._sim = None

    def write_waves(self, file: Path) -> None:
        """Write waves of all signals from now on; the library must have been built for it.

        Raises
        ------
        SimulationError
            If it was not, or the file cannot be written.
        """
        if self._library.sim_waves(self._sim, str(file).encode()):
            raise SimulationError(f"Waves cannot be written to {file}")

    @property
    def timing(self) -> T:
        """Timing of the environment; may be changed between runs."""
        return self._timing

    @timing.setter
    def timing(self, timing: T) -> None:
        self._timing = timing
        self._library.sim_timing(self._sim, np.array(astuple(timing), dtype=np.uint32).ctypes.data)

    @property
    def stats(self) -> S:
        """Statistics so far."""
        numbers = np.zeros(len(self._stats._fields), dtype=np.uint64)
        self._library.sim_stats(self._sim, numbers.ctypes.data)
        return self._stats(*numbers.tolist())

    def read(self, register: str) -> int:
        value = c_uint32()
        address = self.map.address(register)
        self._check(register, self._library.sim_read(self._sim, address, byref(value)))
        return value.value

    def write(self, register: str, value: int) -> None:
        address = self.map.address(register)
        self._check(register, self._library.sim_write(self._sim, address, value))

    def access(
        self, address: int, word: int | None = None, strobes: int = 0xF,
        waits: tuple[int, int, int] = (0, 0, 0),
    ) -> tuple[int, int]:  # fmt: skip
        """Any access to the registers, with the answer that it gets.

        Parameters
        ----------
        address : int
            Byte address.
        word : int or None
            Word to write; None: a read.
        strobes : int
            Bytes that are written.
        waits : tuple of int
            Cycles before a write's address and its data are offered, and before the answer is
            taken.

        Returns
        -------
        int
            Response.
        int
            Word read.
        """
        value = c_uint32(word or 0)
        response = self._library.sim_access(
            self._sim, word is not None, address, byref(value), strobes, *waits
        )
        self._must(response >= 0)
        return response, value.value

    def _check(self, register: str, response: int) -> None:
        self._must(response >= 0)
        if response:
            raise SimulationError(f"Register {register} must answer OKAY, not response {response}")

    def _must(self, succeed: bool) -> None:
        """Raise the library's error unless a call has succeeded."""
        if not succeed:
            sentence = self._library.sim_failure(self._sim).decode()
            raise SimulationError(f"Simulation stopped: {sentence}")

    def _wait_until(self, is_done: Callable[[], bool], what: str) -> None:
        """Poll until a condition holds; ``what`` describes what the hardware must do, for
        errors."""
        self._wait(is_done, what, self._timing.watchdog)

    def _wait(self, is_done: Callable[[], bool], what: str, cycles: int) -> None:
        """Poll until a condition holds, for at most ``cycles`` cycles."""
        end = self.stats.cycles + cycles
        while not is_done():
            if self.stats.cycles > end:
                raise SimulationError(f"System must {what} within {cycles} cycles")

    def _trace(self, number: int, layout: Layout) -> NDArray[np.uint32]:
        """Payloads of a trace, each a row of 32-bit words."""
        count, words, _ = self._read_trace(number)
        width = words_of(layout)
        if not count:
            return np.zeros((0, width), dtype=np.uint32)
        return np.ctypeslib.as_array(words, shape=(count, width)).copy()

    def _trace_cycles(self, number: int) -> list[int]:
        """Cycle, since reset, of each payload of a trace."""
        count, _, cycles = self._read_trace(number)
        return np.ctypeslib.as_array(cycles, shape=(count,)).tolist() if count else []

    def _read_trace(self, number: int) -> tuple[int, Any, Any]:
        words, cycles = POINTER(c_uint32)(), POINTER(c_uint64)()
        count = self._library.sim_trace(self._sim, number, byref(words), byref(cycles))
        return count, words, cycles
