"""The golden model compiled ahead of time: the same results, and never of other sources."""

import json
import logging
import subprocess
import sys

import pytest

from racetrap.sim.cosim.verilator import compiled
from racetrap.sim.cosim.verilator.build_cache import BuildError
from tests.support import REPOSITORY

pytestmark = pytest.mark.xdist_group("compiled")

_TESTS = REPOSITORY / "tests" / "golden_model" / "scord"

#: Prints one JSON document: whether the model is compiled, and all that it found in random runs.
_RUNS = """
import json
from racetrap.generators.presets import find_preset
from racetrap.golden_model.scord.params import Region
from racetrap.golden_model.scord.scord import Scord
from racetrap.sim.cosim.verilator.compiled import is_compiled
from racetrap.sim.cosim.scord.knobs import KNOBS
from racetrap.sim.cosim.scord.random_events import random_events

results = []
for number, (name, knobs) in enumerate(KNOBS.items()):
    for preset in ("scord", "scord-banks4", "scord-tiny"):
        params = find_preset(preset).params
        region = Region(data_base=1 << 13, size_log2=13)
        scord = Scord(params, region)
        steps = [step for event in random_events(params, region, knobs, number, 150)
                 for step in scord.run(event)]
        results.append([name, preset, steps, [race.record() for race in scord.races],
                        scord.counters])
print(json.dumps({"compiled": is_compiled(), "results": results}))
"""


def _python(*arguments):
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_same_results_as_plain_python(tmp_path):
    pytest.importorskip("mypyc")
    (tmp_path / "runs.py").write_text(_RUNS)
    plain = json.loads(_python(str(tmp_path / "runs.py")))
    run_here = f"import sys; sys.path.insert(0, {str(tmp_path)!r})"
    code = f"{run_here}; from racetrap.sim.cosim.verilator.compiled import main; main(['runs'])"
    fast = json.loads(_python("-c", code))
    assert not plain["compiled"]
    assert fast["compiled"]
    assert fast["results"] == plain["results"]
    assert all(len(steps) > 100 for _, _, steps, _, _ in plain["results"])


def test_probe_table_through_the_compiled_model():
    pytest.importorskip("mypyc")
    arguments = ("-q", "-p", "no:cacheprovider", str(_TESTS))
    assert " passed" in _python("-m", "racetrap.sim.cosim.verilator.compiled", "pytest", *arguments)


def test_too_late():
    import racetrap.golden_model.scord.tracker  # noqa: F401

    with pytest.raises(RuntimeError, match="must be imported after the switch, not before"):
        compiled.use_compiled()


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A cache of its own, and builds that compile nothing."""
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path))
    monkeypatch.setattr(compiled, "version", lambda package: "1")
    monkeypatch.setattr(compiled, "_compile", lambda root, folder: folder.mkdir())
    root = tmp_path / "golden_model"
    root.mkdir()
    monkeypatch.setattr(compiled.racetrap.golden_model, "__path__", [str(root)])
    (root / "tracker.py").write_text("one")
    return root


def test_other_sources_and_tools_are_other_builds(sources, monkeypatch):
    first = compiled.build_compiled()
    assert compiled.build_compiled() == first
    (sources / "tracker.py").write_text("two")
    second = compiled.build_compiled()
    monkeypatch.setattr(compiled, "version", lambda package: "2")
    assert len({first, second, compiled.build_compiled()}) == 3


def test_failed_build_falls_back(sources, monkeypatch, caplog):
    def fail(root, folder):
        raise BuildError("Command python failed")

    monkeypatch.setattr(compiled, "_compile", fail)
    with caplog.at_level(logging.WARNING):
        assert compiled.build_compiled() is None
    assert caplog.messages == ["Golden model runs as plain Python: Command python failed"]


def test_without_mypyc(sources, monkeypatch, caplog):
    def missing(package):
        raise compiled.PackageNotFoundError(package)

    monkeypatch.setattr(compiled, "version", missing)
    with caplog.at_level(logging.WARNING):
        assert compiled.build_compiled() is None
    assert caplog.messages == ["Golden model runs as plain Python: package mypy is missing"]
