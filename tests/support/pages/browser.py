"""Headless Chromium."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
NEEDS_BROWSER = pytest.mark.skipif(_CHROMIUM is None, reason="no Chromium on this machine")


def browse(file: Path, fragment: str = "", width: int = 1400) -> str:
    """The document as it is after its scripts have run; the console must have stayed empty.

    Parameters
    ----------
    file : Path
        A page; its folder gets the browser's profile.
    fragment : str
        What follows ``#`` in its address.
    width : int
        Of the window.
    """
    result = subprocess.run(
        [str(_CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={file.parent / 'profile'}", "--enable-logging=stderr",
         f"--window-size={width},900", "--virtual-time-budget=10000", "--dump-dom",
         f"{file.as_uri()}#{fragment}"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in result.stderr, result.stderr
    return result.stdout
