"""Accesses to all registers of a simulated system that software may write, compared with what it
has written."""

from __future__ import annotations

from random import Random
from typing import Any

from racetrap.rtl.common.axi import AxiResponse
from racetrap.sim.cosim.comparison.mismatch import Mismatch
from racetrap.sim.cosim.fast.simulation import Simulation

_BYTES = 4
_SPACE = 1 << 12
#: Longest that an access holds a channel back, in cycles.
_WAITS = 3
#: Accesses to addresses without a register, of each kind.
_NOWHERE = 3


def exercise_registers(sim: Simulation[Any, Any], random: Random) -> None:
    """Write random bytes to all registers that keep them, read them, and write them as they were.

    Nothing else may use the registers meanwhile; no pulse is written.

    Raises
    ------
    Mismatch
        If a register is not as it was written, or an access is answered wrongly.
    SimulationError
        If the simulation cannot continue.
    """
    stored, addresses = sim.map.stored, sim.map.addresses

    def access(address: int, word: int | None = None, strobes: int = 0xF) -> tuple[int, int]:
        waits = random.randrange(_WAITS), random.randrange(_WAITS), random.randrange(_WAITS)
        return sim.access(address, word, strobes, waits)

    before = {name: sim.read(name) for name in stored}
    now = dict(before)
    for name in random.sample([*stored, *stored], 2 * len(stored)):
        word, strobes = random.getrandbits(32) & stored[name], random.getrandbits(_BYTES)
        mask = sum(0xFF << 8 * byte for byte in range(_BYTES) if strobes >> byte & 1)
        _must_answer(name, AxiResponse.OKAY, access(addresses[name], word, strobes)[0])
        now[name] = now[name] & ~mask | word & mask
        seen = random.choice([*stored])
        _must_be(seen, now[seen], access(addresses[seen]))
    free = sorted({*range(0, _SPACE, _BYTES)} - {*addresses.values()})
    for address in random.sample(free, _NOWHERE):
        for written in (None, random.getrandbits(32)):
            response = access(address, written)[0]
            _must_answer(f"at {address:#x}", AxiResponse.SLVERR, response)
    for name, value in now.items():
        _must_be(name, value, access(addresses[name]))
        sim.write(name, before[name])


def _must_be(name: str, value: int, answer: tuple[int, int]) -> None:
    response, seen = answer
    _must_answer(name, AxiResponse.OKAY, response)
    if seen != value:
        raise Mismatch(f"Register {name} must be {value:#x} as it was written, not {seen:#x}")


def _must_answer(name: str, due: AxiResponse, response: int) -> None:
    if response != due:
        raise Mismatch(f"Register {name} must answer {due.name}, not response {response}")
