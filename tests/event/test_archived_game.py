"""A game that rested on disk, or over a restart, is in every figure as if it
never had.
"""

import msgspec

from live.event.game_record import ArchivedValues
from live.event.rate_game import Measure
from live.games.game import MovesPlayed, NewGame
from live.journal.journal_reader import decode_archived, encode
from live.messages.from_sources import Player
from live.messages.values import GameId
from live.ratings.model_choice import Models
from tests.event.arithmetic import ANAND, CARLSEN, Held, answer_or_failure, game, line
from tests.event.test_event import FIGURES, Run, begun, ledger, same_end

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
    return [
        values
        for each in kept.items()
        if (values := decode_archived(*each)) is not None
    ]


def three_games(measure: Measure) -> Run:
    run = Run(ledger(measure=measure), answer_or_failure)
    players = (ANAND, CARLSEN, DING)
    for number in range(3):
        white, black = players[number], players[(number + 1) % 3]
        run.step(
            NewGame(game(f"g{number}", MOVES[: 40 + number], white=white, black=black))
        )
    run.reply_all()
    return run


def restart(run: Run, kept: Kept | None = None) -> tuple[Run, Kept]:
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


def test_other_models_rate_archived_games_too() -> None:
    """An engine may be measured long after the restart."""
    run = three_games(FIGURES)
    again, _ = restart(run)
    models = Models(FIGURES.models.models, scale=0.8, converted=True)
    for each in (run, again):
        each.measure_by(models)
        each.check_subscriber()
    same_end(again.ledger, run.ledger)


def test_a_game_that_comes_back_while_others_are_rated_counts_once() -> None:
    models = Models(FIGURES.models.models, scale=0.8, converted=True)
    during, after = three_games(FIGURES), three_games(FIGURES)
    measuring = during.ledger.measure_by(models)
    next(measuring)
    next(measuring)
    for run in (during, after):
        if run is after:
            run.measure_by(models)
        run.ledger.remove("g2")
        run.ledger.restore_removed("g2")
    for _ in measuring:
        pass
    same_end(during.ledger, after.ledger)


def test_a_game_that_is_over_is_held_as_it_is_kept_and_goes_on_from_there() -> None:
    over, plain = (Run(ledger(measure=FIGURES), answer_or_failure) for _ in range(2))
    for run in (over, plain):
        finished = msgspec.structs.replace(game("g1", MOVES[:40]), result="1-0")
        run.step(NewGame(finished), NewGame(game("g2", MOVES[:30])))
        run.reply_all()
    for id in ("g1", "g2"):
        values = over.ledger.archive(id)
        assert values is not None
        over.ledger.rest(values)
    assert over.ledger.archive("g1") is None and over.ledger.archive("g2") is not None
    over.check_subscriber()
    for run in (over, plain):
        run.step(MovesPlayed("g1", 41, MOVES[40:44]))
        run.reply_all()
        run.check_subscriber()
    same_end(over.ledger, plain.ledger)


def test_a_game_is_not_kept_while_something_of_it_is_searched() -> None:
    run = begun(game(moves=MOVES))
    assert run.ledger.archive("g1") is None and run.ledger.archive("nobody's") is None
    run.reply_all()
    assert run.ledger.archive("g1") is not None


def test_what_was_kept_before_the_field_changed_is_read_as_the_field_is_now() -> None:
    run = three_games(FIGURES)
    run.step(NewGame(game("g8", MOVES[:30], white=DING, black=Player("Nobody"))))
    run.reply_all()
    kept: Kept = {}
    keep(run.ledger, "g8", kept)
    run.step(
        NewGame(game("g9", MOVES[:10], white=Player("Novice", elo=1200), black=DING))
    )
    run.reply_all()
    for id in ("g0", "g1", "g2", "g9"):
        keep(run.ledger, id, kept)
    held = ledger(measure=FIGURES)
    held.resumed(read(kept))
    same_end(held, run.ledger)
