"""Golden models of a link and a detector behind a pseudo-terminal, for tests of the host."""

from __future__ import annotations

import os
import pty
import select
import threading
import tty
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from racetrap.fpga.gpu.board import largest_region
from racetrap.fpga.scord.core_device import CORE_REGISTERS
from racetrap.generators.description import describe_registers
from racetrap.generators.register_map import RegisterMap
from racetrap.generators.system import Params
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.gpu.model import GpuModel
from racetrap.golden_model.gpu.region import Region
from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.hello import Hello
from racetrap.golden_model.scord.packets import Transaction
from racetrap.golden_model.scord.params import ScordParams
from racetrap.golden_model.scord.report import RaceReport
from racetrap.golden_model.scord.scord import Scord

#: Records that a channel holds.
_DEPTH = 8


def reset_words(params: Params) -> dict[str, int]:
    """Words of the registers after a reset, by name."""
    return {
        name: sum((field["reset"] or 0) << field["offset"] for field in register["fields"].values())
        for name, register in describe_registers(params).items()
    }


class GpuTarget:
    """A GPU detector's golden model as queues of records and registers.

    Transactions wait in their channel, and finish in the background of the link: each access
    to the device moves on one of a random channel, so that a host which does not wait between
    channels gets them in another order.
    """

    def __init__(
        self, golden: type[GpuModel], transaction: Any, params: Any, seed: int = 1, *,
        report_room: int = 16,
    ):  # fmt: skip
        self._golden, self._transaction, self._params = golden, transaction, params
        self._random = Random(seed)
        self._queues: list[deque[int]] = [deque() for _ in range(params.sm_count)]
        self._reports: deque[int] = deque()
        self._report_room = report_room
        self._registers = reset_words(params)
        described = describe_registers(params)
        self._map = RegisterMap(described)
        self._names = {self._map.address(name): name for name in described}
        self._model: GpuModel | None = None
        self._head = self._races = self._dropped = 0
        self._before: dict[str, int] = {}

    # Channels

    def credits(self, channel: int) -> int:
        self._advance()
        return _DEPTH - len(self._queues[channel])

    def push(self, channel: int, record: int) -> None:
        self._queues[channel].append(record)

    def pull(self, channel: int) -> int | None:
        return self._reports.popleft() if self._reports else None

    def _advance(self) -> None:
        waiting = [sm for sm, queue in enumerate(self._queues) if queue]
        if not waiting or self._random.random() < 0.4:
            return
        sm = self._random.choice(waiting)
        record = self._queues[sm].popleft()
        if self._model is None:
            return
        before = len(self._model.races)
        values = self._params.transaction_layout.unpack(record)
        self._model.transact(sm, self._transaction(**values))
        for report in self._model.races[before:]:
            if len(self._reports) < self._report_room:
                self._reports.append(report.record())
                self._head += 1
            else:
                self._dropped += 1

    # Registers

    def write(self, address: int, data: int) -> bool:
        name = self._names.get(address)
        if name is None:
            return False
        self._registers[name] = data
        if name == "CONTROL" and self._map.fields(name, data)["clear_counters"]:
            self._before, self._dropped = dict(self._counted()), 0
        if name == "CONTROL" and self._map.fields(name, data)["launch"]:
            self._launch()
        return True

    def _launch(self) -> None:
        self._model = self._golden(self._params, self._region())
        self._before = {}

    def _region(self) -> Region:
        low, high = (self._registers[f"DATA_BASE_{half}"] for half in ("LO", "HI"))
        return Region(low | high << 32, self._registers["REGION_SIZE_LOG2"], 0)

    def _counted(self) -> dict[str, int]:
        return {} if self._model is None else self._model.counters

    def read(self, address: int) -> int | None:
        self._advance()
        name = self._names.get(address)
        if name == "STATUS":
            # A channel's queue is not the detector's: it may be idle before records get there.
            return self._map.pack(name, idle=1)
        if name == "REPORT_HEAD":
            return self._head
        if name == "REPORTS_DROPPED":
            return self._dropped
        counted = self._counted()
        if name is not None and name.lower() in counted:
            return counted[name.lower()] - self._before.get(name.lower(), 0)
        return None if name is None else self._registers.get(name, 0)


