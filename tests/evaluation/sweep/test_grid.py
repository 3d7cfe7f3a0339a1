"""Points of a grid: their order, keys that go together, and points that are refused."""

from racetrap.evaluation.sweep.grid import points_of
from tests.support.pages.sweep_specs import SMALL, read


def test_the_last_parameter_changes_fastest(tmp_path):
    points = points_of(read(tmp_path))
    assert [point.number for point in points] == [0, 1, 2, 3]
    found = [tuple(point.values.values()) for point in points]
    assert found == [(1, 4), (1, 16), (16, 4), (16, 16)]
    assert [point.label for point in points][2] == "ratio=16, barrier_id_bits=4"


def test_points_have_their_parameters(tmp_path):
    points = points_of(read(tmp_path, SMALL.replace("[quality]", "[fixed]\nbanks = 2\n[quality]")))
    params = points[1].params
    assert params is not None
    assert (params.ratio, params.barrier_id_bits, params.banks) == (1, 16, 2)


def test_parameters_in_conflict_are_refused_with_the_reason(tmp_path):
    *fine, refused = points_of(read(tmp_path))
    for point in fine:
        assert point.params is not None
        assert not point.refused
    assert refused.params is None
    assert refused.refused.startswith("Metadata entry must fit in 64 bits, not 66")


def test_values_of_the_wrong_type_are_refused(tmp_path):
    points = points_of(read(tmp_path, SMALL.replace("[1, 16]", '[1, "many", true]')))
    assert [point.refused for point in points][2:] == [
        *["Parameter ratio must be an integer, not 'many'"] * 2,
        *["Parameter ratio must be an integer, not True"] * 2,
    ]


def test_linked_parameters_change_together(tmp_path):
    points = points_of(read(tmp_path, SMALL.replace("ratio", '"ratio+banks"')))
    assert {(point.params.ratio, point.params.banks) for point in points if point.params} == {
        (1, 1), (16, 16),
    }  # fmt: skip
