"""The bus monitor's golden model behind a golden link, for tests of the host."""

from __future__ import annotations

from collections import Counter, deque

from racetrap.generators.description import describe_registers
from racetrap.generators.register_map import RegisterMap
from racetrap.golden_model.configuration import configuration_hash
from racetrap.golden_model.link.device import LinkDevice
from racetrap.golden_model.link.hello import Hello
from racetrap.golden_model.noncoherent.monitor import Monitor, counters
from racetrap.golden_model.noncoherent.packets import BusOperation, rows_of
from racetrap.golden_model.noncoherent.params import NoncoherentParams
from tests.support.fpga.virtual_device import reset_words

_DEPTH = 8


class MonitorTarget:
    """A monitor as a queue of operations, a queue of records, and registers.

    Each access to the device takes one operation.
    """

    def __init__(self, params: NoncoherentParams, *, report_room: int = 16):
        self._params, self._room = params, report_room
        self._map = RegisterMap(describe_registers(params))
        self._names = {self._map.address(name): name for name in describe_registers(params)}
        self._operations: deque[int] = deque()
        self._records: deque[int] = deque()
        self._monitor = Monitor(params)
        self._counters: Counter[str] = Counter()
        self._registers = reset_words(params)
        self._head = 0

    def credits(self, channel: int) -> int:
        self._advance()
        return _DEPTH - len(self._operations)

    def push(self, channel: int, record: int) -> None:
        self._operations.append(record)

    def pull(self, channel: int) -> int | None:
        return self._records.popleft() if self._records else None

    def _advance(self) -> None:
        if not self._operations:
            return
        layout = self._params.operation_layout
        operation = BusOperation(**layout.unpack(self._operations.popleft()))
        steps = list(self._monitor.run(rows_of(self._params, operation)))
        self._counters.update(counters([operation], steps))
        for step in steps:
            if not (step.dma.found or step.cache.found):
                continue
            if len(self._records) == self._room:
                self._counters["reports_dropped"] += 1
                continue
            self._counters["reports_written"] += 1
            self._records.append(
                self._params.report_layout.pack(
                    {
                        "sequence": self._head,
                        "row": step.row._asdict(),
                        "dma": step.dma._asdict(),
                        "cache": step.cache._asdict(),
                    }
                )
            )
            self._head += 1

    def write(self, address: int, data: int) -> bool:
        name = self._names.get(address)
        if name == "CONTROL":
            fields = self._map.fields(name, data)
            if fields["clear"]:
                self._monitor = Monitor(self._params)
            if fields["clear_counters"]:
                self._counters.clear()
        if name is not None:
            self._registers[name] = data
        return name is not None

    def read(self, address: int) -> int | None:
        self._advance()
        name = self._names.get(address)
        if name == "STATUS":
            return self._map.pack(name, idle=not self._records)
        if name == "REPORT_HEAD":
            return self._head
        return None if name is None else self._counters.get(name.lower(), self._registers[name])


def monitor_device(params: NoncoherentParams, **settings: int) -> LinkDevice:
    """Golden link in front of the monitor's golden model."""
    link = Hello.of(
        configuration=configuration_hash(params),
        input_bits=params.operation_layout.width,
        inputs=1,
        output_bits=256,
        outputs=1,
        credits=_DEPTH,
    )
    return LinkDevice(MonitorTarget(params, **settings), link)
