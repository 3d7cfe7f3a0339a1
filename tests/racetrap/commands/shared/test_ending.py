"""Every way in which a command stops: one sentence, its exit status, no process left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from racetrap.commands.shared.terminal import ExitStatus

_COMMAND = [sys.executable, "-m", "racetrap"]


#: A trace of the documentation.
_TRACE = str(Path(__file__).parents[4] / "docs" / "examples" / "block-fence.trace")


def _run(*arguments, **options):
    return subprocess.run(
        [*_COMMAND, *arguments], stderr=subprocess.PIPE, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"], ["presets"], ["presets", "scord-tiny", "--json", "-"], ["check", _TRACE],
        ["presets", "--quiet", "--json", "/dev/full"],
    ],
)  # fmt: skip
def test_full_device(arguments):
    with open("/dev/full", "w") as full:
        done = _run(*arguments, stdout=full)
    assert done.returncode == ExitStatus.NO_OUTPUT
    assert "No space left" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["presets"], ["presets", "scord-tiny"]])
def test_closed_pipe(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = _run(*arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == ExitStatus.NO_OUTPUT
    assert done.stderr.splitlines() == [
        "racetrap: Standard output was closed before the end of the result."
    ]


def test_crash():
    code = (
        "import racetrap.sim.tools as tools\n"
        "def missing(): return {}['none']\n"
        "tools.missing_tools = missing\n"
        "import sys; sys.argv[1:] = ['doctor']\n"
        "from racetrap.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == ExitStatus.CRASHED
    assert "KeyError: 'none'" in done.stderr
    assert "please report it" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (KeyboardInterrupt("Sweep was stopped"), 130, "Sweep was stopped."),
        (MemoryError(), 3, "Memory of this machine does not suffice"),
        (PermissionError(13, "Permission denied", "/x"), 74, "/x must be accessible: Permission"),
        (OSError(28, "No space left"), 74, "Output must be accessible: No space left."),
    ],
)
def test_what_is_not_our_defect(racetrap, monkeypatch, error, status, said):
    def stop():
        raise error

    monkeypatch.setattr("racetrap.commands.doctor.missing_tools", stop)
    done = racetrap("doctor")
    assert done.exit_code == status
    assert done.stderr.startswith(f"racetrap: {said}")


def _descendants(process):
    return psutil.Process(process.pid).children(recursive=True)


@pytest.mark.parametrize(
    ("arguments", "least", "number", "status"),
    [
        # A tool that this process has started.
        (["simulate", "scord-tiny", "--suite", "scor-micro"], 1, signal.SIGINT, 130),
        # Workers, which leave the signal to their parent.
        (["cost", "scord-tiny", "--family", "asic"], 3, signal.SIGINT, 130),
        (["cost", "scord-tiny", "--family", "asic"], 3, signal.SIGTERM, 143),
    ],
)
def test_interrupt_leaves_no_process(tmp_path, arguments, least, number, status):
    environment = {**os.environ, "RACETRAP_CACHE": str(tmp_path)}
    process = subprocess.Popen(
        [*_COMMAND, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    started = []
    while len(started) < least:
        assert process.poll() is None
        time.sleep(0.05)
        started = _descendants(process)
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == status
    assert "Traceback" not in said
    psutil.wait_procs(started, timeout=10)
    assert not [one for one in started if one.is_running()]


#: Waits in a function of the C library that no signal cuts short, as in a long simulation.
_FOREIGN = """\
import ctypes
from racetrap.commands.shared.ending import watch_for_interrupts
watch_for_interrupts()
lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
lock(mutex)
try:  # the signal may come before the second call, which never ends
    print("ready", flush=True)
    lock(mutex)
except KeyboardInterrupt:
    lock(mutex)
"""


def test_interrupt_in_the_middle_of_foreign_code():
    process = subprocess.Popen(
        [sys.executable, "-c", _FOREIGN], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "racetrap: Interrupted.\n")
