"""``live-rate explain``: a published rating, down to its scores."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from live.commands.report_event import rebuild_with_progress
from live.engine.search import SearchKey, SearchResult
from live.errors import InputError
from live.games.game import side_to_play
from live.journal.journal_reader import JournalReader
from live.journal.rating_explanation import (
    Explanation,
    describe_explanation,
    explain_side,
    list_searches,
)
from live.journal.recorded_event import RecordedEvent
from live.messages.figures import GameDetail
from live.process.stderr_log import log_to_stderr
from live.screens.command_output import print_line, write_json
from live.screens.terminal.text import plain
from live.server.analysis import build_analysis
from live.settings import Config


def explain_rating(path: Path, name: str, ply: int, *, json: str | None = None) -> int:
    """Run ``live-rate explain``; return the exit code."""
    log_to_stderr(Config().log.level)
    with JournalReader.open(path) as reader:
        event = rebuild_with_progress(reader, path)
        detail = find_game(list(build_analysis(event.state).games), name)
        found = build_explanation(event, detail, ply)
    if json is not None:
        write_json(json, found)
    else:
        for line in describe_explanation(found):
            print_line(plain(line, 400), Console())
    return 0


def build_explanation(
    event: RecordedEvent, detail: GameDetail, ply: int
) -> Explanation:
    """Return how the rating after ``ply`` came about.

    Raises:
        InputError: there is no such ply, or it has no rating.
    """
    if not 1 <= ply <= len(detail.plies):
        raise InputError(
            f"ply {ply}",
            f"this game has plies 1 to {len(detail.plies)}",
            "Name one of them",
        )
    mover = side_to_play(detail.start_fen, ply)
    points = [each for each in getattr(detail.curves, mover) if each.ply <= ply]
    if not points or points[-1].ply != ply:
        raise InputError(
            f"ply {ply}", "has no rating: its scores are not all known", "Name another"
        )
    state = event.state
    game = state.get_shown_game(detail.id)
    assert game is not None, "it is shown, so it is held"
    options = state.measure.search_options
    # The others were searched as deep as the position before the move.
    (_, before), *_ = list_searches(game, ply, options, None)
    reached = event.find_recorded_result(before)
    best = reached[1] if reached is not None else None
    made: list[tuple[str, SearchKey, SearchResult]] = []
    for what, search in list_searches(
        game, ply, options, best.depth if best is not None else None
    ):
        found = event.find_recorded_result(search)
        if found is not None and (best is None or search.only != best.best):
            made.append((what, *found[:2]))
    before_cp = detail.plies[ply - 2].score_cp if ply > 1 else detail.start_score_cp
    side = state.rate_again(game.id).trace(mover, ply)
    return Explanation(
        game=detail.id,
        white=detail.white.name,
        black=detail.black.name,
        mover=mover,
        gain=state.gain(),
        engine=state.engine(),
        identity=event.run.identity,
        searches=tuple(made),
        before_cp=before_cp and before_cp * (1 if mover == "white" else -1),
        move=detail.plies[ply - 1],
        gains_cp=tuple(each.gain_cp for each in points),
        published=points[-1],
        model=detail.model,
        note=detail.note,
        perceived=explain_side(side) if detail.model is not None else None,
    )


def find_game(games: Sequence[GameDetail], name: str) -> GameDetail:
    """Return the game with this id, else the one with this part of a player's name.

    Raises:
        InputError: none, or several.
    """
    words = name.casefold().split()

    def has_players(game: GameDetail) -> bool:
        names = f"{game.white.name} {game.black.name}".casefold()
        return all(word in names for word in words)

    found = [game for game in games if game.id == name]
    found = found or list(filter(has_players, games))
    if len(found) == 1:
        return found[0]
    listed = found or games
    known = ", ".join(
        f"{each.id} ({each.white.name} - {each.black.name})" for each in listed[:8]
    )
    if len(listed) > 8:
        known += f", or one of {len(listed) - 8} more"
    problem = "fits several games" if found else "is not a game of this journal"
    raise InputError(f"game {name!r}", problem, f"Give one of: {known}")
