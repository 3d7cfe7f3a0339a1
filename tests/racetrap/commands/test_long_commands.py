"""Every long command: stopped after its first row, called again, and called without a stop."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from racetrap.commands.shared import long_work
from racetrap.commands.shared.terminal import ExitStatus
from racetrap.evaluation.campaign.random_volume import Case, CaseResult
from racetrap.fpga.cost.table import Cost
from racetrap.generators.presets import find_preset
from racetrap.sim.cosim.fast.build import FastModel
from tests.support.campaign import later_but
from tests.support.long_work import answer, stop_after
from tests.support.pages.cost_tables import synthesis
from tests.support.pages.evaluation_page import Inventory
from tests.support.pages.sweep_specs import write
from tests.support.sigrace.results import result

_COMMANDS = {
    "scord": "evaluate scord 1DC --schedules 1 --hardware-schedules 0 --output",
    "sigrace": "evaluate sigrace lu fft --size tiny --budget 1 --hardware-size none --output",
    "noncoherent": "evaluate noncoherent crypto --schedules 1 --budget 40 --output",
    "bugaroo": "evaluate bugaroo hotspot --schedules 1 --budget 1",
    "advice": "evaluate advice hotspot stream_clustering --budget 1",
    "overhead": "evaluate overhead RED 1DC",
    "policies": "evaluate policies 1DC --schedules 1",
    "rules": "evaluate rules atomic_load --schedules 1",
    "cost": "cost scord-tiny --block barrier_ids --block fence_file --family ice40 --seeds 0 "
    "--output",
    "sweep": "sweep SPEC --output OUT",
    "campaign": "campaign scord-tiny sigrace-tiny --budget 500",
}
#: What differs from call to call.
_OWN = {
    "kept", "seconds", "cpu_seconds", "seconds in workers", "command", "accesses_per_second",
    "events_per_second", "sequential ms", "write-buffers ms", "views ms",
}  # fmt: skip


def _case(case):
    preset, seed, number = case
    model = FastModel(preset, find_preset(preset).params, Path(), {})
    named = Case(model, seed, number)
    return CaseResult(named, dict.fromkeys([*named.kind.figures, "cycles"], 300), 1.0)


def _part(part):
    made = result(part.program)
    return made.injected[0] if part.part == "injected" else getattr(made, part.part)


#: Results of what takes long and has tests of its own.
_MADE = {
    "sigrace": _part, "campaign": _case, "cost": lambda job: Cost("device", synthesis=synthesis()),
}  # fmt: skip


def _timeless(value):
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if key not in _OWN}
    return [_timeless(one) for one in value] if isinstance(value, list) else value


@pytest.fixture
def call(racetrap, monkeypatch, tmp_path):
    """Calls a command in this process; gives its result, its JSON and its page."""
    spec = write(tmp_path)

    def _call(name):
        answer(monkeypatch, _MADE.get(name))
        words = _COMMANDS[name].replace("SPEC", str(spec)).replace("OUT", str(tmp_path / "out"))
        file, page = tmp_path / "result.json", tmp_path / "page.html"
        has_page = words.endswith("--output")
        done = racetrap("--jobs", 1, *words.split(), *[page] * has_page, "--json", file)
        document = json.loads(file.read_text())
        file.unlink()
        return done, document, page.read_text() if has_page else ""

    return _call


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_stopped_command_goes_on(call, monkeypatch, tmp_path, name):
    stop_after(monkeypatch, 1, KeyboardInterrupt())
    done, partial, page = call(name)
    assert done.exit_code == ExitStatus.INTERRUPTED
    assert not partial["complete"]
    assert partial["missing"]
    total = 1 + len(partial["missing"])
    remark = f"{len(partial['missing'])} of {total} rows missing ({partial['missing'][0]}"
    assert f"Incomplete: {remark}" in done.output
    if page:
        assert remark in page
        assert not Inventory(page).fetched
    again, whole, _ = call(name)
    assert again.exit_code in (0, 1), again.output
    assert (whole["complete"], whole["missing"], whole["kept"]) == (True, [], 1)
    assert "1 of " in again.output
    assert "rows kept from before" in again.output
    monkeypatch.setattr(long_work, "cache_folder", lambda: tmp_path / "fresh")
    _, undisturbed, _ = call(name)
    assert undisturbed["kept"] == 0
    assert _timeless(whole) == _timeless(undisturbed)


@pytest.mark.parametrize("name", _COMMANDS)
def test_a_command_without_a_row_says_so(call, monkeypatch, name):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(long_work.LongWork, "_run", stop)
    done, document, _ = call(name)
    assert done.exit_code == ExitStatus.INTERRUPTED
    assert not document["complete"]
    assert document["missing"]


#: The command line, to which a signal comes when the first row has been printed; its rows are kept
#: in a folder of their own, what it builds in the cache of all.
_SIGNALLED = """\
import os, sys
from pathlib import Path
from racetrap.cli import main
from racetrap.commands.shared import long_work
from racetrap.commands.shared.long_work import LongWork
number, say, folder = int(sys.argv.pop(1)), LongWork._say, Path(sys.argv.pop(1))
long_work.cache_folder = lambda: folder
def say_and_stop(self, *words):
    say(self, *words)
    if number:
        os.kill(os.getpid(), number)
LongWork._say = say_and_stop
main()
"""


def _signalled(number, folder, stderr):
    """Rows of a command whose standard output is a pipe, its status and its JSON."""
    file = folder / "result.json"
    words = ["--jobs", "1", *_COMMANDS["rules"].split(), "--json", str(file)]
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED, str(int(number)), str(folder), *words],
        check=False, text=True, stdout=subprocess.PIPE, stderr=stderr,
    )  # fmt: skip
    return done.stdout.splitlines(), done.returncode, json.loads(file.read_text())


@pytest.mark.parametrize(
    ("number", "status"),
    later_but(lambda each: each[0] == signal.SIGINT, [(signal.SIGINT, 130), (signal.SIGTERM, 143)]),
)
def test_a_signal(tmp_path, number, status):
    rows, returned, partial = _signalled(number, tmp_path, subprocess.DEVNULL)
    assert (returned, partial["complete"], partial["kept"]) == (status, False, 0)
    assert rows[0].startswith("small kernels, atomic_load_blocks: ")
    assert rows[1].startswith("Incomplete: ")
    # Rows go to the pipe though a progress bar is on the terminal.
    terminal, other = os.openpty()
    threading.Thread(target=_drain, args=(terminal,), daemon=True).start()
    again, returned, whole = _signalled(0, tmp_path, other)
    os.close(other)
    assert (returned, whole["complete"], whole["kept"]) == (0, True, 1)
    said, *new = [row for row in again if ": " in row]
    assert said == f"Judging: 1 of {whole['programs']} rows kept from before"
    assert [row.partition(":")[0] for row in new[:-1]] == partial["missing"]


def _drain(terminal):
    with contextlib.suppress(OSError):
        while os.read(terminal, 1 << 12):
            pass
