"""`racetrap cache`: cached builds and results."""

from __future__ import annotations

from racetrap.commands.shared.lazy_group import lazy_group

_LINES = {
    "clear": "Remove cached builds and results.",
    "info": "Show the cache's folder and size.",
}


@lazy_group("cache", _LINES)
def command() -> None:
    """Show or clear cached builds and results: simulators, synthesis, recordings, sweeps.

    The cache is in the platform's cache folder, or in the folder named by the environment variable
    RACETRAP_CACHE; each version of racetrap has its own subfolder.
    """
