"""Content cache: made once, by one process; nothing half made is ever found."""

import multiprocessing
from pathlib import Path

import pytest

from racetrap.sim.content_cache import (
    cache_folder,
    content_key,
    keep,
    keep_json,
    locked,
    write_whole,
)
from tests.support import REPOSITORY


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_folder(folder, monkeypatch):
    assert cache_folder() == folder
    monkeypatch.delenv("RACETRAP_CACHE")
    assert cache_folder() == REPOSITORY / "build"


def test_key_follows_from_values_and_files(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("same")
    other.write_text("same")
    keys = [
        content_key({"a": 1, "b": 2}), content_key({"a": 1, "b": 3}), content_key(),
        content_key(files=[one]), content_key(files=[other]), content_key(files=[one, other]),
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert content_key({"b": 2, "a": 1}) == keys[0]
    one.write_text("changed")
    assert content_key(files=[one]) != keys[3]


def _make(number, path, started):
    def write(unfinished: Path) -> None:
        started.put(number)
        unfinished.write_text(str(number))

    keep(path, write)


def test_processes_make_it_once(folder):
    context = multiprocessing.get_context("spawn")
    started = context.Queue()
    processes = [
        context.Process(target=_make, args=(number, folder / "x", started)) for number in range(3)
    ]
    with locked(folder / "x.lock"):  # all of them are waiting when one may begin
        for process in processes:
            process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    number = started.get()
    assert started.empty()
    assert (folder / "x").read_text() == str(number)


@pytest.mark.parametrize("leave", [Path.mkdir, Path.touch])
def test_what_was_left_unfinished_is_made_anew(folder, leave):
    def fail(unfinished):
        leave(unfinished)
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        keep(folder / "x", fail)
    assert not (folder / "x").exists()
    keep(folder / "x", lambda unfinished: unfinished.write_text("whole"))
    assert (folder / "x").read_text() == "whole"


def test_document_is_read_back(folder):
    made = []

    def make():
        made.append(1)
        return {"pair": (1, 2)}

    assert keep_json("flow", ["content"], make) == {"pair": [1, 2]}
    assert keep_json("flow", ["content"], make) == {"pair": [1, 2]}
    assert keep_json("flow", ["other"], make) == {"pair": [1, 2]}
    assert len(made) == 2
    assert len(list((folder / "flow").glob("*.json"))) == 2


def test_written_whole(folder):
    write_whole(folder / "new" / "x.json", "one")
    write_whole(folder / "new" / "x.json", "two")
    assert [path.read_text() for path in (folder / "new").iterdir()] == ["two"]