class CoreTarget(GpuTarget):
    """A core: few registers, a fixed region, reports without a number.

    It is idle only when its reports are pulled, as the hardware is.
    """

    def __init__(self, params: ScordParams, seed: int = 1, *, report_room: int = 2):
        super().__init__(Scord, Transaction, params, seed, report_room=report_room)
        self._names = {
            address: name for address, name in self._names.items() if name in CORE_REGISTERS
        }

    def read(self, address: int) -> int | None:
        value = super().read(address)
        is_status = self._names.get(address) == "STATUS"
        return 0 if is_status and self._reports else value

    def pull(self, channel: int) -> int | None:
        if (record := super().pull(channel)) is None:
            return None
        return replace(RaceReport.from_record(record), sequence=0).record()

    def _region(self) -> Region:
        return largest_region(self._params)


@dataclass
class Fault:
    """What goes wrong on the line.

    Attributes
    ----------
    seed : int
        Of everything random.
    flip, drop, double : float
        Chance of each byte, in both directions, to be damaged, lost or doubled.
    unplug_after : int or None
        Bytes after which the device is gone.
    mute_after : int or None
        Bytes after which it says nothing any more.
    """

    seed: int = 1
    flip: float = 0.0
    drop: float = 0.0
    double: float = 0.0
    unplug_after: int | None = None
    mute_after: int | None = None


class _Line:
    def __init__(self, fault: Fault):
        self._fault, self._random = fault, Random(fault.seed)

    def carry(self, data: bytes) -> bytes:
        """Bytes at the other end."""
        fault, draw = self._fault, self._random.random
        out = bytearray()
        for byte in data:
            if draw() < fault.drop:
                continue
            damage = 1 << self._random.randrange(8) if draw() < fault.flip else 0
            out += bytes([byte ^ damage]) * (1 + (draw() < fault.double))
        return bytes(out)


def _serve(
    master: int, stop: threading.Event, receive: Callable[[bytes], bytes], fault: Fault
) -> None:
    line, count = _Line(fault), 0
    while not stop.is_set():
        if not select.select([master], [], [], 0.02)[0]:
            continue
        try:
            data = os.read(master, 4096)
        except OSError:  # the host has closed its end
            stop.wait(0.02)
            continue
        count += len(data)
        if fault.unplug_after is not None and count > fault.unplug_after:
            return
        if fault.mute_after is None or count <= fault.mute_after:
            os.write(master, line.carry(receive(line.carry(data))))


@contextmanager
def on_terminal(receive: Callable[[bytes], bytes], fault: Fault | None = None) -> Iterator[str]:
    """A device on a pseudo-terminal; gives the terminal's name."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    name = os.ttyname(slave)
    stop = threading.Event()

    def serve() -> None:
        try:
            _serve(master, stop, receive, fault or Fault())
        finally:
            os.close(slave)
            os.close(master)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield name
    finally:
        stop.set()
        thread.join()


def scord_device(params: ScordParams, seed: int = 1, **settings: int) -> LinkDevice:
    """Golden link in front of ScoRD's golden model."""
    return gpu_device(Scord, Transaction, params, seed, **settings)


def gpu_device(
    golden: type[GpuModel], transaction: Any, params: Any, seed: int = 1, **settings: int
) -> LinkDevice:
    """Golden link in front of the golden model of a GPU detector."""
    return _device(GpuTarget(golden, transaction, params, seed, **settings), params)


def core_device(params: ScordParams, **settings: int) -> LinkDevice:
    """Golden link in front of a core."""
    return _device(CoreTarget(params, **settings), params)


def _device(target: GpuTarget, params: Any) -> LinkDevice:
    link = Hello.of(
        configuration=configuration_hash(params),
        input_bits=params.transaction_layout.width,
        inputs=params.sm_count,
        output_bits=256,
        outputs=1,
        credits=_DEPTH,
    )
    return LinkDevice(target, link)
