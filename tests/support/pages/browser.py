"""Headless Chromium."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
NEEDS_BROWSER = pytest.mark.skipif(
    CHROMIUM is None,
    reason="NO PAGE IS LOOKED AT: there is no Chromium (Debian: apt install chromium)",
)
#: Starts it without a window, and without a word to the network.
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def browse(file: Path, fragment: str = "", width: int = 1400) -> str:
    """The document as it is after its scripts have run; the console must have stayed empty.

    Parameters
    ----------
    file : Path
        A page; its folder gets the browser's profile.
    fragment : str
        What follows ``#`` in its address.
    width : int
        Of the window, at least 500.
    """
    result = subprocess.run(
        [str(CHROMIUM), *ARGUMENTS, f"--user-data-dir={file.parent / 'profile'}",
         "--enable-logging=stderr", f"--window-size={width},900", "--virtual-time-budget=10000",
         "--dump-dom", f"{file.as_uri()}#{fragment}"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert "CONSOLE" not in result.stderr, result.stderr
    return result.stdout
