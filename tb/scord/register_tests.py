"""cocotb test of the register port: identity, misuse, refused launches, enable."""

from __future__ import annotations

from typing import Any

import cocotb

from racetrap.golden_model.scord.packets import Transaction, TransactionKind
from racetrap.golden_model.scord.params import LINE_BYTES
from racetrap.tb.base_test import run_test
from racetrap.tb.register_agent import RegisterError
from racetrap.tb.scord.scord_test import ScordTest
from racetrap.tb.scord.sequences import TransactionSequence

__all__ = ["register_misuse"]

_IDENTITY = 0x53635244
_OKAY, _SLVERR = 0, 2
#: Addresses without a register, in and after the register area.
_HOLES = (0x048, 0x0FC, 0x1F0, 0xFFC)
_PROBE = "DATA_BASE_LO"


def _demand(what: str, seen: Any, expected: Any) -> None:
    if seen != expected:
        raise RegisterError(f"{what} must be {expected:#x}, not {seen:#x}")


class _RegisterMisuse(ScordTest):
    async def body(self) -> None:
        self._ports = self.environment.registers
        await self._identity()
        await self._access_rules()
        await self._ignored("before the first launch")
        await self._traffic_after_launch()
        await self._refused_launches()
        await self._ignored_when_disabled()

    async def _identity(self) -> None:
        ports, params = self._ports, self.bench.params
        _demand("ID", await ports.read("ID"), _IDENTITY)
        for register, names in (
            ("PARAMS_GEOMETRY", ("sm_count", "blocks_per_sm", "warps_per_sm", "banks")),
            ("PARAMS_METADATA", ("granularity", "ratio", "lock_table_depth")),
            ("PARAMS_WIDTHS", ("fence_id_bits", "barrier_id_bits", "address_bits", "pc_bits")),
            ("PARAMS_BUFFERS", ("outstanding", "report_fifo_depth")),
        ):
            word = await ports.read(register)
            for name in names:
                _demand(name, ports.map.field(register, name, word), getattr(params, name))

    async def _access_rules(self) -> None:
        ports = self._ports
        for address in _HOLES:
            _demand(f"Read response at {address:#x}", (await ports.read_at(address))[1], _SLVERR)
            response = await ports.write_at(address, bytes(4))
            _demand(f"Write response at {address:#x}", response, _SLVERR)
        response = await ports.write_at(ports.map.address("ID"), bytes(4))
        _demand("Write response of ID", response, _SLVERR)
        _demand("ID", await ports.read("ID"), _IDENTITY)
        await ports.write(_PROBE, 0x11223344)
        place = ports.map.address(_PROBE)
        _demand("Response", await ports.write_at(place + 1, b"\xaa"), _OKAY)
        _demand(_PROBE, await ports.read(_PROBE), 0x1122AA44)
        _demand("Response", await ports.write_at(place + 2, b"\xbb\xcc"), _OKAY)
        _demand(_PROBE, await ports.read(_PROBE), 0xCCBBAA44)

    async def _traffic(self) -> None:
        """A store by each warp of each SM to the first line of the region."""
        params, base = self.bench.params, self.region().data_base
        for agent in self.environment.sms:
            stores = [
                Transaction(
                    TransactionKind.STORE, strong=1, warp=warp, pc=warp,
                    line=base // LINE_BYTES, mask=0b11,
                )
                for warp in range(params.warps_per_sm)
            ]  # fmt: skip
            await TransactionSequence(stores).start(agent.sequencer)

    async def _ignored(self, when: str) -> None:
        """Transactions are taken, but nothing is checked: a step would be a mismatch."""
        before = await self._ports.read("ACCESSES")
        await self._traffic()
        await self.bench.clocking.cycles(100)
        _demand(f"Accesses checked {when}", await self._ports.read("ACCESSES"), before)

    async def _traffic_after_launch(self) -> None:
        await self.environment.launch(self.region(), 4)
        await self._traffic()
        await self.environment.software.wait_idle()

    async def _refused_launches(self) -> None:
        """A launch with illegal registers changes nothing: the one before stays in force."""
        software, ports, params = self.environment.software, self._ports, self.bench.params
        for register, illegal in (
            ("REGION_SIZE_LOG2", params.min_region_log2 - 1),
            ("REGION_SIZE_LOG2", params.max_region_log2 + 1),
            ("DATA_BASE_LO", self.region().data_base + 4),
            ("METADATA_BASE_LO", 4),
            ("REPORT_BASE_LO", 16),
            ("REPORT_CAPACITY_LOG2", 32),
        ):
            legal = await ports.read(register)
            await ports.write(register, illegal)
            await software.control(launch=1)
            await software.wait_idle()
            refused = await software.status("config_error")
            _demand(f"STATUS.config_error with {register} = {illegal:#x}", refused, 1)
            await ports.write(register, legal)
        await self._traffic()
        await self.environment.finish()
        await self.environment.launch(self.region(), 4)
        _demand("STATUS.config_error", await software.status("config_error"), 0)

    async def _ignored_when_disabled(self) -> None:
        await self._traffic()
        await self.environment.finish()
        self.environment.scoreboard.enabled = False
        await self.environment.software.control(enable=0)
        await self._ignored("while disabled")
        await self.environment.software.control(enable=1, clear_counters=1)
        _demand("ACCESSES", await self._ports.read("ACCESSES"), 0)


@cocotb.test()
async def register_misuse(dut):
    await run_test(dut, _RegisterMisuse)
