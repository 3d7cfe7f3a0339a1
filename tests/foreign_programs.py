"""CUDA programs of others: examples of Thrust, fetched for the check and not kept.

``python -m tests.foreign_programs`` (``make foreign-programs``) fetches
Debian's package of them by ``apt-get download``, unpacks it into a folder of its own, and compiles
and runs three of them, unmodified, with the Thrust of the extra ``cuda``.  It needs a network.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from racetrap.sim.gpu.cuda.nvcc_options import CompilerOptions
from racetrap.sim.gpu.cuda.toolkit import ToolkitError
from tests.cuda_verdicts import check_source

_PACKAGE = "libthrust-dev"
_EXAMPLES = Path("usr/share/doc") / _PACKAGE / "examples"
_FETCH_SECONDS = 120

#: Programs, with what they print if their result is right; that is known without them: the
#: numbers from 0 to 9 add up to 45, and (1, 2, 3, 4) is the square root of 30 long.  All asserts
#: must hold as well.
FOREIGN_PROGRAMS = {
    "device_ptr": "sum of values is 45",
    "norm": "norm is 5.47723",
    "uninitialized_vector": "",
}


def _fetch(folder: Path) -> Path:
    """Folder of the examples.

    Raises
    ------
    OSError, subprocess.SubprocessError
        If they cannot be had.
    """
    subprocess.run(
        ["apt-get", "download", "-q", _PACKAGE], cwd=folder, check=True, capture_output=True,
        timeout=_FETCH_SECONDS,
    )  # fmt: skip
    (package,) = folder.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return folder / _EXAMPLES


def check_foreign_program(source: Path, wanted: str, folder: Path) -> tuple[bool, str]:
    """Compile a program, run it and check it; whether all went right, and what was seen.

    Parameters
    ----------
    source : Path
        CUDA source.
    wanted : str
        Words that it prints if its result is right.
    folder : Path
        Where it is compiled.

    Raises
    ------
    ToolkitError
        If it does not compile, or the compiler is not installed.
    ProgramError
        If it cannot be run.
    """
    begin = time.perf_counter()
    check, printed = check_source(source, CompilerOptions(), folder)
    problems = [*check.faults, *check.problems, *(["its own check failed"] * bool(check.status))]
    if wanted not in printed:
        problems.append(f"it does not print {wanted!r}")
    seen = (
        f"{len(check.launches)} launches, {sum(check.traces.events)} events, "
        f"{len(check.traces.pairs)} pairs of lines race, {time.perf_counter() - begin:.1f} s"
    )
    return not problems, "; ".join([*problems, seen])


def main() -> None:
    """Print what came of each program; fail if one does not compile, run and pass."""
    with tempfile.TemporaryDirectory(prefix="racetrap-") as name:
        folder = Path(name)
        try:
            examples = _fetch(folder)
        except (OSError, subprocess.SubprocessError) as error:
            sys.exit(f"Package {_PACKAGE} cannot be fetched by apt-get download: {error}")
        failed = 0
        for program, wanted in FOREIGN_PROGRAMS.items():
            try:
                passed, seen = check_foreign_program(examples / f"{program}.cu", wanted, folder)
            except ToolkitError as error:
                sys.exit(str(error))
            failed += not passed
            print(f"{'passed' if passed else 'FAILED'}  {program}: {seen}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
