"""Parts that builds of the site keep: which pages are read again if only the code has changed, and
which parts are made again."""

import subprocess
import sys

import pytest

from docs.site import generated, parts
from docs.site.generated import Kept
from tests.support import REPOSITORY


@pytest.fixture
def texts(monkeypatch):
    """What the parts would be now; the sources are a number."""
    texts = {"quick": "a", "slow": "b", "sources": "1"}
    monkeypatch.setattr(parts, "PARTS", {"quick": lambda: texts["quick"]})
    monkeypatch.setattr(parts, "SLOW_PARTS", {"slow": lambda: texts["slow"]})
    monkeypatch.setattr(generated, "sources_key", lambda: texts["sources"])
    return texts


def test_a_page_whose_quick_part_differs_is_read_again(texts):
    kept = Kept()
    assert kept.quick_text("quick", "page") == "a"
    texts["sources"] = "2"
    assert kept.outdated() == []
    texts["quick"] = "c"
    assert kept.outdated() == ["page"]
    assert kept.quick_text("quick", "page") == "c"
    assert kept.outdated() == []


def test_a_part_that_is_gone_makes_its_page_outdated(texts, monkeypatch):
    kept = Kept()
    kept.quick_text("quick", "page")
    kept.slow_text("slow", remakes=False)
    texts["sources"] = "2"
    monkeypatch.setattr(parts, "PARTS", {})
    monkeypatch.setattr(parts, "SLOW_PARTS", {})
    assert (kept.outdated(), kept.earlier()) == (["page"], [])


def test_a_slow_part_is_made_again_only_if_asked_for_and_of_earlier_sources(texts):
    kept = Kept()
    assert kept.slow_text("slow", remakes=False) == "b"
    texts["slow"] = "c"
    # Of the same sources it is not made again.
    assert (kept.earlier(), kept.slow_text("slow", remakes=True)) == ([], "b")
    texts["sources"] = "2"
    assert (kept.earlier(), kept.slow_text("slow", remakes=False)) == (["slow"], "b")
    assert (kept.slow_text("slow", remakes=True), kept.earlier()) == ("c", [])


def test_every_source_counts():
    assert generated.sources_key() == generated.sources_key() != ""


#: Builds a page with two parts, which a number in the environment decides.
_BUILD = """
import os, sys
from docs.site import generated, parts
parts.PARTS = {"quick": lambda: "quick " + os.environ["NUMBER"]}
parts.SLOW_PARTS = {"slow": lambda: "slow " + os.environ["NUMBER"]}
generated.sources_key = lambda: os.environ["NUMBER"]
from sphinx.cmd.build import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.campaign
def test_builds_of_a_site_after_another(tmp_path):
    page = "# Index\n\n## Pages\n\n```{generated} quick\n```\n\n```{generated} slow\n```\n"
    (tmp_path / "index.md").write_text(page)

    def build(number, *options):
        done = subprocess.run(
            [sys.executable, "-c", _BUILD, "--fail-on-warning", "--quiet", "-c",
             str(REPOSITORY / "docs"), *options, str(tmp_path), str(tmp_path / "site")],
            cwd=REPOSITORY, env={"NUMBER": number}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        text = (tmp_path / "site" / "index.html").read_text()
        return [word for word in ("quick 1", "quick 2", "slow 1", "slow 2") if word in text], done

    assert build("1")[0] == ["quick 1", "slow 1"]
    found, done = build("2")
    assert found == ["quick 2", "slow 1"]
    assert "Of earlier sources: slow; `make docs SLOW=1`" in done.stderr
    found, done = build("2", "-D", "remake_slow=1")
    assert (found, done.stderr) == (["quick 2", "slow 2"], "")
