"""What can be told of all that SigRace's hardware is asked to do, to do it elsewhere as well."""

from __future__ import annotations

from typing import Protocol

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Command

__all__ = ["Listener"]


class Listener(Protocol):
    """Hears of everything in order; messages are taken in the order of the commands."""

    def command(self, command: Command) -> None:
        """A core has taken an event, or CoreToThread was changed."""

    def flush(self) -> None:
        """The queues were emptied."""

    def clear_log(self) -> None:
        """The conflict log, which was not empty, has been read and is emptied."""

    def analysis_unit(self) -> CoreUnit:
        """The core unit that executes the next epoch in Analysis mode."""
