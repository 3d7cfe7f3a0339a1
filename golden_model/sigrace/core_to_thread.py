"""CoreToThread: thread of each context, and its next sequence number.

Ref: SigRace (ISCA'09) Section 4.3.1.
"""

from __future__ import annotations

from racetrap.golden_model.sigrace.packets import Drop, Summary
from racetrap.golden_model.sigrace.params import SigraceParams


class CoreToThread:
    """Checks the origin of messages.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Attributes
    ----------
    threads : dict
        Thread on each (core, context) that has one.
    expected : dict
        Sequence number expected from each (core, context).
    numbers : dict
        Number of the block expected from each: its sequence number, without wrapping.
    """

    def __init__(self, params: SigraceParams) -> None:
        self._params = params
        self.threads: dict[tuple[int, int], int] = {}
        self.expected = {
            (core, context): 0 for core in range(params.cores) for context in range(params.contexts)
        }
        self.numbers = dict(self.expected)

    def map(self, core: int, context: int, thread: int | None) -> None:
        """Map ``thread``, or none, to a context."""
        if thread is None:
            self.threads.pop((core, context), None)
        else:
            self.threads[core, context] = thread

    def check(self, summary: Summary, link: int) -> Drop:
        """Reason to drop a message that arrived on ``link``; NONE if it is valid.

        A message with the wrong number counts as received, so that one gap drops one message.
        """
        if summary.is_malformed:
            return Drop.MALFORMED
        place = summary.core, summary.context
        if summary.core != link or place not in self.expected or place not in self.threads:
            return Drop.UNMAPPED
        thread = self.threads[place]
        if summary.thread >= self._params.threads or summary.thread != thread:
            return Drop.THREAD
        return Drop.NONE if self.follow(summary, link) else Drop.SEQUENCE

    def follow(self, summary: Summary, link: int) -> bool:
        """Expect the number after a message's; return whether the message had the expected one.

        A message that is malformed or names another link or no context changes nothing.
        """
        place = summary.core, summary.context
        if summary.is_malformed or summary.core != link or place not in self.expected:
            return False
        mask = (1 << self._params.sequence_bits) - 1
        gap = summary.sequence - self.expected[place] & mask
        self.expected[place] = summary.sequence + 1 & mask
        self.numbers[place] += gap + 1
        return not gap
