"""The Pareto front against its definition."""

from hypothesis import given
from hypothesis import strategies as st

from racetrap.evaluation.sweep.results import pareto_front

_POINTS = st.integers(1, 4).flatmap(
    lambda size: st.lists(st.lists(st.integers(0, 4), min_size=size, max_size=size), max_size=30)
)


def test_example():
    assert pareto_front([(1, 9), (2, 3), (2, 4), (3, 3), (9, 1), (2, 3)]) == [0, 1, 4, 5]


def test_nothing():
    assert pareto_front([]) == []


@given(_POINTS)
def test_front(points):
    front = pareto_front(points)
    assert front == sorted(set(front))
    assert bool(front) == bool(points)
    chosen = [points[number] for number in front]
    for number, point in enumerate(points):
        is_beaten = any(
            other != point and all(a <= b for a, b in zip(other, point, strict=True))
            for other in points
        )
        assert is_beaten == (number not in front)
        # Whoever is not on the front is beaten by someone who is.
        beats = [all(a <= b for a, b in zip(other, point, strict=True)) for other in chosen]
        assert any(beats), point


@given(_POINTS, st.randoms())
def test_order_does_not_matter(points, random):
    shuffled = random.sample(points, len(points))
    assert sorted(points[number] for number in pareto_front(points)) == sorted(
        shuffled[number] for number in pareto_front(shuffled)
    )
