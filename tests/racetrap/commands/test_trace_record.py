"""`racetrap trace record`: from a source file to a trace file, and what it says."""

import json

import pytest

from racetrap.golden_model.trace import read_trace

_PROGRAM = """
#include <pthread.h>
#include <stdlib.h>
static int values[100];
static void *work(void *unused) { for (int i = 0; i < 100; i++) values[i]++; return unused; }
int main(int count, char **arguments) {
    pthread_t thread;
    if (count != 2 || atoi(arguments[1]) != -3) return 7;
    pthread_create(&thread, 0, work, 0);
    return pthread_join(thread, 0);
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.c"
    path.write_text(_PROGRAM)
    return path


@pytest.mark.parametrize("compress", [False, True])
def test_record(racetrap, program, tmp_path, compress):
    target, report = tmp_path / "x.trace", tmp_path / "x.json"
    more = ["--compress"] if compress else []
    result = racetrap(
        "trace", "record", "-o", target, "--json", report, "--seed", 3, *more,
        "--", program, "--", "-3",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data, trace = json.loads(report.read_text()), read_trace(target)
    assert data["events"] == len(trace)
    assert data["threads"] == trace.header.threads == 2
    assert data["seed"] == trace.header.seed == 3
    assert data["source"] == "program.c -3"
    assert data["kinds"]["join"] == 1
    assert data["events_per_second"] > 0
    assert "events of 2 threads" in result.stdout


def test_the_trace_has_the_programs_name_by_default(racetrap, program, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert racetrap("trace", "record", "--", program, "--", "-3").exit_code == 0
    assert read_trace(tmp_path / "program.trace").header.threads == 2


_REMOVED = """
#include <pthread.h>
static int x;
static void *work(void *unused) { x = 1; return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    x = 2;
    return pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize(("options", "said", "races"), [([], "-O2", 0), (["--cc", "-Og"], None, 1)])
def test_an_optimisation_that_the_user_did_not_choose_is_said(
    racetrap, tmp_path, options, said, races
):
    program, target, report = (tmp_path / f"x.{suffix}" for suffix in ("c", "trace", "json"))
    program.write_text(_REMOVED)
    result = racetrap("trace", "record", "-o", target, "--json", report, *options, program)
    assert json.loads(report.read_text())["optimisation"] == said
    assert result.stdout.count("--cc -Og keeps them") == (said is not None)
    assert racetrap("check", "--exact", target).exit_code == races


def test_a_program_that_fails_is_said_and_leaves_its_trace(racetrap, program, tmp_path):
    target, report = tmp_path / "x.trace", tmp_path / "x.json"
    result = racetrap("trace", "record", "-o", target, "--json", report, program)
    assert result.exit_code == 0
    assert "Program returned 7; the trace ends there." in result.stdout
    assert "Program made no threads" in result.stdout
    assert json.loads(report.read_text())["ending"] == "returned 7"
    assert read_trace(target).header.source == "program.c (returned 7)"


def test_the_child_of_a_daemon(racetrap, tmp_path):
    program = tmp_path / "daemon.c"
    program.write_text(
        "#include <unistd.h>\n"
        + _PROGRAM.replace("if (count", "if (fork()) return 0;\n    usleep(100000);\n    if (count")
    )
    target = tmp_path / "x.trace"
    result = racetrap("trace", "record", "-o", target, program)
    assert "Program made no threads" in result.stdout
    assert read_trace(target).header.source == "daemon.c"
    result = racetrap("trace", "record", "--follow", "child", "-o", target, program)
    assert "Program returned 7; the trace ends there." in result.stdout
    racetrap("trace", "record", "--follow", "child", "-o", target, "--", program, "--", "-3")
    trace = read_trace(target)
    assert (trace.header.source, trace.header.threads) == ("daemon.c -3", 2)


def test_a_deadlock_is_told_with_locks_and_lines(racetrap, tmp_path):
    program = tmp_path / "stuck.c"
    program.write_text(
        "#include <pthread.h>\n"
        "pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n"
        "void *work(void *unused) {\n"
        "    pthread_mutex_lock(&lock); return unused; }\n"
        "int main(void) { pthread_t thread;\n"
        "    pthread_mutex_lock(&lock);\n"
        "    pthread_create(&thread, 0, work, 0);\n"
        "    return pthread_join(thread, 0); }\n"
    )
    report = tmp_path / "x.json"
    result = racetrap("trace", "record", "-o", tmp_path / "x.trace", "--json", report, program)
    assert result.exit_code == 0
    assert "a lock that thread 0 holds since stuck.c:6." in result.stdout
    first, second = json.loads(report.read_text())["waiting"]
    assert (first["thread"], first["holder"]) == (0, None)
    assert (second["thread"], second["holder"], second["holder_place"]) == (1, 0, "stuck.c:6")
    assert f" for {second['address']:#x} (lock, 40 bytes), a lock that " in result.stdout
    assert second["address_text"] == f"{second['address']:#x} (lock, 40 bytes)"


def test_one_sentence_for_errors(racetrap, program, tmp_path):
    target = tmp_path / "x.trace"
    result = racetrap("trace", "record", "-o", target, "nothing.c")
    assert (result.exit_code, result.stderr) == (2, "racetrap: Source nothing.c was not found.\n")
    result = racetrap("trace", "record", "-o", tmp_path / "no" / "x", "--", program, "--", "-3")
    assert result.exit_code == 2
    assert "File must be one that can be written" in result.stderr
