"""`racetrap check` of traces with accelerators: reports, cure, oracle, options and errors."""

import json

import pytest

_HEAD = """\
racetrap-trace 2
system noncoherent
memory line_bytes=32 granule_bytes=32 engines=1 prefetch=0 uncached_snoops_cache=0
layout {layout}
source "test"
location 0x40 "driver.c:12"
location 0x44 "driver.c:14"
"""
_MISSING_FLUSH = """\
cached_write pc=0x40 address=0x1000 size=64
dma_read engine=0 pc=0x44 address=0x1000 size=64
"""
_NEIGHBOURS = """\
cached_write address=0x1000 size=16
dma_read engine=0 address=0x1010 size=16
"""
_CLEARED = """\
cached_write address=0x1000 size=32
cache_invalidate address=0x1000 size=32
dma_write engine=0 address=0x1000 size=32
sync engine=0
cache_invalidate address=0x1000 size=32
cached_read address=0x1000 size=32
"""


@pytest.fixture
def trace(tmp_path):
    def _trace(body, layout="target"):
        path = tmp_path / "driver.txt"
        path.write_text(_HEAD.format(layout=layout) + body)
        return path

    return _trace


def _checked(racetrap, *arguments):
    result = racetrap("check", *arguments, "--json", "-")
    return result.exit_code, json.loads(result.stdout)


def test_race_with_both_lines_rule_and_cure(racetrap, trace):
    result = racetrap("check", trace(_MISSING_FLUSH))
    assert result.exit_code == 1
    for text in (
        "Race 0: rule 5b, the same bytes, seen once, bytes 0x1000 to 0x103f",
        "earlier: cached write at pc 0x40 (driver.c:12), operation 0",
        "later:   dma read of engine 0 at pc 0x44 (driver.c:14), operation 1",
        "The cached write may still be in the cache: the accelerator reads the old value",
        "Cure: Clean or flush the range of the cached write before the dma read.",
        "Races: 1 in 2 operations, mode strict",
    ):
        assert text in result.stdout
    assert "Addresses are those of the host" not in result.stdout


def test_json(racetrap, trace):
    status, data = _checked(racetrap, trace(_MISSING_FLUSH))
    assert status == 1
    assert data["mode"] == "strict"
    assert data["memory"]["line_bytes"] == 32
    (race,) = data["races"]
    assert race["rule"] == "5b"
    assert race["earlier"]["location"] == "driver.c:12"
    assert race["later"] == {
        "operation": 1, "kind": "dma read", "engine": 0, "pc": 0x44, "location": "driver.c:14"
    }  # fmt: skip
    assert (race["first"], race["last"], race["overlap"]) == (0x1000, 0x103F, "bytes")
    assert not race["false_sharing"]
    assert "Clean or flush" in race["cure"]


def test_false_sharing_is_told_apart(racetrap, trace):
    path = trace(_NEIGHBOURS)
    assert racetrap("check", path).exit_code == 0
    result = racetrap("check", path, "--set", "mode=thesis")
    assert result.exit_code == 1
    assert "rule 5b, false sharing of a granule, harmless on its own" in result.stdout
    assert "Cure: Pad or align the two objects" in result.stdout
    assert racetrap("check", path, "--set", "mode=thesis", "--set", "line_bytes=16").exit_code == 0


def test_line_and_granule(racetrap, trace):
    path = trace(_NEIGHBOURS.replace("dma_read", "dma_write"))
    for options, status in (
        ((), 1),
        (("--set", "granule_bytes=16"), 0),
        (("--set", "line_bytes=64"), 1),
    ):
        code, data = _checked(racetrap, path, *options)
        assert code == status
    assert data["memory"] == {
        "line_bytes": 64, "granule_bytes": 64, "engines": 1, "prefetch": False,
        "uncached_snoops_cache": False, "write_through": False,
    }  # fmt: skip


def test_lost_data_that_is_overwritten_does_not_count(racetrap, trace):
    result = racetrap("check", trace(_CLEARED))
    assert result.exit_code == 0
    assert "lost data that is overwritten before it is read" in result.stdout


def test_layout_of_the_host_is_told(racetrap, trace):
    result = racetrap("check", trace(_MISSING_FLUSH, "host"))
    assert "Addresses are those of the host" in result.stdout


def test_prefetching(racetrap, trace):
    body = """\
dma_write engine=0 address=0x1000 size=32
cache_invalidate address=0x1000 size=32
sync engine=0
cached_read address=0x1000 size=32
"""
    assert racetrap("check", trace(body)).exit_code == 0
    assert racetrap("check", trace(body), "--set", "prefetch=true").exit_code == 1


def test_oracle(racetrap, trace):
    result = racetrap("check", trace(_MISSING_FLUSH), "--compare")
    assert "Oracle: 64 bytes race, the first at operation 1" in result.stdout
    assert "first race of mode strict: operation 1" in result.stdout
    _, data = _checked(racetrap, trace(_NEIGHBOURS), "--compare", "--set", "mode=thesis")
    assert data["oracle"] == {"first_operation": None, "first_reported": 1, "bytes": []}


