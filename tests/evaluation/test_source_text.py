"""Lines of source files behind places."""

from racetrap.evaluation.source_text import marked_line, relative_place, source_line


def test_a_line_with_its_caret(tmp_path):
    path = tmp_path / "a.cu"
    path.write_text("first\n\tsecond;  \n\n")
    assert source_line(f"{path}:1") == "first"
    assert marked_line(f"{path}:1") == ["first", "^"]
    assert marked_line(f"{path}:2") == ["        second;", "        ^"]


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
