"""Builds of others: a package of our own instead of Debian's, and no network."""

import pytest

from racetrap.sim.failure import Failure
from tests import foreign_builds
from tests.foreign_builds import PACKAGES, ForeignPackage, build_and_record, fetch

_COPY = """\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char data[1 << 20];
static size_t bytes;

static void *fill(void *file) {
    bytes = fread(data, 1, sizeof data, file);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t thread;
    int unpacks = strcmp(arguments[1], "-d") == 0;
    FILE *file = unpacks ? stdin : fopen(arguments[count - 1], "rb");
    if (pthread_create(&thread, NULL, fill, file) || pthread_join(thread, NULL)) return 1;
    if (unpacks) data[0] += SHIFT;
    return fwrite(data, 1, bytes, stdout) != bytes;
}
"""
_MAKEFILE = "copy: copy.o\n\t$(CC) -pthread $^ -o $@\n"


def _package(tmp_path, shift=0, **others):
    (tmp_path / "copy.c").write_text(_COPY.replace("SHIFT", str(shift)))
    (tmp_path / "Makefile").write_text(_MAKEFILE)
    commands = (("make", "-s", "CC={racetrap} cc"),)
    return ForeignPackage("copy", "make", commands, "copy", others.get("arguments", ("-c",)))


def test_package_is_built_by_its_own_build_system_and_recorded(tmp_path):
    build = build_and_record(_package(tmp_path), tmp_path)
    assert build.is_right
    assert (build.threads, build.races) == (2, 0)
    assert build.events > 10_000  # the file, by 16 bytes
    assert not build_and_record(_package(tmp_path, shift=1), tmp_path).is_right


def test_package_that_does_not_build(tmp_path):
    package = _package(tmp_path)
    (tmp_path / "copy.c").write_text("int main(void) { return nothing; }")
    with pytest.raises(Failure, match="Package copy cannot be built"):
        build_and_record(package, tmp_path)


def test_no_network(tmp_path, monkeypatch, capsys):
    tool = tmp_path / "bin" / "apt-get"
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\ncase "$*" in *update*) echo "no route" >&2; exit 100;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")
    assert foreign_builds.main(PACKAGES[:1]) == 2
    text = capsys.readouterr().err
    assert "Source package pbzip2 cannot be brought: is there a network" in text
    assert "no route" in text
    tool.unlink()
    monkeypatch.setenv("PATH", str(tool.parent))
    with pytest.raises(Failure, match="apt-get` was not found: use Debian"):
        fetch("pbzip2", tmp_path)
