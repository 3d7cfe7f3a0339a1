"""SigRace's golden model behind a golden link, for tests of the host."""

from __future__ import annotations

from collections import deque
from random import Random

from racetrap.generators.systems import system_of
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.hello import Hello
from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.packets import CoreEvent
from racetrap.golden_model.sigrace.params import SigraceParams
from racetrap.golden_model.sigrace.rdm import Rdm
from tests.support.fpga.virtual_device import reset_words
from tests.support.sigrace.log_words import packed_entry

_DEPTH = 8
_IDLE, _SATURATED, _REASONS = 1 << 0, 1 << 1, 8


class SigraceTarget:
    """Core units and RDM as queues of records and registers.

    Events wait in their channel; each access to the device moves on one of a random channel, so
    that messages come in another order if a host does not wait.  A unit waits while ``trap_depth``
    of its trap records are not taken.
    """

    def __init__(self, params: SigraceParams, seed: int = 1):
        self.params = params
        self._random = Random(seed)
        self._units = [
            CoreUnit(params, core, context)
            for core in range(params.cores)
            for context in range(params.contexts)
        ]
        self._queues: list[deque[int]] = [deque() for _ in self._units]
        self.rdm = Rdm(params)
        self.rdm.enabled = False
        self._select = self._map_select = 0
        self._registers = reset_words(params)
        self._names = {
            register.address_offset: register.inst_name
            for register in system_of(params).registers().registers()
        }

    # Channels

    def credits(self, channel: int) -> int:
        self._advance()
        return _DEPTH - len(self._queues[channel])

    def push(self, channel: int, record: int) -> None:
        self._queues[channel].append(record)

    def pull(self, channel: int) -> int | None:
        self._advance()
        traps = self._units[channel].traps
        return self.params.trap_layout.pack(traps.pop(0)._asdict()) if traps else None

    def _advance(self) -> None:
        ready = [
            number
            for number, (unit, queue) in enumerate(zip(self._units, self._queues, strict=True))
            if queue and len(unit.traps) < self.params.trap_depth
        ]
        if ready and self._random.random() < 0.6:
            number = self._random.choice(ready)
            self._take(self._units[number], self._queues[number].popleft())

    def _take(self, unit: CoreUnit, record: int) -> None:
        unit.take(CoreEvent(**self.params.event_layout.unpack(record)))
        for block in unit.blocks:
            self.rdm.summary(block.summary(self.params))
        unit.blocks.clear()

    # Registers

    def write(self, address: int, data: int) -> bool:
        name = self._names.get(address)
        if name == "CONTROL":
            self._control(data)
        elif name == "MAP_SELECT":
            self._map_select = data
        elif name == "MAP":
            thread = data & 0xFF if data >> 8 & 1 else None
            self.rdm.map(self._map_select & 0xFF, self._map_select >> 8 & 0xFF, thread)
        elif name == "LOG_SELECT":
            self._select = data
        if name is not None:
            self._registers[name] = data
        return name is not None

    def _control(self, data: int) -> None:
        self.rdm.enabled = bool(data & 1)
        if data & 1 << 8:
            self.rdm.flush()
        if data & 1 << 9:
            self.rdm.clear_log()
        if data & 1 << 10:
            self.rdm.counters = dict.fromkeys(self.rdm.counters, 0)

    def read(self, address: int) -> int | None:
        self._advance()
        name = self._names.get(address)
        if name == "STATUS":
            saturated = any(unit.saturated for unit in self._units)
            return _IDLE | _SATURATED * saturated | self.rdm.reasons << _REASONS
        if name == "LOG_COUNT":
            return len(self.rdm.log)
        if name == "LOG_DATA":
            return self._log_word(self._select >> 16, self._select & 0xFFFF)
        return None if name is None else self.rdm.counters.get(name.lower(), self._registers[name])

    def _log_word(self, number: int, word: int) -> int:
        packed = packed_entry(self.params, self.rdm.log[number])
        return packed >> 32 * word & 0xFFFFFFFF


def sigrace_device(params: SigraceParams, seed: int = 1) -> LinkDevice:
    """Golden link in front of SigRace's golden model."""
    units = params.cores * params.contexts
    link = Hello.of(
        configuration=configuration_hash(params),
        input_bits=params.event_layout.width,
        inputs=units,
        output_bits=params.trap_layout.width,
        outputs=units,
        credits=_DEPTH,
    )
    return LinkDevice(SigraceTarget(params, seed), link)
