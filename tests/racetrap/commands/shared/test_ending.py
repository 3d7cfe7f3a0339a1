"""Every way in which a command stops: one sentence, its exit status, no process left behind."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from racetrap.commands.shared.terminal import ExitStatus
from tests.support.campaign import later_but

_COMMAND = [sys.executable, "-m", "racetrap"]


#: A trace of the documentation.
_TRACE = str(Path(__file__).parents[4] / "docs" / "examples" / "block-fence.trace")


def _run(*arguments, **options):
    return subprocess.run(
        [*_COMMAND, *arguments], stderr=subprocess.PIPE, text=True, check=False, **options
    )


@pytest.mark.parametrize(
    "arguments",
    later_but(
        (["check", _TRACE], ["--quiet", "presets", "--json", "/dev/full"]).__contains__,
        [
            ["--help"], ["presets"], ["presets", "scord-tiny", "--json", "-"], ["check", _TRACE],
            ["--quiet", "presets", "--json", "/dev/full"],
        ],
    ),
)  # fmt: skip
def test_full_device(arguments):
    with open("/dev/full", "w") as full:
        done = _run(*arguments, stdout=full)
    assert done.returncode == ExitStatus.NO_OUTPUT
    assert "No space left" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def _without_room(*arguments):
    """A command on a device that has room for small temporary files only.

    It keeps no bytecode: Python does not notice that it was cut off, and fails when it reads it.
    """
    return _run(
        *arguments, stdout=subprocess.PIPE, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)),
    )  # fmt: skip


_THREADS = str(Path(_TRACE).with_name("locked-sum.trace"))


@pytest.mark.parametrize(
    ("line", "end"),
    later_but(
        # Of each of two commands, a file that is new and one that is kept.
        lambda each: each[0].startswith(f"trace slice {_THREADS}") or each[1] in (".html", ".xml"),
        [
            *((f"check {_TRACE} -o", f".{end}")
              for end in ("html", "xml", "sarif", "github", "toml")),
            (f"check {_TRACE} --json", ""), (f"check {_TRACE} --oracle none --json", ""),
            (f"check {_THREADS} --json", ""), (f"trace convert {_TRACE}", ""),
            (f"trace convert {_THREADS}", ""), (f"trace slice {_THREADS} --events 0:3 -o", ""),
            (f"trace slice {_THREADS} --events 0:3 -o", ".txt"), ("presets --json", ""),
        ],
    ),
)  # fmt: skip
def test_full_device_is_said_of_the_file_which_is_not_there(tmp_path, line, end):
    """One that was there is kept, where the command may write over it."""
    file, is_there = tmp_path / f"file{end}", end not in (".toml", ".html")  # a baseline is new
    if is_there:
        file.write_text("kept")
    done = _without_room(*line.split(), file)
    assert done.returncode == ExitStatus.NO_OUTPUT, done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"racetrap: {file}")
    assert "Traceback" not in done.stderr
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [file] * is_there
    assert not is_there or file.read_text() == "kept"


@pytest.mark.parametrize(
    "arguments", later_but(["presets"].__eq__, [["--help"], ["presets"], ["presets", "scord-tiny"]])
)
def test_closed_pipe(arguments):
    reader, writer = os.pipe()
    os.close(reader)
    done = _run(*arguments, stdout=writer)
    os.close(writer)
    assert done.returncode == ExitStatus.NO_OUTPUT
    assert done.stderr.splitlines() == [
        "racetrap: Standard output was closed before the end of the result."
    ]


def _run_with_closed(closed, *arguments):
    """A command of which some standard streams are closed, and the others are pipes."""
    line = 'exec "$@" ' + " ".join(closed)
    return subprocess.run(
        ["bash", "-c", line, "bash", *_COMMAND, *arguments], capture_output=True, text=True,
        check=False,
    )  # fmt: skip


_STREAMS = ([">&-"], [">&-", "<&-"], [">&-", "2>&-"])


@pytest.mark.parametrize(
    ("arguments", "closed"),
    later_but(
        lambda each: each[0] == ["check", _TRACE],
        [
            *((["check", _TRACE], closed) for closed in _STREAMS),
            (["--help"], _STREAMS[2]), (["presets"], _STREAMS[1]), (["schema"], _STREAMS[0]),
            (["-q", "check", _TRACE, "--json", "-"], _STREAMS[0]),
            (["check", _TRACE, "--output", "-.sarif"], _STREAMS[1]),
            (["trace", "convert", _TRACE, "-"], _STREAMS[2]),
        ],
    ),
)  # fmt: skip
def test_closed_standard_output(arguments, closed):
    done = _run_with_closed(closed, *arguments)
    assert done.returncode == ExitStatus.NO_OUTPUT
    said = [] if "2>&-" in closed else [_CLOSED]
    assert done.stderr.splitlines()[-1:] == said


_CLOSED = "racetrap: Standard output was closed before the end of the result."


def test_what_prints_nothing_needs_no_standard_output(tmp_path):
    file = tmp_path / "x.json"
    for closed in ([">&-"], [">&-", "<&-", "2>&-"]):
        done = _run_with_closed(closed, "-q", "check", _TRACE, "--json", file)
        assert (done.returncode, done.stderr) == (ExitStatus.RACES, "")
        assert file.read_text().startswith("{")
        file.unlink()


def test_closed_standard_input_and_error():
    done = _run_with_closed(["<&-"], "check", "-")
    assert done.returncode == ExitStatus.BAD_INPUT
    assert "Standard input must be open, not closed" in done.stderr
    done = _run_with_closed(["2>&-"], "check", "nothing")
    assert (done.returncode, done.stdout) == (ExitStatus.BAD_INPUT, "")


def test_deleted_working_folder(tmp_path):
    line = 'cd "$0" && rmdir "$0" && exec "$@"'
    for arguments in (["presets"], ["run", "x.trace"], ["check", _TRACE]):
        folder = tmp_path / "gone"
        folder.mkdir()
        done = subprocess.run(
            ["bash", "-c", line, folder, *_COMMAND, *arguments], capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (ExitStatus.BAD_INPUT, "")
        assert done.stderr.startswith("racetrap: Working folder must exist")


def test_crash():
    code = (
        "import racetrap.sim.tools as tools\n"
        "def missing(*_): return {}['none']\n"
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
        (MemoryError(), 3, "This machine has too little memory"),
        (PermissionError(13, "Permission denied", "/x"), 74, "/x cannot be written: Permission"),
        (OSError(28, "No space left"), 74, "Output cannot be written: No space left."),
    ],
)
def test_what_is_not_our_defect(racetrap, monkeypatch, error, status, said):
    def stop(*_):
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
        (["simulate", "scord-tiny", "scor-micro"], 1, signal.SIGINT, 130),
        # Workers, which leave the signal to their parent.
        (["cost", "scord-tiny", "--family", "asic"], 3, signal.SIGTERM, 143),
        pytest.param(
            ["cost", "scord-tiny", "--family", "asic"], 3, signal.SIGINT, 130,
            marks=pytest.mark.campaign,
        ),
    ],
)  # fmt: skip
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
    for one in started:
        assert not one.is_running()


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


#: Ends, after its sentence, more slowly than the second thread waits.
_SLOW_EXIT = """\
import atexit, os, signal, time
from racetrap.commands.shared import ending
ending._GRACE_SECONDS = 0.2
ending.watch_for_interrupts()
atexit.register(time.sleep, 60)
with ending.ends():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
"""


def test_a_slow_exit_says_once_that_it_was_interrupted():
    done = subprocess.run(
        [sys.executable, "-c", _SLOW_EXIT], stderr=subprocess.PIPE, text=True, check=False,
        timeout=30,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "racetrap: Interrupted.\n")


#: Writes for longer than a command may take to clean up, after a signal, and then for ever.
_WRITING = """\
import os, signal, time
from racetrap.commands.shared import ending
ending._GRACE_SECONDS = 0.2
ending.watch_for_interrupts()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    ending.write_before_the_end()
end = time.monotonic() + 5 * ending._GRACE_SECONDS
while time.monotonic() < end:
    pass
signal.signal(signal.SIGINT, lambda *_: None)
print("written", flush=True)
while True:
    time.sleep(60)
"""


def test_a_second_interrupt_ends_what_the_first_lets_write():
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "written\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, "racetrap: Interrupted.\n")
