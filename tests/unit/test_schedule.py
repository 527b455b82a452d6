"""Learning rates against values computed by hand."""

import math

import pytest

from augury.config import ScheduleConfig
from augury.train.schedule import Schedule


def rates(config: ScheduleConfig, steps: list[int]) -> list[float]:
    schedule = Schedule(base=0.1, steps=10, epochs=10, config=config)
    return [schedule.rate(step) for step in steps]


def test_without_a_schedule_the_rate_is_constant() -> None:
    assert rates(ScheduleConfig(), [0, 50, 99]) == [0.1] * 3


def test_warm_up_is_linear_from_its_factor_to_the_base_rate() -> None:
    config = ScheduleConfig(warmup_epochs=2, warmup_factor=0.2)
    assert rates(config, [0, 10, 20, 30]) == pytest.approx([0.02, 0.06, 0.1, 0.1])


def test_step_decay_takes_the_factor_of_the_last_boundary_passed() -> None:
    config = ScheduleConfig(decay="step", decay_epochs=(3, 6), decay_factors=(0.25, 0.125))
    assert rates(config, [29, 30, 59, 60, 99]) == pytest.approx([0.1, 0.025, 0.025, 0.0125, 0.0125])


def test_cosine_decay_runs_from_the_end_of_warm_up_to_the_end_of_the_run() -> None:
    config = ScheduleConfig(decay="cosine", warmup_epochs=2)
    expected = [0.1 * 0.5 * (1 + math.cos(math.pi * (step - 20) / 80)) for step in (20, 60, 99)]
    assert rates(config, [20, 60, 99]) == pytest.approx(expected)
    assert rates(config, [100])[0] == pytest.approx(0.0)


def test_warm_up_multiplies_with_a_decay_that_begins_inside_it() -> None:
    config = ScheduleConfig(
        warmup_epochs=4, warmup_factor=0, decay="step", decay_epochs=(2,), decay_factors=(0.5,)
    )
    assert rates(config, [30]) == pytest.approx([0.1 * 0.75 * 0.5])
