"""Descendants of this process: workers, simulators, compilers and what they have started."""

from __future__ import annotations

import contextlib

_TRACKER = "multiprocessing.resource_tracker"


def kill_descendants() -> None:
    """Kill every process that this one has started, and those that they have started.

    Python's own resource tracker is left: it ends by itself, and complains if it is missed.
    """
    import psutil  # slow to import, and needed only when a run is cut short

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if _TRACKER not in " ".join(process.cmdline()):
                process.kill()
