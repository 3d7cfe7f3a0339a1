"""One instance of a Verilated system: its registers and its end, whatever the detector."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, byref, c_char_p, c_int, c_uint32, c_void_p
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from racetrap.sim.cosim.fast.build import FastModel
from racetrap.sim.failure import Failure

__all__ = ["Functions", "Simulation", "SimulationError", "words_at"]

#: Result and arguments of each function of a library.
Functions = Mapping[str, tuple[Any, list[Any]]]

#: What bench.h has.
_FUNCTIONS: Functions = {
    "sim_delete": (None, [c_void_p]),
    "sim_write": (c_int, [c_void_p, c_uint32, c_uint32]),
    "sim_read": (c_int, [c_void_p, c_uint32, POINTER(c_uint32)]),
    "sim_failure": (c_char_p, [c_void_p]),
}


class SimulationError(Failure):
    """The simulated system stood still, broke a memory's protocol or refused a register."""


class _Timing(Protocol):
    def structure(self) -> ctypes.Structure: ...


T = TypeVar("T", bound=_Timing)
S = TypeVar("S", bound=ctypes.Structure)


class Simulation(Generic[T, S]):
    """A system after reset.

    Parameters
    ----------
    model : FastModel
        What ``build_fast`` made.
    seed : int
        Seed of all that is random in the simulated world, junk in unreset state included.
    functions : Functions
        The shim's own functions; ``sim_new``, ``sim_knobs`` and ``sim_stats`` are among them.
    timing : T
        How the world around behaves.
    stats : type of S
        Structure of the figures that the shim keeps.

    Raises
    ------
    SimulationError
        From every method that lets time pass.
    """

    def __init__(
        self, model: FastModel, seed: int, functions: Functions, timing: T, stats: type[S]
    ):
        self._registers = model.registers
        self._library = ctypes.CDLL(str(model.library))
        for name, (result, arguments) in {**_FUNCTIONS, **functions}.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self._sim = self._library.sim_new(seed)
        self._stats = stats
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

    @property
    def timing(self) -> T:
        """How the world around behaves; may be set again between runs."""
        return self._timing

    @timing.setter
    def timing(self, timing: T) -> None:
        self._timing = timing
        self._library.sim_knobs(self._sim, byref(timing.structure()))

    @property
    def stats(self) -> S:
        """Figures up to now."""
        stats = self._stats()
        self._library.sim_stats(self._sim, byref(stats))
        return stats

    def write(self, register: str, value: int) -> None:
        """Write a register by its name."""
        address = self._registers.address(register)
        self._check(register, self._library.sim_write(self._sim, address, value))

    def read(self, register: str) -> int:
        """Read a register by its name."""
        value = c_uint32()
        address = self._registers.address(register)
        self._check(register, self._library.sim_read(self._sim, address, byref(value)))
        return value.value

    def read_from(self, first: str) -> dict[str, int]:
        """All registers from ``first`` on, by name in lower case."""
        return {name.lower(): self.read(name) for name in self._registers.names_from(first)}

    def field(self, register: str, field: str) -> int:
        """Read a field of a register."""
        return self._registers.field(register, field, self.read(register))

    def write_fields(self, register: str, **fields: int) -> None:
        """Write a register with some fields set, the others 0."""
        self.write(register, self._registers.pack(register, **fields))

    def _check(self, register: str, response: int) -> None:
        if response < 0:
            raise SimulationError(self._failure())
        if response:
            raise SimulationError(f"Register {register} must answer OKAY, not response {response}")

    def _failure(self) -> str:
        return "Simulation stopped: " + self._library.sim_failure(self._sim).decode()


def words_at(pointer: Any, count: int, width: int) -> NDArray[np.uint32]:
    """Copy of ``count`` records of ``width`` words that the library holds."""
    if not count:
        return np.zeros((0, width), dtype=np.uint32)
    return np.ctypeslib.as_array(pointer, shape=(count, width)).copy()
