"""The package with the core: without it, or with another file, the remedy is named."""

import pytest

from racetrap.sim.cosim.vortex import package


def test_without_the_package_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(package.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(package.VortexMissing, match="make vortex"):
        package.vortex_source()


def test_another_file_is_refused(monkeypatch, tmp_path):
    file = tmp_path / "benchmarks/large/vortex/rtl/vortex.v"
    file.parent.mkdir(parents=True)
    file.write_text("module vortex_core_wrap; endmodule\n")

    class Spec:
        submodule_search_locations = (str(tmp_path),)

    monkeypatch.setattr(package.importlib.util, "find_spec", lambda name: Spec)
    with pytest.raises(package.VortexMissing, match="SHA-256"):
        package.vortex_source()
