"""Specs of sweeps: what is read, and the sentence for every rule that is broken."""

import re

import pytest

from racetrap.evaluation.sweep.parameters import ALIASES, resolve
from racetrap.evaluation.sweep.sections import SpecError
from racetrap.evaluation.sweep.spec import CostSpec, QualitySpec, read_spec
from racetrap.generators.presets import PRESETS
from tests.support import REPOSITORY
from tests.support.pages.sweep_specs import SMALL, read, write

_SIGRACE = 'name = "s"\npreset = "sigrace"\n[grid]\nk = [4, 8]\n[quality]\nworkloads = ["fft"]\n'
_EXAMPLES = REPOSITORY / "docs" / "examples"


def test_defaults(tmp_path):
    spec = read(tmp_path)
    assert spec.grid == {"ratio": (1, 16), "barrier_id_bits": (4, 16)}
    assert spec.cost == CostSpec("state", (), 0, 100, False)
    assert spec.quality == QualitySpec(("1DC",), "tiny", 1, 5, 20)
    assert spec.base == PRESETS["scord"].params


def test_everything(tmp_path):
    text = SMALL.replace("[quality]", """\
"lanes + banks" = [1, 2]
[fixed]
lock_depth = 2
[cost]
family = "ecp5"
blocks = ["fence_file"]
seeds = 3
constraint_mhz = 80
elaborate = true
[quality]
size = "small"
region_log2 = 12""")  # fmt: skip
    spec = read(tmp_path, text)
    assert spec.fixed == {"lock_table_depth": 2}
    assert spec.grid["sm_count+banks"] == (1, 2)
    assert spec.cost == CostSpec("ecp5", ("fence_file",), 3, 80, True)
    assert spec.quality == QualitySpec(("1DC",), "small", 1, 5, 12)


@pytest.mark.parametrize("path", sorted(_EXAMPLES.glob("sweep-*.toml")), ids=lambda path: path.stem)
def test_examples_are_right(path):
    assert read_spec(path).grid


@pytest.mark.parametrize("system", ALIASES)
def test_aliases_mean_parameters(system):
    for alias, meant in ALIASES[system].items():
        assert resolve(PRESETS[system].params, alias) == (meant,)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name =", "nam =", "nam: Key must be one of name, preset, fixed, grid, cost, quality"),
        ('"small"', '"A b"', "name: Value must be a word of .*, not A b"),
        ('name = "small"', "", "name: Value must be a word of .*, not absent"),
        ('"scord"', '"score"', "preset: Value must be one of scord-tiny, .*, not score"),
        ("ratio =", "ration =", "grid.ration: Parameter must be one of sm_count.*, not ration"),
        ("ratio =", '"ratio+ratio" =', "grid.ratio.ratio: Parameter ratio must be named once"),
        ("ratio =", "barrier_id_width =", "grid.barrier_id_bits: Value must be a parameter that"),
        ("[1, 16]", "[]", r"grid.ratio: Value must be a list of at least one value, not \[\]"),
        ("[1, 16]", "4", "grid.ratio: Value must be a list of at least one value, not 4"),
        ("[1, 16]", "[4, 4]", "grid.ratio: Value must be a list of different values"),
        ("[1, 16]", "[4, 1.5]", "grid.ratio: Value must be a whole number.*, not 1.5"),
        ("[grid]", "[fixed]\nratio = 2\n[grid]", "grid.ratio: Value must be a parameter that is"),
        ("[grid]", "[fixed]\nratio = [2]\n[grid]", r"fixed.ratio: Value must be a .*, not \[2\]"),
        ("[grid]", "[fixed]\n[grids]", "grids: Key must be one of"),
        ('["1DC"]', "[]", "quality.workloads: Value must be a list of at least one"),
        ("1DC", "2DC", "quality.workloads: Value must be a list of .*, not 2DC"),
        ("schedules = 1", "schedules = 0", "quality.schedules: Value must be a whole number from"),
        ("seed = 5", "seed = true", "quality.seed: Value must be a whole number .*, not True"),
        ("seed = 5", 'size = "huge"', "quality.size: Value must be one of tiny, .*, not huge"),
        ("seed = 5", "region_log2 = 99", "quality.region_log2: Value must be .* 7 to 30, not 99"),
        ("seed = 5", '[cost]\nfamily = "x"', "cost.family: Value must be one of state, .*, not x"),
        ("seed = 5", "[cost]\nseeds = 1", "cost.seeds: Value must be absent with family state"),
        ("seed = 5", "[cost]\nelaborate = 1", "cost.elaborate: Value must be true or false, not 1"),
        ("seed = 5", "cost = 1\n[cost]\ncost = 1", "cost.cost: Key must be one of family, blocks"),
        (
            "seed = 5", '[cost]\nfamily = "ecp5"\nblocks = ["alu"]',
            "cost.blocks: Value must be a list of tracker, .*, not alu",
        ),
        (
            "seed = 5", '[cost]\nfamily = "asic"\nblocks = ["tracker"]\nseeds = 1',
            "cost.seeds: Value must be 0 with family asic, which is not placed, not 1",
        ),
        ("seed = 5", "seed =", "File must be TOML"),
    ],
)  # fmt: skip
def test_broken_rules(tmp_path, old, new, said):
    assert old in SMALL
    path = write(tmp_path, SMALL.replace(old, new, 1))
    with pytest.raises(SpecError, match=f"^{re.escape(str(path))}: {said}"):
        read_spec(path)


def test_a_table_must_be_one(tmp_path):
    for name in ("grid", "quality"):
        path = write(tmp_path, f'name = "a"\npreset = "scord"\n{name} = 1\n')
        with pytest.raises(SpecError, match=r"grid: Value must be a table, not (1|absent)"):
            read_spec(path)


def test_a_region_is_not_for_sigrace(tmp_path):
    assert read(tmp_path, _SIGRACE).grid == {"filters": (4, 8)}
    with pytest.raises(SpecError, match=r"region_log2: Value must be absent for SigRace"):
        read(tmp_path, _SIGRACE + "region_log2 = 12\n")
