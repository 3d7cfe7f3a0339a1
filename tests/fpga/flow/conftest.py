import pytest


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """A cache of the test's own, so that tools do run."""
    monkeypatch.setenv("RACETRAP_CACHE", str(tmp_path / "cache"))
