"""Trial of the wheel as a user has it: from nothing, with each extra, on each Python.

``python -m tests.packages PYTHON...`` makes a virtual environment for each Python and extra,
installs the wheel there, and checks, generates and simulates from another folder.  It prints the
size of each environment, pip included, and the time that pip took.
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
_LAUNCH = ["--launch", str(_EXAMPLES / "handover.toml")]
#: Commands and their exit status, with each extra and without.
_COMMANDS = (
    (["doctor"], 0),
    (["check", _TRACE], 1),
    (["check", str(_EXAMPLES / "handover.ptx"), *_LAUNCH], 1),
)
_GENERATED = (
    (["generate", "scord-tiny"], 0),
    (["simulate", "scord-tiny", _TRACE], 1),
    (["simulate", "scord-tiny", _TRACE, "--output", "run.fst"], 1),
)
_SWEEP = ["sweep", str(_EXAMPLES / "sweep-metadata.toml")]
_BLOCK_BYTES = 512  # the unit of `st_blocks`
#: Extras for users, and what is called besides; the first is the package alone.
_EXTRAS = {
    "": (),
    "hardware": _GENERATED,
    "cluster": ((_SWEEP, 0),),
    "docs": ((_SWEEP, 0),),
    "fpga": ((["cost", "scord-tiny", "--seeds", "0", "--block", "barrier_ids"], 0),),
    "cuda": ((["check", str(_EXAMPLES / "handover.cu"), *_LAUNCH], 1),),
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


def _try(python: str, extra: str, wheel: Path) -> str:
    """What an installation takes, in words, if all commands end as they should."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        _run([python, "-m", "venv", folder / "venv"])
        binaries = folder / "venv" / "bin"
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        started = time.monotonic()
        _run([binaries / "pip", "install", "--quiet", wanted])
        seconds = time.monotonic() - started
        used = sum(path.lstat().st_blocks for path in (folder / "venv").rglob("*")) * _BLOCK_BYTES
        elsewhere = folder / "elsewhere"
        elsewhere.mkdir()
        environment = {"PATH": f"{binaries}:/usr/bin:/bin", "HOME": name}
        for words, status in (*_COMMANDS, *_EXTRAS[extra]):
            _run([binaries / "racetrap", *words], status, cwd=elsewhere, env=environment)
        return f"{used / 2**20:.0f} MB, installed in {seconds:.0f} s"


def main(pythons: Sequence[str]) -> None:
    """Try each Python with each extra; the first that fails ends the trial."""
    with TemporaryDirectory() as name:
        wheel = _wheel(Path(name))
        for python in pythons:
            for extra in _EXTRAS:
                what = f"with {extra}" if extra else "alone"
                print(f"{python} {what}: {_try(python, extra, wheel)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
