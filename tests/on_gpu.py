"""The suites with a GPU as the subject: each kernel logs its own accesses, and its log is judged.

``python -m tests.on_gpu pack FILE`` writes the suites' kernels, compiled.  On a machine with a GPU,
``python -m tests.on_gpu measure FILE OUT`` runs them, and whole programs: on the GPU, on the
executor in its place, and on the executor as it is.  ``python -m tests.on_gpu keep FILE`` keeps
``OUT/results.json`` in the tree.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from racetrap.sim.gpu.cuda.nvcc_options import CUDA_SUFFIX
from racetrap.sim.gpu.instrumented.cuda_driver import NoGpuError
from racetrap.sim.gpu.instrumented.gpu_process import GpuProcess
from tests.support import REPOSITORY
from tests.support.gpu.on_gpu.measuring import packed, rows, unpacked
from tests.support.gpu.on_gpu.results import keep

PROGRAMS = REPOSITORY / "sim" / "gpu" / "cuda" / "programs"
_PROCESSES = 10
#: Seconds after which a kernel of a suite is given up.
_SECONDS = 10.0


def pack(file: Path) -> None:
    """Write the kernels of the suites."""
    # Some are compiled for it.
    from tests.support.gpu.comparison.packing import kernel_text, suite_jobs

    jobs = list(suite_jobs())
    texts = {source: kernel_text(source) for source in sorted({each.source for each in jobs})}
    file.write_text(packed(jobs, texts), encoding="utf-8")


def measure(file: Path, folder: Path, seconds: float) -> None:
    """Run everything in several processes, each with a share of the kernels' files."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.on_gpu", "share", str(file), str(folder)]
    shares = [subprocess.Popen([*command, str(share)]) for share in range(_PROCESSES)]
    end = time.monotonic() + seconds
    with ThreadPoolExecutor(8) as pool:
        forms = [(path, form) for path in sorted(PROGRAMS.glob(f"*{CUDA_SUFFIX}"))
                 for form in ("free", "racy")]  # fmt: skip
        found = list(pool.map(partial(_program, end), forms))
    for process in shares:
        try:
            process.wait(max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            process.kill()
    kernels = {name: row for path in sorted(folder.glob("share_*")) for name, row in _read(path)}
    results = {
        "machine": _machine(), "kernels": dict(sorted(kernels.items())),
        "programs": {name: row for name, row in found if row},
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(results), encoding="utf-8")
    print(f"{len(kernels)} kernels, {len(results['programs'])} forms of programs")


def _machine() -> str:
    words = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except OSError:
        return ""


def _read(path: Path) -> list[tuple[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [(name, row) for name, row in map(json.loads, lines)]


def measure_share(file: Path, folder: Path, share: int) -> None:
    """Run the kernels of every so many-th file."""
    jobs, texts = unpacked(file.read_text(encoding="utf-8"))
    sources = sorted(texts)[share::_PROCESSES]
    try:
        gpu = GpuProcess(_SECONDS)
    except NoGpuError:
        gpu = None
    with (folder / f"share_{share}.jsonl").open("w", encoding="utf-8") as out:
        for row in rows([job for job in jobs if job.source in sources], texts, gpu):
            out.write(json.dumps(row) + "\n")
            out.flush()


def _program(end: float, form: tuple[Path, str]) -> tuple[str, dict[str, Any]]:
    """What ``racetrap run`` finds in a form of a program, with and without a GPU."""
    path, kind = form
    row: dict[str, Any] = {}
    for name, words in (("ours", []), ("gpu", ["--on-gpu"])):
        with tempfile.TemporaryDirectory() as folder:
            document = Path(folder) / "found.json"
            command = [sys.executable, "-m", "racetrap", "run", str(path), "--no-cures", *words]
            command += [*["-D", "RACY"] * (kind == "racy"), "--json", str(document)]
            begin = time.monotonic()
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, check=False,
                    timeout=max(end - begin, 1),
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                continue
            if not document.exists():
                print(path.name, kind, name, done.returncode, done.stderr[-500:], flush=True)
                continue
            row[name] = _findings(json.loads(document.read_text(encoding="utf-8"))) | {
                "status": done.returncode,
                "seconds": round(time.monotonic() - begin, 1),
            }
    return f"{path.stem}/{kind}", row


def _findings(document: Any) -> dict[str, Any]:
    lines = {
        tuple(sorted(Path(pair[side]["place"]).name for side in ("earlier", "later")))
        for finding in document["findings"] for pair in finding["pairs"]
    }  # fmt: skip
    return {"lines": sorted(lines), "runs": document["schedules"]}


def main(words: Sequence[str] | None = None) -> int:
    """Pack, measure or keep."""
    parser = argparse.ArgumentParser(description="Kernels that log their accesses on a GPU.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack", help="write the kernels for a machine with a GPU")
    measuring = verbs.add_parser("measure", help="run them, and whole programs, there")
    share = verbs.add_parser("share", help="run a share of the kernels")
    keeping = verbs.add_parser("keep", help="keep results in the tree")
    for each in (packing, measuring, share):
        each.add_argument("file", type=Path, help="file of the kernels")
    for each in (measuring, share):
        each.add_argument("out", type=Path, help="folder of the results")
    measuring.add_argument("--seconds", type=float, default=300, help="time for everything")
    share.add_argument("number", type=int, help="number of the share")
    keeping.add_argument("file", type=Path, help="results.json of a measurement")
    options = parser.parse_args(words)
    if options.verb == "pack":
        pack(options.file)
    elif options.verb == "measure":
        measure(options.file, options.out, options.seconds)
    elif options.verb == "share":
        measure_share(options.file, options.out, options.number)
    else:
        keep(json.loads(options.file.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
