"""Packets and markers that an SM's tracker sends, as far as the hardware has shown that it has.

Clocks of packets depend on what the collector has settled before, so that transactions go through
the golden tracker only when something shows that they have gone through that of the hardware: a
bank's step, or a marker that the collector takes.

Ref: ScoRD (ISCA'20) Section VI.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import attrgetter

from racetrap.golden_model.causality.causality import Causality
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

_clock_of = attrgetter("clock")


class SentBySm:
    """Transactions of one SM.

    Parameters
    ----------
    params : CausalityParams
        Configuration.
    golden : Causality
        The golden model.
    sm : int
        The SM.
    send : callable
        Takes each packet, with the row of its warp as it then is.

    Attributes
    ----------
    markers : deque of (Marker, Transaction)
        Those that the collector has not taken.
    """

    def __init__(
        self, params: CausalityParams, golden: Causality, sm: int,
        send: Callable[[Packet, WarpRow], None],
    ) -> None:  # fmt: skip
        self._params, self._golden, self._sm, self._send = params, golden, sm, send
        self._tracker: Tracker = golden.trackers[sm]
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
        if max(map(_clock_of, self._tracker.warps)) >= self._params.last_clock:
            raise Mismatch(f"Clocks of {self} must restart before {transaction}")
        marker = self._tracker.marker(transaction)
        if transaction.kind >= TransactionKind.IF:
            self._rows.pop(marker.warp, None)
            self._golden.change_row(self._sm, transaction)
        else:
            self._waits = True
        if transaction.kind not in (TransactionKind.ELSE, TransactionKind.FI):
            self.markers.append((marker, transaction))
        return True

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
            row = self._rows[warp] = self._golden.collector.rows[warp].copy()
        return row

    def __str__(self) -> str:
        return f"SM {self._sm}"
