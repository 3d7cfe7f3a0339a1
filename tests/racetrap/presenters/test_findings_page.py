"""The page of findings: sources in colour, timelines, cures, filter, sort; nothing is fetched, all
is escaped."""

import json
import re
from dataclasses import replace

import pytest

from racetrap.golden_model.call_stacks import Frame
from racetrap.presenters.findings import Findings
from racetrap.presenters.findings_page import findings_page
from racetrap.presenters.timeline import timeline_drawing
from racetrap.sim.gpu.editing.edits import Edit
from racetrap.verdict.cause import Cure
from racetrap.verdict.timeline import Band, Moment, Sort, Timeline
from tests.support.oracle.findings import line_pair
from tests.support.pages.browser import NEEDS_BROWSER, browse
from tests.support.pages.devtools import WIDTHS
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
    hostile = Moment(
        5, (1,), f"fence, {_HOSTILE}", _HOSTILE, f"{sources}/a.cu:10", Sort.ORDER, lack=_HOSTILE
    )
    timeline = Timeline((_HOSTILE, "thread 1 of block 2"), (
        Moment(3, (0,), "store", "data[3]", f"{sources}/a.cu:10", is_access=True),
        Moment(4, (0,), "atomic exchange", "ready", f"{sources}/a.cu:11", Sort.ATOMIC, times=7,
               skipped=57),
        hostile, Moment(6, (1,), "load", "data[3]", f"{sources}/a.cu:20", is_access=True),
    ), ((1, 2),), f"no {_HOSTILE}", (Band(0, None, 1, _HOSTILE), Band(1, 2, None, "lock held")),
    )  # fmt: skip
    cured = line_pair(f"{sources}/a.cu:10", f"{sources}/a.cu:20", 5, make_timeline=lambda: timeline)
    cured.cure = Cure((Edit("a.cu", 0, 0, "", "insert `b();`"),), diff=f"-a\n+{_HOSTILE}\n c\n")
    pairs = [
        cured,
        line_pair(f"{sources}/a.cu:3", f"{sources}/a.cu:7", 40, kind="missing-lock"),
        line_pair("pc 0x40", f"<b>{_HOSTILE}</b>.cu:2", 9),
    ]
    summary, others = ["3 of them."], {"faults": [f"Fault: <i>{_HOSTILE}</i>"]}
    command = "racetrap run 'a b.cu' -- '<x>'"
    return findings_page("Races of <a>.cu", command, Findings(pairs, summary, others))


#: Goes to a fragment of the address, and says what is shown.
_SHOW = """(async () => {
  location.hash = %s;
  await new Promise(done => setTimeout(done, 50));
  const races = [...document.querySelectorAll("#races > li")];
  const links = [...document.querySelectorAll("#list > li")];
  return {
    order: races.map(race => race.dataset.instances),
    races: races.map(race => "#" + race.id),
    targets: links.map(link => link.firstElementChild.getAttribute("href")),
    hidden: [races, links].map(list => list.filter(each => each.hidden).length),
    shown: document.getElementById("shown").textContent,
  };
})()"""


def test_both_accesses_stand_in_their_sources(page):
    assert page.count('class="line marked"') == 4
    number = '<i class="number">20</i>'
    assert re.search(rf'marked"><b>   20 </b>line {number};\n        \^</span>', page)
    assert '<b>   26 </b>line <i class="number">26</i>;' in page
    assert "<b>   27 </b>" not in page
    assert page.count("No source.") == 2
    assert "racetrap run &#39;a b.cu&#39; -- &#39;&lt;x&gt;&#39;" in page


def test_accesses_of_one_line_share_their_source(sources):
    pair = line_pair(f"{sources}/a.cu:3", f"{sources}/a.cu:3")
    page = findings_page("Races of a.cu", "racetrap run a.cu", Findings([pair], []))
    assert page.count('class="line marked"') == 1
    assert re.findall(r"<p>((?:earlier|later): [a-z]+) at", page) == [
        "earlier: load",
        "later: store",
    ]


def test_nothing_is_fetched_and_all_is_escaped(page):
    inventory = Inventory(page)
    assert not inventory.fetched
    assert not re.search(r"<(img|i>|x)\b", page)
    assert page.count("</script>") == page.count("<script>") == 1
    assert "{{ 7 * 7 }}" in page
    assert "\x1b" not in page


