"""Descendants of this process: workers, simulators, compilers and their children."""

from __future__ import annotations

import contextlib

_TRACKER = "multiprocessing.resource_tracker"


def kill_descendants() -> None:
    """Kill all descendants of this process.

    Python's own resource tracker is kept: it ends by itself, and its loss is reported.
    """
    import psutil  # slow to import, and needed only when a run is cut short

    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if _TRACKER not in " ".join(process.cmdline()):
                process.kill()
