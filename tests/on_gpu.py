"""The suites with a GPU as the subject: kernels and programs log their accesses, and are judged.

``python -m tests.on_gpu pack FOLDER`` writes what has not been measured yet, with the packages of
others that it needs.  On a machine with a GPU and a compiler, ``python -m tests.on_gpu measure
FOLDER OUT`` runs it: on the GPU, on the executor in its place, and on the executor as it is.
``python -m tests.on_gpu keep OUT/results.json`` puts the results beside those that are kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.gpu.on_gpu.results import PARTS, keep, kept, results_in
from tests.support.gpu.on_gpu.tasks import all_names, pack, work

_PROCESSES = 16


def measure(folder: Path, out: Path, seconds: float, processes: int) -> None:
    """Run everything in several processes, which take tasks from one list."""
    out.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "tests.on_gpu", "work", str(folder), str(out)]
    workers = [subprocess.Popen(command) for _ in range(processes)]
    end = time.monotonic() + seconds
    for worker in workers:
        try:
            worker.wait(max(end - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            worker.kill()
    results = {"machine": _machine(), **results_in(out)}
    (out / "results.json").write_text(json.dumps(results), encoding="utf-8")
    print(", ".join(f"{len(results[part])} {part}" for part in PARTS))


def _machine() -> str:
    words = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    except OSError:
        return ""


def main(words: Sequence[str] | None = None) -> int:
    """Pack, measure or keep."""
    parser = argparse.ArgumentParser(description="Kernels that log their accesses on a GPU.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing = verbs.add_parser("pack", help="write a folder for a machine with a GPU")
    packing.add_argument("--all", action="store_true", help="also what has been measured")
    measuring = verbs.add_parser("measure", help="run what is in it there")
    measuring.add_argument("--seconds", type=float, default=300, help="time for everything")
    measuring.add_argument("--processes", type=int, default=_PROCESSES, help="number of processes")
    working = verbs.add_parser("work", help="run its tasks, beside other processes")
    keeping = verbs.add_parser("keep", help="keep results in the tree")
    for each in (packing, measuring, working):
        each.add_argument("folder", type=Path, help="the folder")
    for each in (measuring, working):
        each.add_argument("out", type=Path, help="folder of the results")
    keeping.add_argument("file", type=Path, help="results.json of a measurement")
    options = parser.parse_args(words)
    if options.verb == "pack":
        old = {} if options.all else kept()
        pack(options.folder, {
            part: [name for name in names if name not in old.get(part, {})]
            for part, names in all_names().items()
        })  # fmt: skip
    elif options.verb == "measure":
        measure(options.folder, options.out, options.seconds, options.processes)
    elif options.verb == "work":
        work(options.folder, options.out)
    else:
        keep(json.loads(options.file.read_text(encoding="utf-8")))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
