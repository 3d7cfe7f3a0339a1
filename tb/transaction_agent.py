"""Agent of one SM's transaction stream: sequencer, driver with idle cycles, monitor."""

from __future__ import annotations

from cocotb.triggers import Event
from pyuvm import (
    ConfigDB,
    uvm_agent,
    uvm_analysis_port,
    uvm_driver,
    uvm_sequence_item,
    uvm_sequencer,
)

from racetrap.golden_model.scord.packets import Transaction
from racetrap.tb.bench import Bench
from racetrap.tb.codec import field_reader

__all__ = ["TransactionAgent", "TransactionItem"]


class TransactionItem(uvm_sequence_item):
    """One transaction to be offered.

    Parameters
    ----------
    transaction : Transaction
        The transaction.
    idle : int
        Cycles for which nothing is offered before it.
    """

    def __init__(self, transaction: Transaction, idle: int = 0):
        super().__init__("transaction")
        self.transaction = transaction
        self.idle = idle


class _Driver(uvm_driver):
    def __init__(self, name: str, parent: TransactionAgent, sm: int, bench: Bench):
        super().__init__(name, parent)
        port = f"i_transaction__{sm}"
        self._clocking = bench.clocking
        self._pack = bench.params.transaction_layout.pack
        self._payload = bench.pins.writer(f"{port}__payload")
        self._valid = bench.pins.writer(f"{port}__valid")
        self._taken = Event()
        bench.clocking.when(bench.pins.handshake(f"{port}__"), self._accepted)

    def _accepted(self) -> None:
        self._valid(0)
        self._taken.set()

    async def run_phase(self) -> None:
        while True:
            item = await self.seq_item_port.get_next_item()
            if item.idle:
                await self._clocking.cycles(item.idle)
            self._taken.clear()
            self._payload(self._pack(item.transaction._asdict()))
            self._valid(1)
            await self._taken.wait()
            self.seq_item_port.item_done()


class _Monitor(uvm_analysis_port):
    """Publishes (SM, transaction) for each one accepted, as read from the wires."""

    def __init__(self, name: str, parent: TransactionAgent, sm: int, bench: Bench):
        super().__init__(name, parent)
        self._sm = sm
        self._read = bench.pins.reader(f"i_transaction__{sm}__payload")
        self._fields = field_reader(bench.params.transaction_layout)
        # Registered before the driver's function, which takes the payload away.
        bench.clocking.when(bench.pins.handshake(f"i_transaction__{sm}__"), self._accepted)

    def _accepted(self) -> None:
        self.write((self._sm, Transaction(*self._fields(self._read()))))


class TransactionAgent(uvm_agent):
    """Agent of the stream ``i_transaction[sm]``.

    Parameters
    ----------
    name, parent
        As for every component.
    sm : int
        Number of the SM.

    Attributes
    ----------
    sequencer : uvm_sequencer
        Takes ``TransactionItem``.
    monitor : uvm_analysis_port
        Publishes (SM, ``Transaction``).
    """

    def __init__(self, name, parent, sm: int):
        self._sm = sm
        super().__init__(name, parent)

    def build_phase(self) -> None:
        bench = ConfigDB().get(self, "", "BENCH")
        self.sequencer = uvm_sequencer("sequencer", self)
        self.monitor = _Monitor("monitor", self, self._sm, bench)
        self._driver = _Driver("driver", self, self._sm, bench)

    def connect_phase(self) -> None:
        self._driver.seq_item_port.connect(self.sequencer.seq_item_export)
