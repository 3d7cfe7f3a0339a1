"""cocotb test of the register port: identity, misuse, selects out of range, enable."""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.golden_model.sigrace.environment import OWN, CoreCommand, Remap, Slot
from racetrap.golden_model.sigrace.packets import CoreEvent, CoreOp
from racetrap.golden_model.sigrace.params import Form
from racetrap.tb.base_test import run_test
from racetrap.tb.register_agent import RegisterError
from racetrap.tb.sigrace.sigrace_test import SigraceTest

__all__ = ["register_misuse"]

_IDENTITY = 0x53696752
_OKAY, _SLVERR = 0, 2
#: Addresses without a register, between registers, after the counters and at the end.
_HOLES = (0x008, 0x020, 0x048, 0x06C, 0x130, 0xFFC)
_READ_ONLY = ("ID", "VERSION", "PARAMS_GEOMETRY", "STATUS", "MAP_SEQUENCE", "LOG_COUNT", "LOG_DATA",
              "MESSAGES", "STALL_CYCLES")  # fmt: skip
_ALL_ONES = bytes([0xFF] * 4)
_PROBE = "LOG_SELECT"


def _demand(what: str, seen: Any, expected: Any) -> None:
    if seen != expected:
        raise RegisterError(f"{what} must be {expected!r}, not {seen!r}")


class _RegisterMisuse(SigraceTest):
    async def body(self) -> None:
        self._ports = self.environment.registers
        await self._identity()
        await self._access_rules()
        await self._partial_writes()
        await self._contexts()
        await self._messages("before enable is set", enable=False)
        await self._messages("checked", enable=True)
        await self._log_out_of_range()
        await self._messages("after enable is cleared", enable=False)
        await self.environment.request("clear_counters")
        counters = await self.environment.software.counters()
        _demand("Counters", counters, dict.fromkeys(counters, 0))
        await self.environment.finish()

    async def _identity(self) -> None:
        ports, params = self._ports, self.bench.params
        _demand("ID", await ports.read("ID"), _IDENTITY)
        for register, names in (
            ("PARAMS_GEOMETRY", ("cores", "contexts", "threads", "history_depth")),
            ("PARAMS_SIGNATURE", ("lsb_bits", "filters", "filter_bits", "one_hot_lsb")),
            ("PARAMS_BLOCK", ("block_instructions",)),
            ("PARAMS_WIDTHS", ("timestamp_bits", "sequence_bits", "pc_bits", "log_depth")),
        ):
            word = await ports.read(register)
            for name in names:
                _demand(name, ports.map.field(register, name, word), int(getattr(params, name)))
        word = await ports.read("PARAMS_SIGNATURE")
        is_hashed = ports.map.field("PARAMS_SIGNATURE", "is_hashed", word)
        _demand("is_hashed", is_hashed, int(params.form is Form.HASHED))

    async def _access_rules(self) -> None:
        """Holes and read-only registers are answered with an error, and stay as they are."""
        ports, coverage = self._ports, self.environment.scoreboard.coverage
        for address in _HOLES:
            _demand(f"Read response at {address:#x}", (await ports.read_at(address))[1], _SLVERR)
            response = await ports.write_at(address, _ALL_ONES)
            _demand(f"Write response at {address:#x}", response, _SLVERR)
            coverage.hit("register.error", 2)
        for name in _READ_ONLY:
            before = await ports.read(name)
            response = await ports.write_at(ports.map.address(name), _ALL_ONES)
            _demand(f"Write response of {name}", response, _SLVERR)
            _demand(name, await ports.read(name), before)

    async def _partial_writes(self) -> None:
        ports = self._ports
        await ports.write(_PROBE, 0x11223344)
        place = ports.map.address(_PROBE)
        _demand("Response", await ports.write_at(place + 1, b"\xaa"), _OKAY)
        _demand(_PROBE, await ports.read(_PROBE), 0x1122AA44)
        _demand("Response", await ports.write_at(place + 2, b"\xbb\xcc"), _OKAY)
        _demand(_PROBE, await ports.read(_PROBE), 0xCCBBAA44)
        self.environment.scoreboard.coverage.hit("register.partial_write", 2)
        # The pulses of CONTROL lie in its second byte: a write of the first makes none.
        _demand("Response", await ports.write_at(ports.map.address("CONTROL"), b"\x02"), _OKAY)
        _demand("CONTROL", await ports.read("CONTROL"), 2)

    async def _contexts(self) -> None:
        """CoreToThread keeps what is written; what is out of range is ignored and reads as 0."""
        software, params = self.environment.software, self.bench.params
        most = max(params.threads - 1, 0)
        for core, context in self.environment.contexts:
            await software.remap(Remap(core, context, most))
        for core, context in ((params.cores, 0), (0, params.contexts), (255, 15)):
            await software.remap(Remap(core, context, 0))
            _demand(f"MAP of {core, context}", await software.mapping(core, context), (None, 0))
        for core, context in self.environment.contexts:
            seen, _ = await software.mapping(core, context)
            _demand(f"MAP of {core, context}", seen, most)
            await software.remap(Remap(core, context, None))
            _demand("MAP", await software.mapping(core, context), (None, 0))

    async def _messages(self, when: str, *, enable: bool) -> None:
        """A conflict on every context: only what is checked is counted as a message."""
        places: list[Slot] = list(self.environment.contexts)[: self.bench.params.threads]
        counter = "messages" if enable else "ignored"
        before = (await self.environment.software.counters())[counter]
        await self.environment.control(enable=enable)
        commands: list[CoreCommand | Remap] = []
        for thread, place in enumerate(places):
            commands.append(Remap(*place, thread))
            commands += [
                CoreCommand(*place, event, OWN)
                for event in (
                    CoreEvent(CoreOp.SWITCH_IN, index=thread),
                    CoreEvent(CoreOp.COLLECT_ON),
                    CoreEvent(CoreOp.STORE, data=64, size=4, instructions=1, pc=thread),
                    CoreEvent(CoreOp.SYNC_REACHED),
                )
            ]
        await self.play(commands)
        counters = await self.environment.finish()
        _demand(f"Counter {counter} {when}", counters[counter], before + len(places))

    async def _log_out_of_range(self) -> None:
        """Words beyond the log's end read as 0."""
        software, params = self.environment.software, self.bench.params
        count = await software.log_count()
        for entry, word in ((count, 0), (0, params.log_words), (0xFFFF, 0), (0, 0xFFFF)):
            _demand(f"Word {word} of entry {entry}", await software.log_word(entry, word), 0)


@cocotb.test()
async def register_misuse(dut):
    await run_test(dut, _RegisterMisuse)
