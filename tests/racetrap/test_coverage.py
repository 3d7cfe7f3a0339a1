"""The command `racetrap coverage`."""

import json

from click.testing import CliRunner

from racetrap.cli import cli
from racetrap.tb.scord.coverage_bins import BINS, UNREACHABLE


def _coverage(tmp_path, counts, *options):
    file = tmp_path / "hits.json"
    file.write_text(json.dumps(counts))
    return CliRunner().invoke(cli, ["coverage", str(file), *options])


def test_all_bins_hit(tmp_path):
    counts = {name: 1 for name in BINS if name not in UNREACHABLE}
    assert _coverage(tmp_path, counts).exit_code == 0


def test_missed_bin_is_named(tmp_path):
    missed = next(name for name in BINS if name not in UNREACHABLE)
    counts = {name: 1 for name in BINS if name not in {missed, *UNREACHABLE}}
    out = tmp_path / "out.json"
    result = _coverage(tmp_path, counts, "--json", str(out))
    assert result.exit_code == 3
    assert json.loads(out.read_text())["missed"] == [missed]


def test_unknown_bin_is_refused(tmp_path):
    assert _coverage(tmp_path, {"no.such.bin": 1}).exit_code == 2
