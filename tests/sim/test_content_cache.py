"""Content cache: made once, by one process; nothing half made is ever found."""

import multiprocessing
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest

from racetrap.sim.content_cache import (
    VERSION_TAG,
    CacheError,
    cache_folder,
    content_key,
    keep,
    keep_json,
    locked,
    write_whole,
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_folder_of_each_version(folder, monkeypatch, tmp_path):
    assert cache_folder() == folder / version("racetrap")
    monkeypatch.delenv("RACETRAP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / "racetrap" / version("racetrap")


def test_folder_is_marked_for_backup_programs(folder):
    write_whole(cache_folder() / "kind" / "x", "one")
    assert (cache_folder() / VERSION_TAG).read_text().startswith("Signature: 8a477f597d28d172")


def test_folder_that_cannot_be_written(folder):
    folder.write_text("a file")
    with pytest.raises(CacheError, match=f"Cache folder {folder} is not writable: "):
        keep(cache_folder() / "kind" / "x", Path.touch)


def test_users_of_a_shared_folder(folder):
    folder.mkdir()
    folder.chmod(0o1777)
    path = keep(cache_folder() / "kind" / "x", Path.touch)
    assert path.parent.stat().st_mode & 0o7777 == 0o1777
    assert path.with_name("x.lock").stat().st_mode & 0o666 == 0o666


def test_what_is_there_needs_no_lock(folder):
    path = keep(cache_folder() / "kind" / "x", Path.touch)
    path.with_name("x.lock").unlink()
    keep(path, Path.touch)
    assert not path.with_name("x.lock").exists()


_KILLED = """\
import pathlib, subprocess, sys, time
from racetrap.sim.content_cache import keep

def make(unfinished):
    unfinished.mkdir()
    # What was started lives on, and goes on writing where it was told to.
    subprocess.Popen(["sh", "-c", "sleep 0.3; echo late > late"], cwd=unfinished)
    print("begun", flush=True)
    time.sleep(60)

keep(pathlib.Path(sys.argv[1]), make)
"""


def test_killed_process_leaves_no_lock_and_no_path(folder):
    path = cache_folder() / "kind" / "x"
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "begun\n"
        process.kill()
    assert not path.exists()

    def make(unfinished):
        unfinished.mkdir()
        time.sleep(0.5)

    keep(path, make)
    assert not list(path.iterdir())
    assert sorted(each.name for each in path.parent.iterdir()) == ["x", "x.lock"]


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
        context.Process(target=_make, args=(number, cache_folder() / "x", started))
        for number in range(3)
    ]
    with locked(cache_folder() / "x.lock"):  # all of them are waiting when one may begin
        for process in processes:
            process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    number = started.get()
    assert started.empty()
    assert (cache_folder() / "x").read_text() == str(number)


@pytest.mark.parametrize("leave", [Path.mkdir, Path.touch])
def test_what_was_left_unfinished_is_made_anew(folder, leave):
    def fail(unfinished):
        leave(unfinished)
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        keep(cache_folder() / "x", fail)
    assert not (cache_folder() / "x").exists()
    keep(cache_folder() / "x", lambda unfinished: unfinished.write_text("whole"))
    assert (cache_folder() / "x").read_text() == "whole"


def test_document_is_read_back(folder):
    made = []

    def make():
        made.append(1)
        return {"pair": (1, 2)}

    assert keep_json("flow", ["content"], make) == {"pair": [1, 2]}
    assert keep_json("flow", ["content"], make) == {"pair": [1, 2]}
    assert keep_json("flow", ["other"], make) == {"pair": [1, 2]}
    assert len(made) == 2
    assert len(list((cache_folder() / "flow").glob("*.json"))) == 2


def test_written_whole(folder):
    write_whole(cache_folder() / "new" / "x.json", "one")
    write_whole(cache_folder() / "new" / "x.json", "two")
    assert [path.read_text() for path in (cache_folder() / "new").iterdir()] == ["two"]
