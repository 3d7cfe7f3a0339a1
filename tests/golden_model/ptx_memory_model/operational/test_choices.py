"""Choices: options, deviations, replay."""

from racetrap.golden_model.ptx_memory_model.operational import (
    Deviation,
    InOrder,
    Kind,
    RandomChoices,
    ReplayedChoices,
    Story,
)

RATES = {Kind.MESSAGE: 0.5, Kind.HOLD: 0.0}


def test_one_option_is_no_choice():
    choices = RandomChoices(1, RATES)
    assert [choices.take(Kind.MESSAGE, 1) for _ in range(9)] == [0] * 9
    assert choices.counts[Kind.MESSAGE] == 0


def test_random_choices_follow_rate_and_seed():
    choices = RandomChoices(1, RATES)
    taken = [choices.take(Kind.MESSAGE, 4) for _ in range(2000)]
    assert {taken.count(option) > 250 for option in range(4)} == {True}
    assert 900 < taken.count(0) < 1100
    assert [choices.take(Kind.HOLD, 2) for _ in range(100)] == [0] * 100
    again = RandomChoices(1, RATES)
    assert [again.take(Kind.MESSAGE, 4) for _ in range(2000)] == taken


def test_deviations_replay_the_run():
    choices = RandomChoices(3, RATES)
    taken = [
        choices.take(Kind.MESSAGE, 3, lambda option: Story("load", "took", option))
        for _ in range(50)
    ]
    assert choices.deviations[0].story == f"load took {choices.deviations[0].option}"
    replay = ReplayedChoices(choices.deviations)
    assert [replay.take(Kind.MESSAGE, 3) for _ in range(50)] == taken
    assert [InOrder().take(Kind.MESSAGE, 3) for _ in range(5)] == [0] * 5


def test_an_option_that_is_not_there_is_the_last():
    assert ReplayedChoices([Deviation(0, Kind.MESSAGE, 7, 9)]).take(Kind.MESSAGE, 3) == 2
