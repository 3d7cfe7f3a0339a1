"""`racetrap cc` and `racetrap c++`: compilers of any build, and what they have built."""

import json
import os
import shlex
import subprocess
import sys

import pytest

from racetrap.golden_model.trace import read_thread_trace
from racetrap.sim.cpu.verdicts import race_lines

_RACETRAP = [sys.executable, "-c", "from racetrap.cli import main; main()"]
_MAKEFILE = """
all: program static.o
program: main.o archive.a libshared.so
\t$(CC) $(CFLAGS) -o $@ main.o archive.a -L. -lshared -Wl,-rpath,'$$ORIGIN'
libshared.so: shared.c
\t$(CC) $(CFLAGS) -fPIC -shared -o $@ $<
archive.a: part.o
\tar rcs $@ $^
%.o: %.c
\t$(CC) $(CFLAGS) -MMD -MF $*.dep -c -o $@ $<
"""
_FILES = {
    "main.c": """
#include <pthread.h>
#include <stdio.h>
void part(void); void shared(void);
static void *work(void *unused) { part(); shared(); return unused; }
int main(int count, char **arguments) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    printf("%d %s\\n", count, count > 1 ? arguments[1] : "none");
    return 0;
}
""",
    "part.c": "static int own;\nvoid part(void) {\n    own++;\n}\n",
    "shared.c": """
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
static int there;
static char text[8], bytes[2];
void shared(void) {
    int zero = open("/dev/zero", O_RDONLY);
    there++;
    strcpy(text, "any");
    read(zero, bytes, 2);
}
""",
    "static.c": "int nothing;\n",
    "Makefile": _MAKEFILE,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folder of a program that `make` has built of objects, an archive and a shared library."""
    folder = tmp_path_factory.mktemp("built")
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    compiler = shlex.join([*_RACETRAP, "cc"])
    subprocess.run(["make", "-s", f"CC={compiler}", "CFLAGS=-O1 -fPIE"], cwd=folder, check=True)
    return folder


def test_a_build_of_others(racetrap, built, tmp_path):
    """What it has built runs by itself, and is recorded, all of its parts."""
    assert "part.c" in (built / "part.dep").read_text()
    done = subprocess.run([built / "program", "x"], capture_output=True, text=True, check=True)
    assert done.stdout == "2 x\n"
    target, report = tmp_path / "x.trace", tmp_path / "x.json"
    result = racetrap(
        "trace", "record", "-o", target, "--json", report, "--", built / "program", "--x"
    )
    assert result.exit_code == 0, result.output
    assert json.loads(report.read_text())["source"] == "program --x"
    assert race_lines(read_thread_trace(target)) == {
        ("part.c:3", "part.c:3"),
        *((f"shared.c:{line}", f"shared.c:{line}") for line in (9, 10, 11)),
    }


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["PROGRAM"], "1 none"),
        (["PROGRAM", "--x"], "2 --x"),
        (["PROGRAM", "--", "-p4"], "2 -p4"),
        (["PROGRAM", "-p4", "--"], "3 -p4"),
        (["PROGRAM", "--", "--"], "2 --"),
        (["PROGRAM", "--"], "1 none"),
    ],
)
def test_a_double_dash_ends_the_words_of_the_recorder(racetrap, built, tmp_path, words, expected):
    program = str(built / "program")
    given = [program if word == "PROGRAM" else word for word in words]
    target = tmp_path / "x.trace"
    assert racetrap("trace", "record", "-o", target, "--", *given).exit_code == 0
    count, first = expected.split()
    source = read_thread_trace(target).header.source.split()
    assert len(source) == int(count)
    assert source[1:2] == ([] if first == "none" else [first])


def test_options_are_the_compilers(tmp_path):
    done = subprocess.run(
        [*_RACETRAP, "c++", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("g++")
    done = subprocess.run(
        [*_RACETRAP, "cc", "nothing.c"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "nothing.c: No such file" in done.stderr
    source = tmp_path / "one.cpp"
    source.write_text("#include <string>\nint main() { return std::string().size(); }\n")
    subprocess.run([*_RACETRAP, "c++", source, "-o", tmp_path / "one"], check=True)
    assert subprocess.run([tmp_path / "one"], check=False).returncode == 0


@pytest.mark.parametrize(("name", "compiler"), [("cc", "gcc"), ("c++", "g++")])
def test_help_is_ours(name, compiler):
    done = subprocess.run(
        [*_RACETRAP, name, "-O1", "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"Usage: racetrap {name} ")
    assert f"{compiler} --help" in done.stdout


def test_other_programs_are_refused(racetrap, tmp_path):
    result = racetrap("trace", "record", "-o", tmp_path / "x", "--", sys.executable)
    assert result.exit_code == 2
    assert "was not built for recording: build it by `racetrap cc`" in result.stderr
    result = racetrap("trace", "record", "-o", tmp_path / "x", "--", tmp_path / "nothing")
    assert result.exit_code == 2
    assert "nothing was not found" in result.stderr
    assert not os.path.exists(tmp_path / "x")


def test_options_for_the_compiler_need_sources(racetrap, built, tmp_path):
    result = racetrap("trace", "record", "-o", tmp_path / "x", "--cc", "-O1", built / "program")
    assert result.exit_code == 2
    assert "Option --cc is for sources, not for a program with threads" in result.stderr
