"""A round that is over in one view: results, who played above and below what is usual,
and the moves that decided most. Pure.

It is made from games as the reader may see them, so what is delayed or hidden is not in
it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from live.catalogue import main_event
from live.event.rate_game import COLORS
from live.games.game import LEAST_PLIES
from live.games.rounds import normalise_round
from live.messages.figures import GameDetail, GameView
from live.messages.from_sources import RESULT_POINTS, Player, Result
from live.messages.moments import MomentText
from live.messages.values import Color, GameId, Value
from live.watch.localised_moves import write_move_in_all
from live.watch.moment_draft import MomentDraft
from live.watch.moment_rules import find_moments, last_point
from live.watch.round_moments import COMPARED_MOVES
from live.watch.sentences import write_sentences
from live.watch.turning_points import find_turning_points

RoundName = tuple[str, str]
"""Event and round."""

#: Better than so many games in 100 is above what is usual, and so many from 0 below it.
ABOVE, BELOW = 90.0, 10.0
#: At most so many players are named above and below, and so many moves.
NAMED_PLAYERS, NAMED_MOVES = 3, 2
#: Expected score that a move cost for good, to have decided something.
DECIDED = 0.10


class RoundPlayer(Value):
    """One player of one game of the round."""

    name: str
    title: str
    elo: int | None
    perceived: int | None
    """How strong he played; null where that is not known."""
    percentile: float | None
    """Better than so many games in 100 by players of that Elo; null under ten counted
    moves.
    """
    counted: int
    """Moves that both rest on."""


class RoundGame(Value):
    """One game of the round."""

    id: GameId
    board: int | None
    white: RoundPlayer
    black: RoundPlayer
    result: Result
    upset_elo: int
    """By how much the winner is rated lower, from 100 Elo on; 0 where it is no upset.
    """
    told: tuple[MomentText, ...]
    """Why the result is not as it looks: an upset, a win with the lower figure."""


class RoundPlace(Value):
    """A player, and in which game."""

    game: GameId
    color: Color
    player: RoundPlayer


class DecidingMove(Value):
    """A move that decided a game: what it cost was never given back."""

    game: GameId
    ply: int
    color: Color
    player: str
    before: float
    """Expected score of who played it, in 100."""
    after: float
    move: MomentText
    """The move with its number, in the letters of each language."""
    text: MomentText


class RoundSummary(Value):
    """What a round came to."""

    event: str
    """Empty where the source names none."""
    round: str
    date: str
    """Of its first game, as PGN has it; empty while unknown."""
    games: tuple[RoundGame, ...]
    """By board."""
    compared: bool
    """Whether any player can be compared with others of the same Elo."""
    decided: int
    """Games that somebody won."""
    upsets: int
    """Games that somebody rated 100 Elo lower, or more, won."""
    unscored: int
    """Moves whose score is still to come: what follows may change by them."""
    above: tuple[RoundPlace, ...]
    """Whose percentile is above 90 over 15 counted moves, the highest first; three at
    most.
    """
    below: tuple[RoundPlace, ...]
    """Whose percentile is below 10, the lowest first; three at most."""
    moves: tuple[DecidingMove, ...]
    """The two that decided most, one a game."""


class RoundProgress(Value):
    """How far a round is that goes on."""

    name: RoundName
    over: int
    """Games that have a result."""
    games: int


def round_of(view: GameView) -> RoundName:
    """Return event and round; broadcasts write boards into rounds (`4.12`), and
    pairings into events.
    """
    return main_event(view), normalise_round(view.round)


def list_finished_rounds(games: Iterable[GameView]) -> list[RoundName]:
    """List the rounds in which all games have a result and some were played, the newest
    first.
    """
    found = []
    for name, views in _group_by_round(games):
        is_running = any(view.running for view in views)
        if not is_running and any(map(_was_played, views)):
            found.append(name)
    return found


def list_running_rounds(games: Iterable[GameView]) -> list[RoundProgress]:
    """List the rounds in which a game goes on, the newest first."""
    found = []
    for name, views in _group_by_round(games):
        over = sum(not view.running for view in views)
        if over < len(views):
            found.append(RoundProgress(name, over, len(views)))
    return found


def summarise_round(games: Sequence[GameDetail]) -> RoundSummary:
    """Sum up the games of one round, which are all over."""
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
        above=_choose_above(places),
        below=_choose_below(places),
        moves=_choose_moves(games, names),
    )


def _group_by_round(
    games: Iterable[GameView],
) -> list[tuple[RoundName, list[GameView]]]:
    """Return the games of each round, the newest first."""
    found = defaultdict[RoundName, list[GameView]](list)
    for view in games:
        found[round_of(view)].append(view)

    def order(group: tuple[RoundName, list[GameView]]) -> tuple[str, int, str, str]:
        (event, round), views = group
        number = int(round) if round.isdecimal() else 0
        return _find_date(views), number, round, event

    return sorted(found.items(), key=order, reverse=True)


def _was_played(view: GameView) -> bool:
    return view.plies_played >= LEAST_PLIES


def _find_date(games: Iterable[GameView]) -> str:
    return min((view.date for view in games if view.date[:1].isdigit()), default="")


def _read_game(game: GameDetail, names: Collection[str]) -> RoundGame:
    told = [draft for draft in find_moments(game) if draft.kind in ("upset", "despite")]
    gaps = [draft.figures["gap"] for draft in told if draft.kind == "upset"]
    return RoundGame(
        id=game.id,
        board=game.board,
        white=_read_player(game, "white"),
        black=_read_player(game, "black"),
        result=game.result,
        upset_elo=int(max(gaps, default=0)),
        told=tuple(write_sentences(draft, game, names) for draft in told),
    )


def _read_player(game: GameDetail, color: Color) -> RoundPlayer:
    player: Player = getattr(game, color)
    last = last_point(game, color)
    return RoundPlayer(
        name=player.name,
        title=player.title or "",
        elo=player.elo or None,
        perceived=last.perceived if last else None,
        percentile=last.percentile if last and player.elo else None,
        counted=last.counted if last else 0,
    )


def _list_places(games: Iterable[RoundGame]) -> Iterator[tuple[float, RoundPlace]]:
    """Yield the percentile of each player who can be compared, and where he played."""
    for game in games:
        for color in COLORS:
            player: RoundPlayer = getattr(game, color)
            if player.percentile is not None and player.counted >= COMPARED_MOVES:
                yield player.percentile, RoundPlace(game.id, color, player)


def _choose_above(places: Iterable[tuple[float, RoundPlace]]) -> tuple[RoundPlace, ...]:
    found = [each for each in places if each[0] > ABOVE]
    found.sort(key=lambda each: each[0], reverse=True)
    return tuple(place for _, place in found[:NAMED_PLAYERS])


def _choose_below(places: Iterable[tuple[float, RoundPlace]]) -> tuple[RoundPlace, ...]:
    found = [each for each in places if each[0] < BELOW]
    found.sort(key=lambda each: each[0])
    return tuple(place for _, place in found[:NAMED_PLAYERS])


def _choose_moves(
    games: Iterable[GameDetail], names: Collection[str]
) -> tuple[DecidingMove, ...]:
    """Find the moves that cost most for good, one a game."""
    found = []
    for game in games:
        costs = [
            (_find_cost(game, draft), draft) for draft in find_turning_points(game)
        ]
        cost, draft = max(costs, key=lambda each: each[0], default=(0.0, None))
        if draft is not None and cost >= DECIDED:
            found.append((cost, game, draft))
    found.sort(key=lambda each: each[0], reverse=True)
    return tuple(
        _name_move(game, draft, names) for _, game, draft in found[:NAMED_MOVES]
    )


def _find_cost(game: GameDetail, draft: MomentDraft) -> float:
    """Return the expected score that a move lost for good, 0 to 1.

    If its player scored more in the end than was expected after it, the result counts.
    """
    if draft.kind != "turn" or draft.color is None or game.result not in RESULT_POINTS:
        return 0.0
    points = RESULT_POINTS[game.result][COLORS.index(draft.color)]
    left = max(draft.figures["after"] / 100, points)
    return draft.figures["before"] / 100 - left


def _name_move(
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
