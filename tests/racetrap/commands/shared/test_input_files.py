"""Input from standard input and pipes is read like a file; devices are refused."""

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
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


@pytest.mark.parametrize(
    "words",
    [
        ["check", "PIPE"], ["trace", "info", "PIPE"], ["sweep", "PIPE"], ["litmus", "PIPE"],
        ["simulate", "scord-tiny", "PIPE"], ["check", "RACY", "--baseline", "PIPE"],
    ],
)  # fmt: skip
def test_pipe_without_a_writer(racetrap, racy, tmp_path, monkeypatch, words):
    monkeypatch.setattr(input_files, "_WRITER_SECONDS", 0.2)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    shown = []
    monkeypatch.setattr(input_files, "_progress", lambda text: shown.append(text) or nullcontext())
    done = racetrap(*({"PIPE": pipe, "RACY": racy}.get(word, word) for word in words))
    assert done.exit_code == 2
    assert f"Pipe {pipe} must have a writer within" in done.stderr
    assert shown == ["Waiting for a writer of the pipe"]


def test_pipe_whose_writer_comes_late_and_is_slow(racetrap, racy, tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "_WRITER_SECONDS", 30)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    contents = Path(racy).read_bytes()

    def write():
        time.sleep(0.3)
        with open(pipe, "wb", buffering=0) as file:
            for start in range(0, len(contents), 300):
                time.sleep(0.15)  # longer than the pipe is looked at
                file.write(contents[start : start + 300])

    writer = threading.Thread(target=write)
    writer.start()
    done = racetrap("check", pipe)
    writer.join()
    assert (done.exit_code, done.stdout) == (1, racetrap("check", racy).stdout)


def test_pipe_whose_writer_writes_nothing(racetrap, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b""))
    writer.start()
    done = racetrap("check", pipe)
    writer.join()
    assert done.exit_code == 2
    assert "line 1: Trace must begin with" in done.stderr


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
