"""Report of a call while it runs: printed by a command, kept by the Python interface."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from racetrap.commands.shared.terminal import kept_console
from racetrap.presenters.race_choice import RaceChoice

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Report:
    """Where findings are printed, and which.

    Parameters
    ----------
    console : Console
        Where to print.
    choice : RaceChoice
        What to print, and whether there is data to be written.
    suits : callable
        Raises ``ValueError`` for an option that is not for what is called: takes its name.
    """

    console: Console = field(default_factory=kept_console)
    choice: RaceChoice = field(default_factory=lambda: RaceChoice(has_json=True))
    suits: Callable[..., object] = lambda *names: None

    @property
    def text(self) -> str:
        """What was printed, if it was kept."""
        file = self.console.file
        return file.getvalue() if isinstance(file, io.StringIO) else ""
