"""Long commands that are killed at random moments and started again: the same result."""

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from racetrap.golden_model.trace import read_trace
from tests.support.pages.sweep_specs import SMALL, write

pytestmark = pytest.mark.campaign

_REPOSITORY = Path(__file__).parents[3]
_TRACE = _REPOSITORY / "docs/examples/block-fence.trace"
_KILLS = 20
#: Keys of results that tell when and how fast, which differ from run to run.
_TIMES = {
    "accesses_per_second", "events_per_second", "kept", "merge_seconds",
    "merged_per_second", "run_seconds", "seconds", "seconds in workers",
}  # fmt: skip
#: Threads that run one after the other, so that every recording is the same.
_PROGRAM = """\
#include <pthread.h>
int cells[64];
static void *fill(void *first) { for (int n = (long)first; n < 64; n += 2) cells[n] = n; return 0; }
int main(void) {
    for (long first = 0; first < 2; first++) {
        pthread_t thread;
        pthread_create(&thread, 0, fill, (void *)first);
        pthread_join(thread, 0);
    }
}
"""


def _simulate(folder: Path) -> list[object]:
    return ["simulate", "scord-tiny", _TRACE, "--json", folder / "result.json"]


def _campaign(folder: Path) -> list[object]:
    return [
        "campaign", "scord-tiny", "--budget", 3000, "--json", folder / "result.json",
    ]  # fmt: skip


def _sweep(folder: Path) -> list[object]:
    spec = write(folder, SMALL)
    return ["sweep", spec, "--output", folder / "points", "--json", folder / "result.json"]


def _cost(folder: Path) -> list[object]:
    return [
        "cost", "scord-tiny", "--block", "barrier_ids", "--family", "ice40", "--seeds", 1, "--json",
        folder / "result.json",
    ]  # fmt: skip


def _generate(folder: Path) -> list[object]:
    return ["generate", "scord-tiny", "--output", folder / "rtl"]


def _evaluate(folder: Path) -> list[object]:
    return [
        "evaluate", "noncoherent", "--schedules", 2, "--budget", 300, "--json",
        folder / "result.json",
    ]  # fmt: skip


def _record(folder: Path) -> list[object]:
    source = folder / "program.c"
    source.write_text(_PROGRAM)
    return [
        "trace", "record", source, "--output", folder / "out.trace", "--json",
        folder / "result.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "command",
    [_simulate, _campaign, _sweep, _cost, _generate, _evaluate, _record],
    ids=lambda command: command.__name__[1:],
)
def test_a_killed_command_starts_again(command: Callable[[Path], list[object]], tmp_path: Path):
    undisturbed, seconds = _undisturbed(command, tmp_path / "undisturbed")
    for seed in range(_KILLS):
        folder = tmp_path / f"killed-{seed}"
        moment = random.Random(seed).uniform(0, seconds)
        print(f"{command.__name__[1:]}: seed {seed}, killed after {moment:.2f} s")
        process = _start(command, folder)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            started = psutil.Process(process.pid).children(recursive=True)
            # Every other time the command alone, as by the killer of a system without memory.
            for victim in [psutil.Process(process.pid), *(started if seed % 2 else [])]:
                _kill(victim)
            process.wait()
            # A compiler ends when it is done, which takes as long as the machine is busy.
            _, left = psutil.wait_procs(started, timeout=180)
            assert [one.name() for one in left] == []
        again = _start(command, folder)
        assert again.wait() in (0, 1), (folder / "errors").read_text()
        assert _results(folder) == undisturbed


def _undisturbed(
    command: Callable[[Path], list[object]], folder: Path
) -> tuple[dict[str, object], float]:
    start = time.monotonic()
    process = _start(command, folder)
    assert process.wait() in (0, 1), (folder / "errors").read_text()
    return _results(folder), time.monotonic() - start


def _start(command: Callable[[Path], list[object]], folder: Path) -> subprocess.Popen:
    """Start a command whose results, cache and words are in a folder."""
    folder.mkdir(exist_ok=True)
    with (folder / "errors").open("w") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "racetrap", "--quiet", *map(str, command(folder))],
            env=os.environ | {"RACETRAP_CACHE": str(folder / "cache")},
            stdout=errors, stderr=errors,
        )  # fmt: skip


def _kill(process: psutil.Process) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        process.kill()


def _results(folder: Path) -> dict[str, object]:
    """Contents of all that a command has written, without times and names of folders."""
    results: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        # A page says how long its rows took.
        if path.is_dir() or name.parts[0] in ("cache", "errors") or path.suffix == ".html":
            continue
        if path.suffix == ".trace":  # a program lies elsewhere in memory in every run
            results[str(name)] = [(event.kind, event.thread) for event in read_trace(path)]
            continue
        data = path.read_bytes().replace(str(folder).encode(), b"FOLDER")
        results[str(name)] = _timeless(json.loads(data)) if path.suffix == ".json" else data
    return results


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if key not in _TIMES}
    return [_timeless(one) for one in value] if isinstance(value, list) else value