def test_oracle_says_above_which_length_it_refuses(racetrap, trace):
    result = racetrap("check", trace("cached_read address=0 size=67108864\n"), "--compare")
    assert result.exit_code == 2
    assert "exceeds the oracle's limit of 1000000 lines" in result.stderr


def test_text_of_the_thesis(racetrap, tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("do_dma_write 0x1000-0x1fff\nuncached_read 0x1000-0x1003\n")
    result = racetrap("check", path, "--set", "mode=thesis")
    assert result.exit_code == 1
    assert "rule 1c" in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "line_bytes=24"], "Cache line must be a power of two, not 24"),
        (["--set", "granule_bytes=64"], "Write-back granule must be from 1 to 32, not 64"),
        (
            ["--limit", "all"],
            "Option --limit is for a trace of a GPU, a kernel, a trace of threads or",
        ),
        (["--detector", "scord"], "Option --detector is for"),
    ],
)
def test_options_that_do_not_fit(racetrap, trace, options, words):
    result = racetrap("check", trace(_MISSING_FLUSH), *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_options_of_accelerators_are_refused_elsewhere(racetrap, racy):
    result = racetrap("check", racy, "--set", "mode=thesis")
    assert result.exit_code == 2
    assert "Unknown setting 'mode'" in result.stderr


def test_trace_commands(racetrap, trace, tmp_path):
    path, binary = trace(_MISSING_FLUSH, "mixed"), tmp_path / "driver.trace"
    assert racetrap("trace", "convert", path, binary).exit_code == 0
    result = racetrap("trace", "info", binary)
    assert result.exit_code == 0
    for text in ("binary trace for noncoherent", "lines of 32 bytes", "Layout:   mixed",
                 "from 0x1000 to 0x1000, 2 ranges"):  # fmt: skip
        assert text in result.stdout
    assert racetrap("check", binary).exit_code == 1


def test_hardware_for_other_traces(racetrap, trace):
    result = racetrap("simulate", "scord", trace(_MISSING_FLUSH))
    assert result.exit_code == 2
    assert "preset of scord does not read a trace of a CPU" in result.stderr


def test_reports_and_baseline(racetrap, trace, tmp_path):
    page, sarif, known = (tmp_path / name for name in ("page.html", "x.sarif", "known.toml"))
    result = racetrap(
        "check", trace(_MISSING_FLUSH), "--output", page, "--output", sarif,
        "--output", known, "--output", tmp_path / "x.github",
    )  # fmt: skip
    assert result.exit_code == 1
    assert (
        "::error file=driver.c,line=14,title=RT301::dma read races with cached"
        in (tmp_path / "x.github").read_text()
    )
    for text in ("driver.c:12", "driver.c:14", "Clean or flush the range", ">no clean</text>"):
        assert text in page.read_text()
    (finding,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert "Clean or flush the range of the cached write" in finding["message"]["text"]
    code, document = _checked(racetrap, trace(_MISSING_FLUSH), "--baseline", known)
    assert (code, document["races"]) == (0, [])


def test_lost_data_that_nobody_reads_is_no_finding(racetrap, trace, tmp_path):
    sarif = tmp_path / "x.sarif"
    assert racetrap("check", trace(_CLEARED), "--output", sarif).exit_code == 0
    assert json.loads(sarif.read_text())["runs"][0]["results"] == []


#: Clean, DMA read, wait, then another clean of the same bytes.
_TWO_CLEANS = """\
location 0x48 "driver.c:13"
location 0x4c "driver.c:15"
location 0x50 "driver.c:16"
cached_write pc=0x40 address=0x1000 size=64
cache_clean pc=0x48 address=0x1000 size=64
dma_read engine=0 pc=0x44 address=0x1000 size=64
sync engine=0 pc=0x4c
cache_clean pc=0x50 address=0x1000 size=64
cached_write pc=0x40 address=0x1000 size=64
"""
_NEEDLESS = [("driver.c:13", "races of rule 5b", True), ("driver.c:15", "races of rule 4g", True),
             ("driver.c:16", "", False)]  # fmt: skip


def test_notes_tell_needless_maintenance(racetrap, trace):
    path = trace(_TWO_CLEANS)
    status, data = _checked(racetrap, path, "--notes", "--compare")
    assert status == 0
    found = [(one["location"], one["harm"], one["racy"]) for one in data["without"]]
    assert found == _NEEDLESS
    assert [one["needless"] for one in data["without"]] == [False, False, True]
    # Only asked for, and without the machine unless that is, too.
    assert "without" not in _checked(racetrap, path)[1]
    assert [one["racy"] for one in _checked(racetrap, path, "--notes")[1]["without"]] == [None] * 3


def test_harm_is_what_the_whole_run_does_not_have(racetrap, trace):
    """A race that is there anyway tells nothing about a place."""
    (wait,) = _checked(racetrap, trace(_MISSING_FLUSH + "sync engine=0 pc=0x44\n"), "--notes")[1][
        "without"
    ]
    assert wait["needless"]
