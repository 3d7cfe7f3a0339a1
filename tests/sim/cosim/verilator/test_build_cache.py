"""Simulator builds: kept whole, and begun only where every tool is there."""

import pytest

from racetrap.sim.cosim.verilator import build_cache
from racetrap.sim.cosim.verilator.build_cache import BuildError, build_key, build_once


def test_build_is_kept_without_precompiled_headers(tmp_path):
    def make(folder):
        for name in ("libsystem.so", "ports.h.gch"):
            (folder / name).touch()

    build_once(tmp_path / "build", make)
    build_once(tmp_path / "build", lambda folder: pytest.fail("made again"))
    assert [path.name for path in (tmp_path / "build").iterdir()] == ["libsystem.so"]


def test_missing_tool_is_said_before_a_build_begins(tmp_path, monkeypatch):
    monkeypatch.setattr(build_cache, "missing_tools", lambda _: ["Command `make` was not found."])
    with pytest.raises(BuildError, match="`make`"):
        build_once(tmp_path / "build", lambda folder: pytest.fail("begun"))
    assert not (tmp_path / "build").exists()


def test_key_follows_from_options_and_files(tmp_path):
    file = tmp_path / "file"
    file.write_text("one")
    keys = [build_key("a"), build_key("b"), build_key("a", files=[file])]
    file.write_text("two")
    keys.append(build_key("a", files=[file]))
    assert len(set(keys)) == 4
    assert build_key("a") == keys[0]
