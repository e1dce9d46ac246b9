"""``live-rate explain``: explains a published rating down to its scores."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from live.commands.report_event import rebuild_with_progress
from live.engine.search import SearchResult
from live.engine.search_key import SearchKey
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
        explanation = build_explanation(event, detail, ply)
    if json is not None:
        write_json(json, explanation)
    else:
        for line in describe_explanation(explanation):
            print_line(plain(line, 400), Console())
    return 0


def build_explanation(
    event: RecordedEvent, detail: GameDetail, ply: int
) -> Explanation:
    """Return the explanation of the rating after ``ply``.

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
    points = [point for point in getattr(detail.curves, mover) if point.ply <= ply]
    if not points or points[-1].ply != ply:
        raise InputError(
            f"ply {ply}", "has no rating: its scores are not all known", "Name another"
        )
    state = event.state
    game = state.get_shown_game(detail.id)
    assert game is not None, "it is shown, so it is held"
    options = state.measure.search_options
    # All other searches were as deep as that of the position before the move.
    (_, before), *_ = list_searches(game, ply, options, None)
    best_recorded = event.find_recorded_result(before)
    best = best_recorded[1] if best_recorded is not None else None
    searches: list[tuple[str, SearchKey, SearchResult]] = []
    for description, search in list_searches(
        game, ply, options, best.depth if best is not None else None
    ):
        recorded = event.find_recorded_result(search)
        if recorded is not None and (best is None or search.only != best.best):
            searches.append((description, *recorded[:2]))
    before_cp = detail.plies[ply - 2].score_cp if ply > 1 else detail.start_score_cp
    side = state.rate_again(game.id).trace_side(mover, ply)
    return Explanation(
        game=detail.id,
        white=detail.white.name,
        black=detail.black.name,
        mover=mover,
        gain=state.gain(),
        engine=state.engine(),
        identity=event.run.identity,
        searches=tuple(searches),
        before_cp=before_cp and before_cp * (1 if mover == "white" else -1),
        move=detail.plies[ply - 1],
        gains_cp=tuple(point.gain_cp for point in points),
        published=points[-1],
        model=detail.model,
        note=detail.note,
        perceived=explain_side(side) if detail.model is not None else None,
    )


def find_game(games: Sequence[GameDetail], name: str) -> GameDetail:
    """Return the game with this id, or else the one game in which a player's name
    contains the text.

    Raises:
        InputError: no game matches, or several do.
    """
    words = name.casefold().split()

    def has_players(game: GameDetail) -> bool:
        names = f"{game.white.name} {game.black.name}".casefold()
        return all(word in names for word in words)

    matches = [game for game in games if game.id == name]
    matches = matches or list(filter(has_players, games))
    if len(matches) == 1:
        return matches[0]
    listed = matches or games
    listing = ", ".join(
        f"{game.id} ({game.white.name} - {game.black.name})" for game in listed[:8]
    )
    if len(listed) > 8:
        listing += f", or one of {len(listed) - 8} more"
    problem = "fits several games" if matches else "is not a game of this journal"
    raise InputError(f"game {name!r}", problem, f"Give one of: {listing}")
