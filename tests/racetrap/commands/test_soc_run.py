"""`racetrap soc run`: what it refuses, what it prints, and the traces that it writes."""

import json
from importlib.util import find_spec

import pytest

from racetrap.sim.failure import Failure
from racetrap.sim.soc import systems
from racetrap.sim.soc.firmware import image_of

_NEEDS_CORE = [
    pytest.mark.campaign,
    pytest.mark.skipif(
        find_spec("pythondata_cpu_picorv32") is None, reason="Core PicoRV32: extra soc"
    ),
    pytest.mark.xdist_group("soc"),
]
_CRYPTO = str(image_of("crypto"))


def test_unknown_system(racetrap):
    result = racetrap("soc", "run", "picrv32", _CRYPTO)
    assert result.exit_code == 2
    assert "picorv32" in result.stderr


def test_file_that_is_no_image(racetrap, tmp_path):
    bad = tmp_path / "bad.elf"
    bad.write_text("hello\n")
    result = racetrap("soc", "run", "picorv32", str(bad))
    assert result.exit_code == 2
    assert "line 1" in result.stderr


def test_missing_core_names_the_extra(monkeypatch):
    monkeypatch.setattr(systems, "find_spec", lambda name: None)
    with pytest.raises(Failure, match="pythondata-cpu-picorv32 is missing: install the extra soc"):
        systems.core_source("picorv32")


@pytest.mark.parametrize(("omission", "status"), [((), 0), (("flush",), 1)])
@pytest.mark.parametrize("form", [pytest.param("trace", marks=_NEEDS_CORE)])
def test_trace_has_the_same_verdict(racetrap, tmp_path, omission, status, form):
    trace = tmp_path / f"made.{form}"
    result = racetrap(
        "soc", "run", "picorv32", _CRYPTO, "2", *omission, "--trace", str(trace), "--json", "-"
    )
    assert result.exit_code == status
    document = json.loads(result.stdout)
    assert bool(document["races"]) == bool(status)
    assert document["lost_operations"] == 0
    assert racetrap("check", str(trace)).exit_code == status
    if status:
        assert "5b" in [race["rule"] for race in document["races"]]
        assert document["races"][0]["later"]["location"].startswith("crypto.c:")
