"""Specs of sweeps: what is read, and the sentence for every rule that is broken."""

import re

import pytest

from racetrap.evaluation.sweep.parameters import resolve, swept_of
from racetrap.evaluation.sweep.spec import CostSpec, QualitySpec, read_spec
from racetrap.generators.presets import PRESETS
from racetrap.generators.systems import SYSTEMS
from racetrap.sim.toml_file import TomlError
from tests.support import REPOSITORY
from tests.support.pages.sweep_specs import SMALL, read, write

_SIGRACE = 'name = "s"\npreset = "sigrace"\n[grid]\nk = [4, 8]\n[quality]\nworkloads = ["fft"]\n'
_EXAMPLES = REPOSITORY / "docs" / "examples"


def test_defaults(tmp_path):
    spec = read(tmp_path)
    assert spec.grid == {"ratio": (1, 16), "barrier_id_bits": (4, 16)}
    assert spec.cost == CostSpec()
    assert (spec.cost.family, spec.cost.blocks, spec.cost.seeds) == ("state", (), 0)
    assert (spec.cost.constraint_mhz, spec.cost.elaborate) == (100, False)
    assert spec.quality == QualitySpec(workloads=("1DC",), seed=5)
    assert (spec.quality.size, spec.quality.schedules, spec.quality.region_log2) == ("tiny", 1, 20)
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
    assert spec.cost == CostSpec(
        family="ecp5", blocks=("fence_file",), seeds=3, constraint_mhz=80, elaborate=True
    )
    assert spec.quality == QualitySpec(workloads=("1DC",), size="small", seed=5, region_log2=12)


