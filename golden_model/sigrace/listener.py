"""Listener to all inputs of SigRace's hardware, so that they can be replayed elsewhere."""

from __future__ import annotations

from typing import Protocol

from racetrap.golden_model.sigrace.core_unit import CoreUnit
from racetrap.golden_model.sigrace.environment import Command
from racetrap.golden_model.sigrace.packets import CoreEvent
from racetrap.golden_model.sigrace.params import SigraceParams


class Listener(Protocol):
    """Receives all inputs in order; messages are taken in the order of the commands."""

    def command(self, command: Command) -> None:
        """A core has taken an event, or CoreToThread was changed."""

    def flush(self) -> None:
        """The queues were emptied."""

    def clear_log(self) -> None:
        """The conflict log, which was not empty, has been read and is emptied."""

    def analysis_unit(self) -> CoreUnit:
        """The core unit that executes the next epoch in Analysis mode."""


class RecordingUnit(CoreUnit):
    """Core unit that records its events.

    Parameters
    ----------
    params : SigraceParams
        Configuration.

    Attributes
    ----------
    events : list of CoreEvent
        Events taken.
    """

    def __init__(self, params: SigraceParams) -> None:
        super().__init__(params)
        self.events: list[CoreEvent] = []

    def take(self, event: CoreEvent) -> None:
        """Take an event without a step."""
        self.events.append(event)
        super().take(event)
