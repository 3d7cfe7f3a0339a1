"""`racetrap cache`: what was built and measured before."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {
    "clear": "Remove it.",
    "info": "Show where it lies and how large it is.",
}


@lazy_group("cache", _LINES)
def command() -> None:
    """Keep what was built and measured before: simulators, synthesis, recordings, sweeps.

    The cache is in the platform's cache folder, or in the one that the environment variable
    RACETRAP_CACHE names; each version of racetrap has a folder of its own there.
    """
