"""`racetrap soc`: example systems with the bus monitor."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {"run": "Run firmware on a system, and print what the monitor reports."}


@lazy_group("soc", _LINES, extras=dict.fromkeys(_LINES, "soc"))
def command() -> None:
    """Run firmware on a processor with a cache, a DMA engine and the bus monitor."""
