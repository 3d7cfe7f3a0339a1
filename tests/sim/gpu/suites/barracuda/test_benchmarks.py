"""Stand-ins of BARRACUDA's benchmarks: whole, and each with the paper's figures."""

import pytest

from racetrap.sim.gpu.suites.barracuda.benchmarks import BENCHMARKS, Benchmark

_TABLE = BENCHMARKS["Hashtable"].model_dump()


def test_every_row_of_table_1_has_a_program():
    assert len(BENCHMARKS) == 26
    assert [each.name for each in BENCHMARKS.values() if not each.path.is_file()] == []
    spaces = [each.paper.space for each in BENCHMARKS.values() if each.paper.races]
    assert (spaces.count("global"), spaces.count("shared")) == (3, 4)
    assert (
        sum(each.paper.races for each in BENCHMARKS.values() if each.paper.space == "global") == 9
    )


def test_every_driver_is_in_its_source():
    drivers = [each for each in BENCHMARKS.values() if each.driver]
    assert [
        each.name for each in drivers if f"(DRIVER_{each.driver})" not in each.path.read_text()
    ] == []


@pytest.mark.parametrize("change", [{"source": ""}, {"driver": "block_scan"}, {"header": "a.cuh"}])
def test_a_program_is_a_source_or_a_driver(change):
    with pytest.raises(ValueError, match="a source, or a driver with a header"):
        Benchmark.model_validate(_TABLE | change)
