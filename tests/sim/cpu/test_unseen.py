"""Functions of the C library that write through pointers: recorded, or named to the user."""

import subprocess

import pytest

from racetrap.presenters.recording_remarks import recording_remarks
from racetrap.sim.cpu.compiler import called_functions, compile_program, recorded_functions
from racetrap.sim.cpu.recorder import record_program
from racetrap.sim.cpu.unseen import HARMLESS, unseen_functions, writing_functions
from racetrap.sim.cpu.unsupported import why_refused

#: Some of each kind, which must be found as such.
_WRITES = {"localtime_r", "realpath", "read", "strtol", "wcstombs", "iconv", "qsort"}
_WRITES_NOT = {"strlen", "puts", "atoi", "open", "pthread_mutex_lock", "fclose", "sem_post"}


def test_the_headers_say_who_writes():
    assert writing_functions() >= _WRITES
    assert not writing_functions() & _WRITES_NOT
    assert len(writing_functions()) > 500


def test_what_the_recorder_calls_hides_nothing_of_the_program():
    """Every program has the recorder's own calls: of those that write, it records the program's,
    but for attributes of threads."""
    hidden = (called_functions() & writing_functions()) - recorded_functions() - HARMLESS
    assert {name for name in hidden if not name.startswith("pthread_attr_get")} == set()


def _program(folder, body):
    source = folder / "case.c"
    source.write_text(
        "#define _GNU_SOURCE\n#include <iconv.h>\n#include <stdlib.h>\n#include <stdio.h>\n"
        "#include <string.h>\n#include <time.h>\nchar to[64], from[64]; wchar_t wide[8];\n"
        f"int main(void) {{ {body} return 0; }}\n"
    )
    return compile_program([source], folder, [], ["-w"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('memcpy(to, from, 5); sscanf(from, "%s", to); puts(to); fopen("x", "r");', []),
        ("wcstombs(to, wide, 8); iconv(0, 0, 0, 0, 0);", ["iconv", "wcstombs"]),
    ],
)
def test_a_program_is_told_what_its_trace_lacks(tmp_path, body, expected):
    program = _program(tmp_path, body)
    assert unseen_functions(program) == expected
    recording = record_program(program)
    assert recording.unseen == expected
    summary = {
        "ending": "",
        "waiting": [],
        "optimisation": None,
        "threads": 2,
        "losses": {},
        "unseen_functions": expected,
    }
    remarks = list(recording_remarks(summary))
    assert [", ".join(expected) in remark for remark in remarks] == [True] * bool(expected)


def test_every_function_that_writes_is_recorded_or_named(tmp_path):
    """Of each one that the C library has: a program that uses it gets it recorded, or said."""
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=just-symbols",
         *(f"/lib/x86_64-linux-gnu/lib{name}.so.6" for name in ("c", "m"))],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    listed = {name.partition("@@")[0] for name in listed if "@@" in name}
    names = [name for name in sorted(writing_functions() & listed) if not why_refused(name)]
    source = tmp_path / "all.c"
    declared = "\n".join(f"extern char {name}[];" for name in names)
    source.write_text(
        f"{declared}\nchar *all[] = {{{', '.join(names)}}};\nint main(void) {{ return !all[0]; }}\n"
    )
    options = ["-w", *(f"-fno-builtin-{name}" for name in names)]
    named = unseen_functions(compile_program([source], tmp_path, [], options))
    silent = set(names) - set(named) - HARMLESS
    assert {name for name in silent if not name.startswith("pthread_attr_get")} <= (
        recorded_functions()
    )
    assert len(named) > 200
    assert len(silent) > 150
