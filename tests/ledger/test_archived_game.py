"""A game that rested on disk, or over a restart, is in every figure as if it never had."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given, settings

from live.events import GameId, Headers, Player
from live.games.game import (
    ClocksCorrected,
    GameGone,
    HeadersChanged,
    MovesPlayed,
    NewGame,
    ProblemChanged,
    ResultChanged,
    Step,
    TailReplaced,
    TakenBack,
)
from live.ledger.measure import Measure
from live.ledger.tracked_game import ArchivedValues
from live.ratings.perceived_model import Models
from live.store.journal_reader import archived_of, encode
from tests.ledger.arithmetic import ANAND, CARLSEN, Held, answer_or_failure, game, line
from tests.ledger.test_event_state import FIGURES, Run, histories, ledger, same_end

# --- archived game ------------------------------------------------------------------------------

# A game that rested on disk, or over a restart, is in every figure as if it never had.


DING = Player("Ding, Liren")
MOVES = line(*range(3, 63))


Kept = dict[GameId, bytes]


def keep(held: Held, id: GameId, kept: Kept) -> None:
    """Keep a game as bytes, unless it was kept and has not changed since."""
    values = held.archive(id)
    if values is not None:
        kept[id] = encode(values)
    assert id in kept


def read(kept: Kept) -> list[ArchivedValues]:
    return [values for each in kept.items() if (values := archived_of(*each)) is not None]


def three_games(measure: Measure) -> Run:
    run = Run(ledger(measure=measure), answer_or_failure)
    players = (ANAND, CARLSEN, DING)
    for number in range(3):
        white, black = players[number], players[(number + 1) % 3]
        run.step(NewGame(game(f"g{number}", MOVES[: 40 + number], white=white, black=black)))
    run.reply_all()
    return run


def restarted(run: Run, kept: Kept | None = None) -> tuple[Run, Kept]:
    """Another process, that knows what this one kept, and those before it."""
    kept = {} if kept is None else kept
    ids = [view.id for view in run.ledger.games()]
    for id in ids:
        keep(run.ledger, id, kept)
    kept = {id: kept[id] for id in ids}
    held = ledger(measure=run.ledger.measure)
    out = held.resumed(read(kept))
    assert not out.requests and not out.dropped
    return Run(held, answer_or_failure), kept


def renamed(headers: Headers, white: Player) -> Headers:
    return msgspec.structs.replace(headers, white=white)


STEPS: list[Step] = [
    MovesPlayed("g0", 41, MOVES[40:44]),
    TakenBack("g0", 31),
    TailReplaced("g1", 20, line(*range(3, 21), *range(50, 60))[19:]),
    ResultChanged("g2", "1-0"),
    ClocksCorrected("g1", ((3, 60.0, None),)),
    HeadersChanged("g0", renamed(game().headers, Player("Anand", elo=2700))),
    HeadersChanged("g1", renamed(game().headers, Player("Caruana", elo=2790))),
    ProblemChanged("g2", "a board is off"),
    GameGone("g1"),
]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: type(step).__name__)
def test_a_step_does_to_an_archived_game_what_it_does_to_any(step: Step) -> None:
    run = three_games(FIGURES)
    again, _ = restarted(run)
    for each in (run, again):
        each.step(step)
        each.reply_all()
        each.check_subscriber()
    same_end(again.ledger, run.ledger)


def test_other_models_rate_archived_games_too() -> None:
    """An engine may be measured long after the restart."""
    run = three_games(FIGURES)
    again, _ = restarted(run)
    models = Models(FIGURES.models.models, scale=0.8, transferred=True)
    for each in (run, again):
        each.measure_by(models)
        each.check_subscriber()
    same_end(again.ledger, run.ledger)


def test_an_archived_game_is_its_stored_figures() -> None:
    run = three_games(FIGURES)
    again, kept = restarted(run)
    for values in read(kept):
        id = values.game.id
        held = again.ledger.game(id)
        fresh = run.ledger.game(id)
        assert held == fresh and held is not None and held.curves.white
        assert encode(values) == kept[id]


def test_a_game_is_not_kept_while_something_of_it_is_searched() -> None:
    run = Run(ledger())
    run.step(NewGame(game(moves=MOVES)))
    assert run.ledger.archive("g1") is None and run.ledger.archive("nobody's") is None
    run.reply_all()
    assert run.ledger.archive("g1") is not None


def test_a_player_who_comes_later_changes_the_level_of_unrated_games() -> None:
    run = three_games(FIGURES)
    run.step(NewGame(game("g8", MOVES[:30], white=DING, black=Player("Nobody"))))
    run.reply_all()
    again, _ = restarted(run)
    newcomer = game("g9", MOVES[:10], white=Player("Nobody", elo=1200), black=DING)
    for each in (run, again):
        each.step(NewGame(newcomer))
        each.reply_all()
        each.check_subscriber()
    same_end(again.ledger, run.ledger)


def test_what_was_kept_before_the_field_changed_is_read_as_the_field_is_now() -> None:
    run = three_games(FIGURES)
    run.step(NewGame(game("g8", MOVES[:30], white=DING, black=Player("Nobody"))))
    run.reply_all()
    kept: Kept = {}
    keep(run.ledger, "g8", kept)
    run.step(NewGame(game("g9", MOVES[:10], white=Player("Novice", elo=1200), black=DING)))
    run.reply_all()
    for id in ("g0", "g1", "g2", "g9"):
        keep(run.ledger, id, kept)
    held = ledger(measure=FIGURES)
    held.resumed(read(kept))
    same_end(held, run.ledger)


@pytest.mark.slow
@given(histories())
@settings(deadline=None, max_examples=8)
def test_law_a_restart_at_any_moment_changes_nothing(
    history: list[tuple[Step | None, int]],
) -> None:
    """Steps, answers and restarts in any order end as without restarts."""
    plain, other = (Run(ledger(measure=FIGURES), answer_or_failure) for _ in range(2))
    kept: Kept = {}
    for step, seed in history:
        for run in (plain, other):
            if step is not None:
                run.step(step)
            if seed % 3:
                run.reply_all(random.Random(seed))
        if seed % 2:
            other.reply_all()
            other, kept = restarted(other, kept)
    for run in (plain, other):
        run.reply_all()
        run.check_subscriber()
    same_end(plain.ledger, other.ledger)
