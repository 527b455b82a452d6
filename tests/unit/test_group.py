"""What ranks tell each other when one fails, on a world of one rank."""

import pytest

from augury.errors import ConfigError, PeerError
from augury.world import Group, start_mpi, together
from augury.world.group import end_job


@pytest.fixture
def alone() -> Group:
    return start_mpi()


def test_a_failure_inside_together_keeps_its_message_and_exit_code(alone: Group) -> None:
    with pytest.raises(PeerError) as caught, together(alone, "configuration"):
        raise ConfigError("no such key")
    assert (str(caught.value), caught.value.exit_code) == ("configuration: no such key", 2)


def test_a_bug_inside_together_names_its_type(alone: Group) -> None:
    with pytest.raises(PeerError) as caught, together(alone, "staging"):
        raise KeyError("x")
    assert (str(caught.value), caught.value.exit_code) == ("staging: KeyError: 'x'", 70)


def test_without_a_failure_together_is_silent(alone: Group) -> None:
    with together(alone, "nothing"):
        pass
    assert alone.from_leader("value", lambda: 7) == 7


def test_reductions_and_questions_on_one_rank(alone: Group) -> None:
    assert alone.sums([1.5, 2]).tolist() == alone.maxima([1.5, 2]).tolist() == [1.5, 2.0]
    assert alone.start_any(True).wait() is True
    assert alone.start_any(False).wait() is False
    assert alone.gather("x") == ["x"]


def test_the_end_of_a_job_is_one_line_and_an_exit_code(
    alone: Group, capsys: pytest.CaptureFixture[str]
) -> None:
    assert end_job(alone, ConfigError("train.batch: missing")) == 2
    assert capsys.readouterr().err == "augury: train.batch: missing\n"


def test_the_end_by_a_bug_shows_where_it_was(
    alone: Group, capsys: pytest.CaptureFixture[str]
) -> None:
    assert end_job(alone, ValueError("odd")) == 70
    err = capsys.readouterr().err
    assert "Traceback" in err or "ValueError: odd" in err
    assert err.splitlines()[-1] == "augury: ValueError: odd"
