"""The compiler's own race detector: its report is parsed, and its failures are reported."""

import subprocess

import pytest

from racetrap.sim.cpu import thread_sanitizer
from racetrap.sim.cpu.thread_sanitizer import (
    SanitizedProgram,
    SanitizerError,
    line_pair,
    parse_report,
    sanitize,
)

_REPORT = """some output of the program
==================
WARNING: ThreadSanitizer: data race (pid=1)
  Write of size 8 at 0x7b0400000000 by thread T1 (mutexes: write M9):
    #0 memset ../../../../src/libsanitizer/interceptors.inc:1 (libtsan.so.2+0x1)
    #1 fill /home/me/program.c:20 (program+0x1)
    #2 work /home/me/program.c:40 (program+0x1)

  Previous atomic read of size 4 at 0x7b0400000000 by main thread:
    #0 std::atomic<int>::load(std::memory_order) const /usr/include/c++/12/bits/base.h:488 (p+0x1)
    #1 main /home/me/program.c:9 (program+0x1)

  Location is heap block of size 4 at 0x7b0400000000 allocated by main thread:
    #0 malloc ../../../../src/libsanitizer/tsan.cpp:647 (libtsan.so.2+0x1)
    #1 main /home/me/program.c:5 (program+0x1)

SUMMARY: ThreadSanitizer: data race program.c:20 in fill
==================
==================
WARNING: ThreadSanitizer: thread leak (pid=1)
  Thread T1 (tid=2, finished) created by main thread at:
    #0 main /home/me/program.c:7 (program+0x1)
==================
==================
WARNING: ThreadSanitizer: data race (pid=1)
  Read of size 4 at 0x1 by main thread:
    #0 main /home/me/program.c:9 (program+0x1)

  Previous write of size 4 at 0x1 by thread T2:
    [failed to restore the stack]

==================
ThreadSanitizer: reported 3 warnings
"""


def test_report_gives_the_innermost_places_outside_the_runtime():
    assert parse_report(_REPORT) == {("base.h:488", "program.c:20"), ("?", "program.c:9")}


def test_report_without_races_is_empty():
    assert parse_report("") == parse_report("nothing\n") == frozenset()


def test_pair_has_the_smaller_place_first():
    assert line_pair("b.c:1", "a.c:2") == line_pair("a.c:2", "b.c:1") == ("a.c:2", "b.c:1")


def _source(folder, body):
    source = folder / "program.c"
    source.write_text(body)
    return source


def test_failing_program_is_told(tmp_path):
    source = _source(tmp_path, "int main(void) { return 3; }\n")
    with pytest.raises(SanitizerError, match="must return 0 under ThreadSanitizer, not 3"):
        sanitize([source], [])


def test_program_that_does_not_compile_is_told(tmp_path):
    source = _source(tmp_path, "int main(void) { return nothing; }\n")
    with pytest.raises(
        SanitizerError, match=r"(?s)cannot be compiled for ThreadSanitizer:\n.*nothing"
    ):
        sanitize([source], [])


def test_endless_program_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(thread_sanitizer, "_TIMEOUT", 0.2)
    source = _source(tmp_path, "int main(void) { for (volatile int i = 0;; i = 1); }\n")
    with pytest.raises(SanitizerError, match=r"must end within 0\.2 seconds"):
        sanitize([source], [])


def test_missing_compiler_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SanitizerError, match="`gcc` was not found: install"):
        SanitizedProgram([_source(tmp_path, "")], tmp_path)


def test_missing_library_is_told(tmp_path, monkeypatch):
    said = "/usr/bin/ld: cannot find libtsan_preinit.o: No such file or directory"
    fake = tmp_path / "gcc"
    fake.write_text(f"#!/bin/sh\ncase $* in *-c*) exit 0;; esac\necho '{said}'; exit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(SanitizerError, match="Library libtsan was not found: install it"):
        SanitizedProgram([_source(tmp_path, "")], tmp_path)


def test_runtime_that_cannot_start_is_told(tmp_path):
    body = '#include <stdio.h>\nint main(void) { fputs("FATAL: ThreadSanitizer: no", stderr); }\n'
    with pytest.raises(SanitizerError, match="ThreadSanitizer cannot run here"):
        sanitize([_source(tmp_path, body)], [])


def test_runs_must_be_some(tmp_path):
    source = _source(tmp_path, "int main(void) { return 0; }\n")
    with pytest.raises(ValueError, match="Runs must be at least 1, not 0"):
        sanitize([source], [], runs=0)


def test_addresses_are_random_again_afterwards():
    with thread_sanitizer._fixed_addresses():
        inside = _personality()
    assert inside & thread_sanitizer._ADDR_NO_RANDOMIZE
    assert not _personality() & thread_sanitizer._ADDR_NO_RANDOMIZE


def _personality():
    return int(subprocess.check_output(["cat", "/proc/self/personality"]), 16)
