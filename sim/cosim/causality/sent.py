"""What an SM's tracker sends, as far as the hardware has shown that it has.

Clocks of packets depend on what the collector has settled before, so that transactions go through
the golden tracker only when something shows that they have gone through that of the hardware: a
bank's step, or a marker that the collector takes.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from copy import copy

from racetrap.golden_model.causality.collector import Collector
from racetrap.golden_model.causality.packets import (
    Marker,
    Packet,
    Transaction,
    TransactionKind,
)
from racetrap.golden_model.causality.params import CausalityParams
from racetrap.golden_model.causality.tracker import Tracker
from racetrap.golden_model.causality.warp_row import WarpRow
from racetrap.sim.cosim.comparison.mismatch import Mismatch

_BRANCHES = (TransactionKind.IF, TransactionKind.ELSE, TransactionKind.FI)
#: Kinds whose packets alone change a row, in the banks.
_OF_ROWS = (*_BRANCHES, TransactionKind.WARP_BARRIER)


class SentBySm:
    """Transactions of one SM.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    tracker : Tracker
        Its golden tracker.
    collector : Collector
        The golden collector, for the rows.
    send : callable
        Takes each packet, with the row of its warp as it then is.

    Attributes
    ----------
    markers : deque of (Marker, Transaction)
        Those that the collector has not taken.
    """

    def __init__(
        self, params: CausalityParams, tracker: Tracker, collector: Collector,
        send: Callable[[Packet, WarpRow], None],
    ) -> None:  # fmt: skip
        self._params, self._tracker, self._collector = params, tracker, collector
        self._send = send
        self._transactions: deque[Transaction] = deque()
        self.markers: deque[tuple[Marker, Transaction]] = deque()
        self._waits = False
        # Rows as banks have them, which a later branch must not change.
        self._rows: dict[int, WarpRow] = {}

    def __len__(self) -> int:
        """Transactions and markers that are still to come."""
        return len(self._transactions) + len(self.markers)

    def transaction(self, transaction: Transaction) -> None:
        """The SM hands over its next transaction."""
        self._transactions.append(transaction)

    def advance(self) -> bool:
        """Let the tracker send its next transaction; whether there was one that it may send."""
        if self._waits or not self._transactions:
            return False
        transaction = self._transactions.popleft()
        if transaction.kind <= TransactionKind.ATOMIC:
            packet = self._tracker.packet(transaction)
            self._send(packet, self._row(packet.warp))
            return True
        if any(state.clock >= self._params.last_clock for state in self._tracker.warps):
            raise Mismatch(f"Clocks of {self} must restart before {transaction}")
        marker = self._tracker.marker(transaction)
        if transaction.kind in _OF_ROWS:
            self._rows.pop(marker.warp, None)
            self._change_row(marker, transaction)
        else:
            self._waits = True
        if transaction.kind not in (TransactionKind.ELSE, TransactionKind.FI):
            self.markers.append((marker, transaction))
        return True

    def _change_row(self, marker: Marker, transaction: Transaction) -> None:
        """A branch, or a barrier of the warp: the warp goes on at once."""
        row, kind = self._collector.rows[marker.warp], transaction.kind
        state = self._tracker.warps[transaction.warp]
        if kind == TransactionKind.IF:
            state.clock += 1
            row.begin_branch(transaction.lanes, state.clock)
        elif kind == TransactionKind.ELSE:
            row.swap_branch()
        elif kind == TransactionKind.FI:
            row.end_branch()
        else:
            state.clock += 1
            row.warp_barrier(transaction.lanes, state.clock)

    def go_on(self) -> None:
        """The collector has settled a marker: rows of the SM's warps are others."""
        self._waits = False
        self._rows.clear()

    def forget_rows(self) -> None:
        """Clocks restart."""
        self._rows.clear()

    def _row(self, warp: int) -> WarpRow:
        row = self._rows.get(warp)
        if row is None:
            row = copy(self._collector.rows[warp])
            row.know, row.levels = row.know.copy(), list(row.levels)
            self._rows[warp] = row
        return row

    def __str__(self) -> str:
        return f"SM {self._tracker.sm}"
