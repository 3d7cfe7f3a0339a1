"""Lines of source files behind places."""

import os

from racetrap.verdict.source_text import (
    excerpt,
    marked_line,
    relative_place,
    source_line,
    with_relative_places,
)


def test_a_line_with_its_caret(tmp_path):
    path = tmp_path / "a.cu"
    path.write_text("first\n\tsecond;  \n\n")
    assert source_line(f"{path}:1") == "first"
    assert marked_line(f"{path}:1") == ["first", "^"]
    assert marked_line(f"{path}:2") == ["        second;", "        ^"]
    assert marked_line(f"{path}:2", 5) == ["        second;", " " * 11 + "^"]
    assert marked_line(f"{path}:2", 5, 3) == ["        second;", " " * 11 + "^~~"]
    assert marked_line(f"{path}:2", 99) == ["        second;", "        ^"]


def test_places_without_a_line(tmp_path):
    path = tmp_path / "a.cu"
    path.write_text("first\n\n")
    for place in (f"{path}:0", f"{path}:2", f"{path}:9", f"{path}:x", "gone.cu:1", "pc 0x40"):
        assert marked_line(place) == []


def test_paths_from_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert relative_place(f"{tmp_path}/sub/../a.cu:3") == "a.cu:3"
    assert relative_place("/elsewhere/a.cu:3") == "/elsewhere/a.cu:3"
    assert relative_place("pc 0x40") == "pc 0x40"
    text = f"{tmp_path}/a.cu:3: trap\n  pc 0x40 ({tmp_path}/sub/b.cu:4), not {tmp_path}2/c.cu"
    relative = f"a.cu:3: trap\n  pc 0x40 (sub/b.cu:4), not {tmp_path}2/c.cu"
    assert with_relative_places(text) == relative


def test_lines_around_a_place(tmp_path):
    path = tmp_path / "a.cu"
    path.write_text("1\n2\n\t3 \n4\n5\n")
    assert excerpt(f"{path}:3", 1) == [(2, "2", False), (3, "        3", True), (4, "4", False)]
    assert [line.number for line in excerpt(f"{path}:1", 2)] == [1, 2, 3]
    assert excerpt(f"{path}:9", 2) == excerpt("pc 0x40", 2) == []


def test_what_is_no_source_is_not_read(tmp_path):
    """Places come from traces, which anyone may have written."""
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as large:
        large.truncate(1 << 30)
    for path in ("/dev/zero", tmp_path / "pipe", tmp_path / "large", tmp_path, "nul\0"):
        assert source_line(f"{path}:1") == ""
