"""Progress for people at a terminal, in a file, or not at all."""

import io

import pytest

from augury import terminal
from augury.terminal import Terminal


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def show(stream: io.StringIO, *, speaks: bool = True) -> str:
    with Terminal(speaks=speaks, stream=stream) as shown:
        shown.begin("epoch 1/2", 10)
        for done in range(1, 11):
            shown.advance(done, f"loss {done}")
        shown.say("epoch 1/2: done [50%]")
    return stream.getvalue()


def test_a_file_gets_plain_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "_LINE_EVERY_S", 0.0)
    lines = show(io.StringIO()).splitlines()
    assert lines[0] == "epoch 1/2: 1/10 loss 1"
    assert len(lines) == 11
    assert "\x1b" not in "".join(lines)


def test_fast_progress_in_a_file_is_not_a_flood() -> None:
    assert show(io.StringIO()) == "epoch 1/2: done [50%]\n"


def test_a_terminal_gets_a_bar_and_keeps_the_messages() -> None:
    shown = show(Tty())
    assert "epoch 1/2: done [50%]" in shown
    assert "10/10 loss 10" in shown


@pytest.mark.parametrize("stream", [io.StringIO(), Tty()])
def test_silent_ranks_write_nothing(stream: io.StringIO) -> None:
    assert show(stream, speaks=False) == ""
