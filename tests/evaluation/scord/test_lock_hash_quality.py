"""The claims of docs/lock-hash.md."""

from random import Random

import pytest
from click.testing import CliRunner

from racetrap.evaluation.scord.lock_hash_quality import (
    DISTANCES,
    SCHEMES,
    different_locks,
    main,
    same_lock,
)
from racetrap.golden_model.events import Scope

BLOCK, DEVICE = Scope.BLOCK, Scope.DEVICE
OURS, PUBLISHED = SCHEMES["ours"], SCHEMES["published"]


def rate(scheme, distance, scope, same_block):
    return different_locks(scheme, distance, scope, same_block, 3000, Random(distance))


@pytest.mark.parametrize("distance", DISTANCES)
def test_different_locks(distance):
    assert rate(OURS, distance, BLOCK, True) == 0
    assert rate(OURS, distance, BLOCK, False) < 0.03
    assert rate(OURS, distance, DEVICE, True) < 0.07
    assert rate(OURS, distance, DEVICE, False) < 0.23


@pytest.mark.parametrize("distance", DISTANCES)
def test_better_than_the_published_for_device_locks(distance):
    for same_block in (True, False):
        ours = rate(OURS, distance, DEVICE, same_block)
        assert ours < rate(PUBLISHED, distance, DEVICE, same_block)


@pytest.mark.parametrize("distance", [64, 1024, 4096])
def test_published_cannot_tell_locks_64_bytes_apart(distance):
    assert rate(PUBLISHED, distance, DEVICE, True) == 1
    assert rate(PUBLISHED, distance, BLOCK, True) == 1


def test_one_lock_in_two_blocks():
    for scheme in SCHEMES.values():
        assert same_lock(scheme, DEVICE, DEVICE) == 1
    assert same_lock(OURS, BLOCK, BLOCK) == same_lock(OURS, DEVICE, BLOCK) < 0.014
    # The trade: more masks tell more blocks apart, but then device locks match crosswise.
    assert same_lock(SCHEMES["63 masks"], BLOCK, BLOCK) < same_lock(OURS, BLOCK, BLOCK)
    assert same_lock(SCHEMES["63 masks"], DEVICE, BLOCK) > 2 * same_lock(OURS, DEVICE, BLOCK)


def test_command_prints_its_seed_and_tables():
    result = CliRunner().invoke(main, ["--samples", "100", "--seed", "9"])
    assert result.exit_code == 0
    assert "samples 100, seed 9" in result.output
    assert result.output.count("looks common") == 3
