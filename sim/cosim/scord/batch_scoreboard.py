"""Steps of a launch compared as one array.

A scoreboard that stops at the first difference and names it looks at one field after the other.
Here the golden model's steps are packed as the trace port packs its own, and two arrays are
compared; only if they differ is the scoreboard asked what it is.

Ref: ScoRD (ISCA'20) Section IV.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from racetrap.golden_model.scord.packets import PacketKind
from racetrap.sim.cosim.fast.packing import pack_tuples, unpack_column
from racetrap.sim.cosim.scord.scoreboard import Scoreboard

__all__ = ["BatchScoreboard"]

#: Steps that are compared together: so few that they stay in the processor's caches.
_TOGETHER = 2048


class BatchScoreboard(Scoreboard):
    """A scoreboard for a launch of which all transactions are known before the first step.

    Parameters
    ----------
    params : ScordParams
        Configuration of the hardware.
    region : Region
        Monitored region of the launch.
    """

    def take(self, bank: int, words: NDArray[np.uint32]) -> bool:
        """Compare the next steps of a bank, every bit of them.

        Parameters
        ----------
        bank : int
            Bank.
        words : array of uint32
            Steps in the bank's order, a row each.

        Returns
        -------
        bool
            Whether all agree.  After a difference this object is of no further use.
        """
        starts = range(0, len(words), _TOGETHER)
        return all(self._part(bank, words[start : start + _TOGETHER]) for start in starts)

    def _part(self, bank: int, words: NDArray[np.uint32]) -> bool:
        layout = self._params.step_layout
        sms = unpack_column(layout, words, "packet.block") >> np.uint64(self._sm_shift)
        if (sms >= self._params.sm_count).any():
            return False
        errors = unpack_column(layout, words, "read_error").astype(bool).tolist()
        fences = unpack_column(layout, words, "packet.kind") == np.uint64(PacketKind.FENCE)
        step = self.banks[bank].step
        due = [expected.take for expected in self._packets[bank]]
        try:
            golden = [
                step(due[sm](is_fence), error)
                for sm, is_fence, error in zip(sms.tolist(), fences.tolist(), errors, strict=True)
            ]
        except IndexError:  # a step of an SM from which none is due, or not yet
            return False
        if not np.array_equal(pack_tuples(layout, golden), words):
            return False
        self.steps_of[bank] += len(golden)
        for found in golden:
            if found.race:
                self._reports.race(bank, found)
        return True
