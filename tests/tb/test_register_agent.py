"""Polling: given up after a number of polls, more of them for work that takes more cycles."""

import pytest

from racetrap.tb.register_agent import RegisterError, poll


def _ready_after(polls):
    left = iter(range(polls))
    return lambda: next(left, None) is None


def test_poll_waits_for_the_work_there_is():
    poll(_ready_after(10_000), "finish")
    poll(_ready_after(1 << 20), "finish", cycles=1 << 20)
    with pytest.raises(RegisterError, match="Device must finish within 20000 polls"):
        poll(_ready_after(1 << 20), "finish")