@pytest.mark.parametrize("path", sorted(_EXAMPLES.glob("sweep-*.toml")), ids=lambda path: path.stem)
def test_examples_are_right(path):
    assert read_spec(path).grid


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_aliases_mean_parameters(system):
    params = system.random(1)
    aliases = swept_of(params).aliases
    assert aliases
    for alias, meant in aliases.items():
        assert resolve(params, alias) == (meant,)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name =", "nam =", "Key must be one of name, .*, quality, most_points, not nam"),
        ("name =", "most_points = 1\nname =", r"grid must be of at most 1 points .*, not \d"),
        ("[1, 16]", str(list(range(6000))), "grid must be of at most 10000 points .*, not 12000"),
        ('"small"', '"A b"', "name must be a word of .*, not 'A b'"),
        ('name = "small"', "", "name must be .*, not missing"),
        ('"scord"', '"score"', "preset must be one of scord-tiny, .*, not 'score'"),
        ("ratio =", "ration =", "grid.ration must be one of sm_count.*, not 'ration'"),
        ("ratio =", '"ratio+ratio" =', r"grid.ratio\+ratio must be .* named once, not "),
        ("ratio =", "barrier_id_width =", "grid.barrier_id_bits must be .* named once, not "),
        ("[1, 16]", "[]", r"grid.ratio must be a list of at least one value.*, not \[\]"),
        ("[1, 16]", "4", "grid.ratio must be .* list, not 4"),
        ("[1, 16]", "[4, 4]", r"grid.ratio must be a list .* different, not \[4, 4\]"),
        ("[1, 16]", "[4, 1.5]", r"grid.ratio\[1\] must be a whole number.*, not 1.5"),
        ("[grid]", "[fixed]\nratio = 2\n[grid]", "grid.ratio must be .* named once, not 'ratio'"),
        ("[grid]", "[fixed]\nratio = [2]\n[grid]", r"fixed.ratio must be a whole .*, not \[2\]"),
        ("[grid]", "[fixed]\n[grids]", "Key must be one of .*, not grids"),
        ('["1DC"]', "[]", r"quality.workloads must be a list of at least one .*, not \[\]"),
        ('["1DC"]', '["1DC", "1DC"]', "quality.workloads must be a list .* different, not "),
        ("1DC", "2DC", "quality.workloads must be a list of .*, not '2DC'"),
        ("schedules = 1", "schedules = 0", "quality.schedules must be .* 1, not 0"),
        ("schedules = 1", "schedules = 101", "quality.schedules must be .* 100, not 101"),
        ("seed = 5", "seed = true", "quality.seed must be .* integer, not True"),
        ("seed = 5", "seed = 2147483648", "quality.seed must be less than 2147483648, not 2"),
        ("seed = 5", 'size = "huge"', "quality.size must be one of tiny, .*, not 'huge'"),
        ("seed = 5", "region_log2 = 99", "quality.region_log2 must be .* 30, not 99"),
        ("seed = 5", "region_log2 = 6", "quality.region_log2 must be .* 7, not 6"),
        ("seed = 5", '[cost]\nfamily = "x"', "cost.family must be one of state, .*, not 'x'"),
        ("seed = 5", "[cost]\nseeds = 1", "cost.seeds must be absent with family state, not 1"),
        ("seed = 5", "[cost]\nelaborate = 1", "cost.elaborate must be .* boolean, not 1"),
        ("seed = 5", "cost = 1\n[cost]\ncost = 1", "Key of cost must be one of family, blocks"),
        ("seed = 5", '[cost]\nfamily = "ecp5"', r"cost.blocks must be given .* ecp5, not \[\]"),
        (
            "seed = 5", '[cost]\nfamily = "ecp5"\nblocks = ["alu"]',
            "cost.blocks must be a list of front_end, .*, not 'alu'",
        ),
        (
            "seed = 5", '[cost]\nfamily = "ecp5"\nblocks = ["tracker"]\nseeds = 65',
            "cost.seeds must be .* 64, not 65",
        ),
        (
            "seed = 5", '[cost]\nfamily = "ecp5"\nblocks = ["tracker"]\nconstraint_mhz = 0',
            "cost.constraint_mhz must be .* 1, not 0",
        ),
        (
            "seed = 5", '[cost]\nfamily = "asic"\nblocks = ["tracker"]\nseeds = 1',
            "cost.seeds must be 0 with family asic, which is not placed, not 1",
        ),
        ("seed = 5", "seed =", "not TOML"),
    ],
)  # fmt: skip
def test_broken_rules(tmp_path, old, new, said):
    assert old in SMALL
    path = write(tmp_path, SMALL.replace(old, new, 1))
    with pytest.raises(TomlError, match=f"^{re.escape(str(path))}: {said}"):
        read_spec(path)


def test_a_table_must_be_one(tmp_path):
    for name in ("grid", "quality"):
        path = write(tmp_path, f'name = "a"\npreset = "scord"\n{name} = 1\n')
        with pytest.raises(TomlError, match=r"grid must be .*, not (1|missing)"):
            read_spec(path)


def test_a_region_is_not_for_sigrace(tmp_path):
    assert read(tmp_path, _SIGRACE).grid == {"filters": (4, 8)}
    with pytest.raises(TomlError, match=r"region_log2 must be absent for SigRace, not 12"):
        read(tmp_path, _SIGRACE + "region_log2 = 12\n")


def test_programs_of_the_bus_monitor(tmp_path):
    text = (
        'name = "entries"\npreset = "noncoherent"\n[grid]\nqueue_depth = [4, 8]\n'
        '[quality]\nworkloads = ["crypto"]\n'
    )
    assert read_spec(write(tmp_path, text)).grid == {"report_fifo_depth": (4, 8)}
    for line, rule in (
        ("seed = 2", "quality.seed must be absent for the bus monitor, not 2"),
        ('size = "small"', "size must be one of tiny, not 'small'"),
        ('workloads = ["kmeans"]', "workloads must be a list of libfixmath, .*, not"),
    ):
        changed = text.replace('workloads = ["crypto"]', "") if "workloads" in line else text
        with pytest.raises(TomlError, match=rule):
            read_spec(write(tmp_path, changed + line + "\n"))