def test_the_timeline_has_every_moment_and_the_missing_order(page):
    (drawing,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    words = re.findall(r'class="(?:words|name|note|lack)">([^<]*)<', drawing)
    assert words[:3] == ["store", "data[3]", "a.cu:10"]
    # Words that are wide take two lines; what is left out stands beside the line of life.
    assert words[3:8] == ["atomic exchange ×7", "ready", "a.cu:11", "+57"] + [words[7]]
    assert words[-3:] == ["load", "data[3]", "a.cu:20"]
    assert drawing.count('class="racing"') == 2
    assert drawing.count('class="lacking"') == drawing.count('class="message"') == 1
    assert drawing.count('class="missing"') == 1
    ids = re.findall(r'id="(tip-[^"]*)"', drawing)
    assert [f"url(#{each})" for each in ids] == re.findall(r'marker-end="([^"]*)"', drawing)
    caption = re.search(r"<figcaption>(.*?)</figcaption>", page, re.DOTALL)
    assert "+n: n events are left out" in caption[1]
    assert "×n: run n times" in caption[1]


def test_the_timeline_names_what_is_missing_and_states_around_accesses(page):
    (drawing,) = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    rows = re.findall(r'<(?:circle|path) class="(?:mark|bar)" ([^/]*)', drawing)
    assert [row.split()[0] for row in rows] == ['cx="158"', 'd="M158', 'd="M233', 'cx="242"']
    first, second, third = (int(re.search(r"""(?:cy="|M\d+ )(\d+)""", row)[1]) for row in rows[:3])
    assert first < second < third
    bands = re.findall(r'class="band" d="M(\d+) (\d+)V(\d+)"', drawing)
    height = int(re.search(r'viewBox="0 0 400 (\d+)"', drawing)[1])
    # The diamond is drawn from its top.
    assert bands == [
        ("158", str(first - 16), str(second + 7)), ("242", str(third), str(height - 4)),
    ]  # fmt: skip
    assert re.search(r'class="missing-text">…[^<]*7 }}\\x1b\[2J<', drawing)
    label = re.search(r'aria-label="([^"]*)"', drawing)[1]
    assert re.fullmatch(r"store of data\[3\] at .*; no &lt;/pre&gt;.*: load of .*line 20;", label)
    caption = re.search(r"<figcaption>(.*?)</figcaption>", page, re.DOTALL)[1]
    assert "; thread 1 of block 2: lock held." in caption
    assert "Wide line: &lt;/pre&gt;" in caption


def test_the_label_of_the_missing_order_covers_no_mark():
    """The mark of the atomic would lie in the middle of the arrow."""
    moments = [
        Moment(number, (side,), words, "data", "", sort, is_access=not number % 2)
        for number, (side, words, sort) in enumerate([
            (0, "store", Sort.ACCESS), (0, "atomic", Sort.ATOMIC), (1, "load", Sort.ACCESS),
        ])
    ]  # fmt: skip
    drawing = timeline_drawing(Timeline(("a", "b"), tuple(moments)), "name")
    first, atomic, last = (row["y"] for row in drawing["rows"])
    assert (first + last) // 2 == atomic
    assert abs(drawing["missing_y"] - atomic) == 13


def test_the_cure_is_a_diff(page):
    lines = re.findall(r'<span class="line (removed|added|)">([^<]*)</span>', page)
    assert [style for style, _ in lines[:3]] == ["removed", "added", ""]
    assert lines[0][1] == "-a"
    assert lines[1][1].startswith("+&lt;/pre&gt;&lt;/script&gt;&lt;img ")
    assert "help: insert <code>b();</code>" in page


def test_the_calls_that_lead_to_an_access_stand_in_their_sources(sources):
    pair = line_pair(f"{sources}/a.cu:3", f"{sources}/a.cu:7")
    frames = (Frame(1, "add<int>", f"{sources}/a.cu:20"), Frame(0, "kernel", ""))
    pair.first = replace(pair.first, later=replace(pair.first.later, stack=frames))
    page = findings_page("Races of a.cu", "racetrap run a.cu", Findings([pair], []))
    calls = re.findall(r"<li>(in .*?|called .*?)</li>", page)
    assert calls == [
        "in add&lt;int&gt;", f"called at {sources}/a.cu:20 in kernel: <code>line 20;</code>",
    ]  # fmt: skip


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
def test_browser_filters_and_sorts(page, tmp_path, chromium):
    """By the address, which someone else may have sent; the list and the findings alike."""
    (tmp_path / "page.html").write_text(page)
    chromium.show(tmp_path / "page.html", WIDTHS["desk"])
    for fragment, order, text in (
        ("", [40, 9, 5], "3 of 3"),
        ("sort=kind", [40, 9, 5], "3 of 3"),
        ("sort=place&filter=LINE+20", [40, 5, 9], "1 of 3"),
        ("kind=missing-lock", [40, 9, 5], "1 of 3"),
        ("finding-2", [40, 9, 5], "1 of 3"),
        ("kind=missing-lock&filter=a.cu%3A20", [40, 9, 5], "0 of 3"),
        ("kind=none&sort=none", [40, 9, 5], "3 of 3"),
    ):
        seen = chromium.evaluate(_SHOW % json.dumps(fragment))
        assert seen["order"] == [str(each) for each in order], fragment
        assert seen["targets"] == seen["races"], fragment
        assert seen["shown"] == f"{text} shown"
        assert seen["hidden"] == [3 - int(text[0])] * 2, fragment
    assert chromium.evaluate("document.title") == "Races of <a>.cu"
    assert chromium.evaluate("document.images.length") == 0


@NEEDS_BROWSER
def test_policy_lets_no_other_script_run(page, tmp_path):
    """Even if a source got through as markup."""
    (tmp_path / "page.html").write_text(
        page.replace("<h2>", "<script>document.title='1'</script><h2>")
    )
    with pytest.raises(AssertionError, match="Content Security Policy"):
        browse(tmp_path / "page.html")


@NEEDS_BROWSER
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_browser_shows_it_whole(page, tmp_path, chromium, width, is_dark):
    assert_shown_whole(chromium, page, tmp_path, width, elements=1, is_dark=is_dark)
