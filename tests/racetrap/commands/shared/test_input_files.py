"""Input from standard input and pipes is read like a file; devices are refused."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from racetrap.commands.shared import input_files


def _check(path, **options):
    return subprocess.run(
        [sys.executable, "-m", "racetrap", "check", path, "--json", "-"],
        capture_output=True, check=False, **options,
    )  # fmt: skip


def test_standard_input(racy):
    done = _check("-", input=Path(racy).read_bytes())
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert (document["trace"], len(document["findings"])) == ("-", 1)


def test_errors_name_standard_input():
    done = _check("-", input=b"nonsense\n")
    assert done.returncode == 2
    assert done.stderr.startswith(b"racetrap: standard input, line 1: Trace must begin with")


def test_pipe(racetrap, racy, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(Path(racy).read_bytes()))
    writer.start()
    done = racetrap("check", pipe, "--json", "-")
    writer.join()
    assert done.exit_code == 1
    assert json.loads(done.stdout)["trace"] == str(pipe)


def test_endless_pipe(racetrap, tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "_MOST_BYTES", 1000)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb", buffering=0) as file:
            file.write(b"x" * 1001)

    writer = threading.Thread(target=write)
    writer.start()
    done = racetrap("check", pipe)
    writer.join()
    assert done.exit_code == 2
    assert "Pipe must have at most 1000 bytes, not more" in done.stderr


@pytest.mark.parametrize(
    "words", [["check"], ["trace", "info"], ["sweep"], ["coverage"], ["simulate", "scord-tiny"]]
)
def test_devices_are_refused(racetrap, words):
    done = racetrap(*words, "/dev/zero")
    assert done.exit_code == 2
    assert "Input must be a file or a pipe, not the device /dev/zero" in done.stderr
