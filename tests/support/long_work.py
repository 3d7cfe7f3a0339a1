"""Long work in this process: rows made at once, by a test if it wants to, and stopped by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from racetrap.commands.shared import long_work
from racetrap.evaluation.processes import InThisProcess


class _Answers(InThisProcess):
    def __init__(self, make: Callable[[Any], Any] | None) -> None:
        self._make = make

    def submit(self, function: Callable[..., Any], /, *items: Any, **named: Any) -> Any:
        return super().submit(self._make or function, *items, **named)


def answer(monkeypatch: pytest.MonkeyPatch, make: Callable[[Any], Any] | None = None) -> None:
    """Let what ``make`` gives be the result of each item, or, without it, what runs in workers."""
    monkeypatch.setattr(long_work, "processes", lambda jobs: _Answers(make))


def stop_after(monkeypatch: pytest.MonkeyPatch, rows: int, stop: BaseException) -> None:
    """Let a signal come when so many rows have been printed."""
    printed: list[str] = []
    say = long_work.LongWork._say

    def say_and_stop(self: long_work.LongWork, label: str, words: str) -> None:
        say(self, label, words)
        printed.append(label)
        if len(printed) == rows:
            raise stop

    monkeypatch.setattr(long_work.LongWork, "_say", say_and_stop)
