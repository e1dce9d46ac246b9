"""Summary of a finished round: results, outstanding players and deciding moves. Pure.

A summary is computed from the games that its reader is allowed to see, so it never
contains anything delayed or hidden.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from live.event.rate_game import COLORS
from live.games.game import LEAST_PLIES
from live.messages.figures import GameDetail, GameView
from live.messages.from_sources import RESULT_POINTS, Player, Result
from live.messages.moments import MomentText
from live.messages.values import Color, GameId, Value
from live.watch.localised_moves import write_move_in_all
from live.watch.moment_draft import MomentDraft
from live.watch.moment_rules import find_last_point, find_moments
from live.watch.round_moments import COMPARED_MOVES
from live.watch.round_names import RoundName, round_of
from live.watch.sentences import write_sentences
from live.watch.turning_points import find_turning_points

#: Percentile above which a player is listed as better than his rating suggests, and
#: percentile below which a player is listed as worse.
ABOVE, BELOW = 90.0, 10.0
#: Maximum number of players in each of the two lists, and maximum number of deciding
#: moves.
NAMED_PLAYERS, NAMED_MOVES = 3, 2
#: Minimum permanent loss of expected score for a deciding move, 0 to 1.
DECIDED = 0.10


class RoundPlayer(Value):
    """One player of one game of the round."""

    name: str
    title: str
    elo: int | None
    perceived: int | None
    """The perceived rating in this game, Elo; null if unknown."""
    percentile: float | None
    """Percentage of games by players of this Elo that were played less well; null with
    fewer than ten counted moves.
    """
    counted: int
    """Number of moves from which ``perceived`` and ``percentile`` are computed."""


class RoundGame(Value):
    """One game of the round."""

    id: GameId
    board: int | None
    white: RoundPlayer
    black: RoundPlayer
    result: Result
    upset_elo: int
    """Rating difference, Elo, if a player rated at least 100 Elo lower won; otherwise
    0.
    """
    told: tuple[MomentText, ...]
    """Sentences about a surprising result: an upset, or a win by the player with the
    lower perceived rating.
    """


class RoundPlace(Value):
    """A listed player, with the game in which he played."""

    game: GameId
    color: Color
    player: RoundPlayer


class DecidingMove(Value):
    """A move that decided a game: its loss of expected score was permanent."""

    game: GameId
    ply: int
    color: Color
    player: str
    before: float
    """Expected score of the mover before the move, in percent."""
    after: float
    """Expected score of the mover after the move, in percent."""
    move: MomentText
    """The move with its number, in the letters of each language."""
    text: MomentText


class RoundSummary(Value):
    """The results and highlights of a finished round."""

    event: str
    """Name of the event; empty if the source gives none."""
    round: str
    date: str
    """Date of the round's first game, in PGN format; empty if unknown."""
    games: tuple[RoundGame, ...]
    """All games of the round, in the order of their boards."""
    compared: bool
    """True if at least one player can be compared with others of the same Elo."""
    decided: int
    """Number of games that one of the players won."""
    upsets: int
    """Number of games won by a player rated at least 100 Elo lower."""
    unscored: int
    """Number of moves without a score so far; their scores can change the fields below.
    """
    above: tuple[RoundPlace, ...]
    """Players with a percentile above 90 and at least 15 counted moves, the highest
    first; at most three.
    """
    below: tuple[RoundPlace, ...]
    """Players with a percentile below 10 and at least 15 counted moves, the lowest
    first; at most three.
    """
    moves: tuple[DecidingMove, ...]
    """The two moves that decided most, from different games."""


class RoundProgress(Value):
    """The progress of a round that has not ended."""

    name: RoundName
    over: int
    """Number of games that have a result."""
    games: int
    """Number of all games of the round."""


def list_finished_rounds(games: Iterable[GameView]) -> list[RoundName]:
    """Return the finished rounds, the newest first.

    In a finished round all games have a result, and at least one was played.
    """
    finished = []
    for name, views in _group_by_round(games):
        is_running = any(view.running for view in views)
        if not is_running and any(map(_was_played, views)):
            finished.append(name)
    return finished


def list_running_rounds(games: Iterable[GameView]) -> list[RoundProgress]:
    """Return the rounds with at least one game in progress, the newest first."""
    running = []
    for name, views in _group_by_round(games):
        over = sum(not view.running for view in views)
        if over < len(views):
            running.append(RoundProgress(name, over, len(views)))
    return running


def summarise_round(games: Sequence[GameDetail]) -> RoundSummary:
    """Return the summary of one round from all its games, which must have ended."""
    games = sorted(
        games, key=lambda game: (game.board is None, game.board or 0, game.id)
    )
    event, round = round_of(games[0])
    names = {game.white.name for game in games} | {game.black.name for game in games}
    lines = tuple(_read_game(game, names) for game in games)
    places = list(_list_places(lines))
    results = [game.result for game in games if _was_played(game)]
    return RoundSummary(
        event=event,
        round=round,
        date=_find_date(games),
        games=lines,
        compared=bool(places),
        decided=sum(result in ("1-0", "0-1") for result in results),
        upsets=sum(line.upset_elo > 0 for line in lines),
        unscored=sum(game.plies_played - game.plies_scored for game in games),
        above=_select_best_above(places),
        below=_select_worst_below(places),
        moves=_choose_moves(games, names),
    )


