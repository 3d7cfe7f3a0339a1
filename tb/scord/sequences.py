"""Sequences of transactions, on one SM and on all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import cocotb
from pyuvm import uvm_sequence

from racetrap.golden_model.scord.packets import Transaction
from racetrap.tb.bench import Bench
from racetrap.tb.scord.environment import ScordEnvironment
from racetrap.tb.stream_agent import StreamItem

__all__ = ["PlayInOrder", "PlayTogether", "TransactionSequence"]

#: Cycles in which a packet must have made its step, however slow the memory.
_CYCLES_PER_PACKET = 2000


class TransactionSequence(uvm_sequence):
    """Transactions of one SM, in order, with random idle cycles between them.

    Parameters
    ----------
    transactions : iterable of Transaction
        What to send.
    busy : float
        Probability that a transaction follows without an idle cycle.
    longest_idle : int
        Most idle cycles.
    rng : Random
        Source of idle cycles.
    """

    def __init__(
        self,
        transactions: Iterable[Transaction],
        busy: float = 1.0,
        longest_idle: int = 1,
        rng: Random | None = None,
    ):
        super().__init__("transactions")
        self._transactions = transactions
        self._busy = busy
        self._longest_idle = longest_idle
        self._rng = rng or Random(0)

    async def body(self) -> None:
        for transaction in self._transactions:
            idle = 0
            if self._busy < 1 and self._rng.random() >= self._busy:
                idle = self._rng.randint(1, self._longest_idle)
            item = StreamItem(transaction, idle)
            await self.start_item(item)
            await self.finish_item(item)


class PlayTogether(uvm_sequence):
    """All SMs at once, each with its own transactions: the device chooses the order.

    Parameters
    ----------
    environment : ScordEnvironment
        Bench.
    bench : Bench
        Shared context.
    transactions : sequence of sequences of Transaction
        By SM.
    busy, longest_idle
        As for ``TransactionSequence``.
    """

    def __init__(
        self,
        environment: ScordEnvironment,
        bench: Bench,
        transactions: Sequence[Sequence[Transaction]],
        busy: float = 1.0,
        longest_idle: int = 1,
    ):
        super().__init__("together")
        self._environment = environment
        self._bench = bench
        self._transactions = transactions
        self._busy, self._longest_idle = busy, longest_idle

    async def body(self) -> None:
        tasks = []
        pairs = zip(self._environment.sms, self._transactions, strict=True)
        for sm, (agent, transactions) in enumerate(pairs):
            sequence = TransactionSequence(
                transactions, self._busy, self._longest_idle, self._bench.random(f"idle {sm}")
            )
            tasks.append(cocotb.start_soon(sequence.start(agent.sequencer)))
        count = sum(map(len, self._transactions))
        await self._bench.clocking.until(
            lambda: all(task.done() for task in tasks),
            "not every transaction was taken",
            _CYCLES_PER_PACKET * (count + 1),
        )


class PlayInOrder(uvm_sequence):
    """One global order: a transaction is offered when all steps of those before it are made.

    Parameters
    ----------
    environment : ScordEnvironment
        Bench.
    bench : Bench
        Shared context.
    transactions : iterable of (int, Transaction)
        SM and transaction.
    """

    def __init__(
        self,
        environment: ScordEnvironment,
        bench: Bench,
        transactions: Iterable[tuple[int, Transaction]],
    ):
        super().__init__("in_order")
        self._environment = environment
        self._clocking = bench.clocking
        self._transactions = transactions

    async def body(self) -> None:
        scoreboard = self._environment.scoreboard
        for sm, transaction in self._transactions:
            sequence = TransactionSequence([transaction])
            sequencer = self._environment.sms[sm].sequencer
            task = cocotb.start_soon(sequence.start(sequencer))
            await self._clocking.until(
                lambda: task.done() and scoreboard.is_settled,  # noqa: B023  # awaited here
                f"transaction of SM {sm} has not made its steps: {transaction}",
                40 * _CYCLES_PER_PACKET,
            )
