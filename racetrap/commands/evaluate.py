"""`racetrap evaluate`: the papers' tables from our own runs."""

from __future__ import annotations

from racetrap.calls.evaluate import EVALUATIONS
from racetrap.commands.shared.lazy_group import lazy_group


@lazy_group("evaluate", EVALUATIONS)
def command() -> None:
    """Reproduce the papers' tables on this machine."""
