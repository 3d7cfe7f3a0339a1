"""Trial of the wheel as a user has it: from nothing, with each extra, on each Python.

``python -m tests.packages PYTHON...`` makes a virtual environment for each Python and extra,
installs the wheel there, and checks, generates and simulates from another folder.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support import REPOSITORY

_EXAMPLES = REPOSITORY / "docs" / "examples"
_TRACE = str(_EXAMPLES / "block-fence.trace")
_LAUNCH = str(_EXAMPLES / "handover.toml")
#: Commands and their exit status.
_COMMANDS = (
    (["doctor"], 0),
    (["check", _TRACE], 1),
    (["generate", "scord-tiny"], 0),
    (["simulate", "scord-tiny", _TRACE], 1),
    (["simulate", "scord-tiny", _TRACE, "--waves", "run.fst"], 1),
)
#: Extras for users, and what is called besides; the first is the package alone.
_EXTRAS = {
    "": (),
    "cluster": (),
    "fpga": ((["cost", "scord-tiny", "--seeds", "0", "--block", "barrier_ids"], 0),),
    "cuda": ((["check", str(_EXAMPLES / "handover.cu"), "--launch", _LAUNCH], 1),),
}


def _wheel(folder: Path) -> Path:
    """The wheel of the checkout as it is committed, by way of the source distribution's rules."""
    sources = folder / "sources"
    sources.mkdir()
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=REPOSITORY, capture_output=True, check=True
    )
    subprocess.run(["tar", "x", "-C", str(sources)], input=archive.stdout, check=True)
    _run([sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, sources])
    (wheel,) = folder.glob("*.whl")
    return wheel


def _run(command: Sequence[str | Path], expected: int = 0, **options: object) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode != expected:
        said = done.stdout[-2000:] + done.stderr[-2000:]
        raise SystemExit(f"{command} must end with {expected}, not {done.returncode}:\n{said}")


def _try(python: str, extra: str, wheel: Path) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        _run([python, "-m", "venv", folder / "venv"])
        binaries = folder / "venv" / "bin"
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        _run([binaries / "pip", "install", "--quiet", wanted])
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        environment = {"PATH": f"{binaries}:/usr/bin:/bin", "HOME": name}
        for words, status in (*_COMMANDS, *_EXTRAS[extra]):
            _run([binaries / "racetrap", *words], status, cwd=elsewhere, env=environment)


def main(pythons: Sequence[str]) -> None:
    """Try each Python with each extra; the first that fails ends the trial."""
    with TemporaryDirectory() as name:
        wheel = _wheel(Path(name))
        for python in pythons:
            for extra in _EXTRAS:
                started = time.monotonic()
                _try(python, extra, wheel)
                what = f"with {extra}" if extra else "alone"
                print(f"{python} {what}: {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
