"""The cache: its folder, its size, and its removal, which touches nothing else."""

import json
import os
import shutil

import pytest

from racetrap.sim.content_cache import cache_base, cache_folder, write_whole


@pytest.fixture(autouse=True)
def contents(tmp_path, monkeypatch):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    write_whole(cache_folder() / "fast" / "build", "12345")
    write_whole(cache_folder() / "sweep" / "points", "123")
    old = tmp_path / "0.0.1"
    (old / "flow").mkdir(parents=True)
    (old / "flow" / "result.json").write_text("1234567")
    (old / "CACHEDIR.TAG").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("not a cache")
    (tmp_path / "mine" / "elsewhere").symlink_to(tmp_path)


def _left():
    return sorted(path.name for path in cache_base().rglob("*") if path.is_file())


def _info(racetrap):
    return json.loads(racetrap("cache", "info", "--json", "-").stdout)


def test_info(racetrap):
    version = cache_folder().name
    assert _info(racetrap) == {
        "folder": str(cache_folder()),
        "bytes": 15,
        "holdings": [
            {"version": "0.0.1", "kind": "flow", "bytes": 7},
            {"version": version, "kind": "fast", "bytes": 5},
            {"version": version, "kind": "sweep", "bytes": 3},
        ],
    }
    assert str(cache_folder()) in racetrap("cache", "info").output


def test_info_while_another_process_removes_a_build(racetrap, monkeypatch):
    unfinished = cache_folder() / "fast" / "another.unfinished"
    write_whole(unfinished / "parts" / "model.o", "12")
    walk = os.walk

    def and_removed(folder):
        for place, folders, names in walk(folder):
            yield place, folders, names
            shutil.rmtree(unfinished, ignore_errors=True)

    monkeypatch.setattr(os, "walk", and_removed)
    assert _info(racetrap)["bytes"] == 15


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ([], ["CACHEDIR.TAG", "points", "thesis.txt"]),
        (["all"], ["thesis.txt"]),
        (["old"], ["CACHEDIR.TAG", "build", "points", "thesis.txt"]),
    ],
)
def test_clear(racetrap, options, left):
    before = _info(racetrap)["bytes"]
    done = json.loads(racetrap("cache", "clear", *options, "--json", "-").stdout)
    assert _left() == left
    assert done["removed_bytes"] == before - _info(racetrap)["bytes"]


def test_no_cache(racetrap, monkeypatch, tmp_path):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path / "nothing"))
    assert _info(racetrap)["holdings"] == []
    assert racetrap("cache", "clear").exit_code == 0
    assert not (tmp_path / "nothing").exists()