def _group_by_round(
    games: Iterable[GameView],
) -> list[tuple[RoundName, list[GameView]]]:
    """Return each round with its games, the newest round first."""
    views_by_round = defaultdict[RoundName, list[GameView]](list)
    for view in games:
        views_by_round[round_of(view)].append(view)

    def order(group: tuple[RoundName, list[GameView]]) -> tuple[str, int, str, str]:
        (event, round), views = group
        number = int(round) if round.isdecimal() else 0
        return _find_date(views), number, round, event

    return sorted(views_by_round.items(), key=order, reverse=True)


def _was_played(view: GameView) -> bool:
    return view.plies_played >= LEAST_PLIES


def _find_date(games: Iterable[GameView]) -> str:
    return min((view.date for view in games if view.date[:1].isdigit()), default="")


def _read_game(game: GameDetail, names: Collection[str]) -> RoundGame:
    drafts = [
        draft for draft in find_moments(game) if draft.kind in ("upset", "despite")
    ]
    gaps = [draft.figures["gap"] for draft in drafts if draft.kind == "upset"]
    return RoundGame(
        id=game.id,
        board=game.board,
        white=_read_player(game, "white"),
        black=_read_player(game, "black"),
        result=game.result,
        upset_elo=int(max(gaps, default=0)),
        told=tuple(write_sentences(draft, game, names) for draft in drafts),
    )


def _read_player(game: GameDetail, color: Color) -> RoundPlayer:
    player: Player = getattr(game, color)
    last = find_last_point(game, color)
    return RoundPlayer(
        name=player.name,
        title=player.title or "",
        elo=player.elo or None,
        perceived=last.perceived if last else None,
        percentile=last.percentile if last and player.elo else None,
        counted=last.counted if last else 0,
    )


def _list_places(games: Iterable[RoundGame]) -> Iterator[tuple[float, RoundPlace]]:
    """Yield each player who can be compared, as a pair of percentile and place."""
    for game in games:
        for color in COLORS:
            player: RoundPlayer = getattr(game, color)
            if player.percentile is not None and player.counted >= COMPARED_MOVES:
                yield player.percentile, RoundPlace(game.id, color, player)


def _select_best_above(
    places: Iterable[tuple[float, RoundPlace]],
) -> tuple[RoundPlace, ...]:
    above = [rated_place for rated_place in places if rated_place[0] > ABOVE]
    above.sort(key=lambda rated_place: rated_place[0], reverse=True)
    return tuple(place for _, place in above[:NAMED_PLAYERS])


def _select_worst_below(
    places: Iterable[tuple[float, RoundPlace]],
) -> tuple[RoundPlace, ...]:
    below = [rated_place for rated_place in places if rated_place[0] < BELOW]
    below.sort(key=lambda rated_place: rated_place[0])
    return tuple(place for _, place in below[:NAMED_PLAYERS])


def _choose_moves(
    games: Iterable[GameDetail], names: Collection[str]
) -> tuple[DecidingMove, ...]:
    """Return the moves with the greatest permanent loss, at most one from each game."""
    deciding = []
    for game in games:
        costs = [
            (_compute_permanent_loss(game, draft), draft)
            for draft in find_turning_points(game)
        ]
        cost, draft = max(
            costs, key=lambda costed_move: costed_move[0], default=(0.0, None)
        )
        if draft is not None and cost >= DECIDED:
            deciding.append((cost, game, draft))
    deciding.sort(key=lambda costed_move: costed_move[0], reverse=True)
    return tuple(
        _build_deciding_move(game, draft, names)
        for _, game, draft in deciding[:NAMED_MOVES]
    )


def _compute_permanent_loss(game: GameDetail, draft: MomentDraft) -> float:
    """Return the expected score that a move lost permanently, 0 to 1.

    The remaining score is the expected score after the move, or the points of the
    result if these are higher.
    """
    if draft.kind != "turn" or draft.color is None or game.result not in RESULT_POINTS:
        return 0.0
    points = RESULT_POINTS[game.result][COLORS.index(draft.color)]
    kept_score = max(draft.figures["after"] / 100, points)
    return draft.figures["before"] / 100 - kept_score


def _build_deciding_move(
    game: GameDetail, draft: MomentDraft, names: Collection[str]
) -> DecidingMove:
    color: Color = draft.color or "white"
    return DecidingMove(
        game=game.id,
        ply=draft.ply,
        color=color,
        player=getattr(game, color).name,
        before=round(draft.figures["before"], 3),
        after=round(draft.figures["after"], 3),
        move=write_move_in_all(game, draft.ply),
        text=write_sentences(draft, game, names),
    )
