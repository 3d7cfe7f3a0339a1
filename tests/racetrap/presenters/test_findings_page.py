"""The page of findings: sources side by side, filter, sort, nothing fetched, all escaped."""

import re
from dataclasses import replace

import pytest

from racetrap.presenters.findings import Findings
from racetrap.presenters.findings_page import findings_page
from tests.support.oracle.findings import line_pair
from tests.support.pages.browser import NEEDS_BROWSER, browse
from tests.support.pages.evaluation_page import Inventory, assert_shown_whole

_HOSTILE = '</pre></script><img src=x onerror="document.title=1">{{ 7 * 7 }}\x1b[2J'


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    lines = [f"line {number};" for number in range(1, 31)]
    lines[9] = _HOSTILE
    (folder / "a.cu").write_text("\n".join(lines))
    return folder


@pytest.fixture(scope="module")
def page(sources):
    pairs = [
        line_pair(f"{sources}/a.cu:10", f"{sources}/a.cu:20", 5),
        line_pair(f"{sources}/a.cu:3", f"{sources}/a.cu:7", 40, kind="missing-lock"),
        line_pair("pc 0x40", f"<b>{_HOSTILE}</b>.cu:2", 9),
    ]
    summary, others = ["3 of them."], {"faults": [f"Fault: <i>{_HOSTILE}</i>"]}
    command = "racetrap run 'a b.cu' -- '<x>'"
    return findings_page("Races of <a>.cu", command, Findings(pairs, summary, others))


def _order(dom):
    return [int(number) for number in re.findall(r'data-instances="(\d+)"', dom)]


def test_both_accesses_stand_in_their_sources(page):
    assert page.count('class="marked"') == 4
    assert re.search(r'class="marked"><b>   20 </b>line 20;\n        \^</span>', page)
    assert "<b>   26 </b>line 26;" in page
    assert "line 27;" not in page
    assert page.count("No source.") == 2
    assert "racetrap run &#39;a b.cu&#39; -- &#39;&lt;x&gt;&#39;" in page


def test_nothing_is_fetched_and_all_is_escaped(page):
    inventory = Inventory(page)
    assert not inventory.fetched
    assert not re.search(r"<(img|i|b>&lt|x|a)\b", page)
    assert page.count("</script>") == page.count("<script>") == 1
    assert "{{ 7 * 7 }}" in page
    assert "\x1b" not in page


def test_a_race_that_was_looked_for_in_weak_memory_says_what_became_of_it():
    exposure = {
        "memory": "views", "runs": 9, "seed": 12, "alone": True, "failure": "wrong result",
        "sentence": "Buffer 2 must have 1 < 2",
    }  # fmt: skip
    pair = replace(line_pair("a.cu:1", "a.cu:2", 1), exposure=exposure)
    page = findings_page("Races of a.cu", "racetrap check a.cu", Findings([pair], []))
    text = "exposed by views, seed 12: wrong result: Buffer 2 must have 1 &lt; 2"
    assert page.count(text) == 1


def test_a_clean_run_has_a_page_too():
    page = findings_page("Races of a.cu", "racetrap run a.cu", Findings([], ["Races: none."]))
    assert "Races: none." in page
    assert "data-place" not in page


@NEEDS_BROWSER
@pytest.mark.parametrize(
    ("fragment", "order", "shown"),
    [
        ("", [40, 9, 5], "3 of 3"),
        ("sort=kind", [40, 5, 9], "3 of 3"),
        ("sort=place&filter=LINE+20", [40, 5, 9], "1 of 3"),
        ("kind=missing-lock", [40, 9, 5], "1 of 3"),
        ("kind=missing-lock&filter=a.cu%3A20", [40, 9, 5], "0 of 3"),
        ("kind=none&sort=none", [40, 9, 5], "3 of 3"),
    ],
)
def test_browser_filters_and_sorts(page, tmp_path, fragment, order, shown):
    (tmp_path / "page.html").write_text(page)
    dom = browse(tmp_path / "page.html", fragment)
    assert _order(dom) == order
    assert f">{shown} shown</output>" in dom
    assert 3 - len(re.findall(r'<li data-[^>]* hidden=""', dom)) == int(shown[0])
    assert "<title>Races of &lt;a&gt;.cu</title>" in dom
    assert "<img" not in dom


@NEEDS_BROWSER
def test_policy_lets_no_other_script_run(page, tmp_path):
    """Even if a source got through as markup."""
    (tmp_path / "page.html").write_text(
        page.replace("<h2>", "<script>document.title='1'</script><h2>")
    )
    with pytest.raises(AssertionError, match="Content Security Policy"):
        browse(tmp_path / "page.html")


@NEEDS_BROWSER
@pytest.mark.parametrize("width", [390, 1400], ids=["phone", "desk"])
def test_browser_shows_it_whole(page, tmp_path, width):
    policy = re.compile(r"script-src '[^']*'")
    assert_shown_whole(policy.sub("script-src 'unsafe-inline'", page), tmp_path, width, elements=0)
