"""A round that is over in one view: results, who played above and below what is usual, and the
moves that decided most. Pure.

It is made from games as the reader may see them, so what is delayed or hidden is not in it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from live.catalogue import main_event
from live.events import (
    RESULT_POINTS,
    Color,
    GameDetail,
    GameId,
    GameView,
    MomentText,
    Player,
    Result,
    Value,
)
from live.games.game import LEAST_PLIES, main_round
from live.ledger.rate_game import COLORS
from live.story.moment_rules import (
    UPSET_ELO,
    MomentDraft,
    turning_points,
)
from live.story.sentences import move_texts, sentences

RoundName = tuple[str, str]
"""Event and round."""

#: Better than so many games in 100 is above what is usual, and so many from 0 below it.
ABOVE, BELOW = 90.0, 10.0
#: Counted moves of a player who is compared with the others of the round.
COMPARED_MOVES = 15
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
    """Better than so many games in 100 by players of that Elo; null under ten counted moves."""
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
    """By how much the winner is rated lower, from 100 Elo on; 0 where it is no upset."""


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
    decided: int
    """Games that somebody won."""
    upsets: int
    """Games that somebody rated 100 Elo lower, or more, won."""
    unscored: int
    """Moves whose score is still to come: what follows may change by them."""
    above: tuple[RoundPlace, ...]
    """Whose percentile is above 90 over 15 counted moves, the highest first; three at most."""
    below: tuple[RoundPlace, ...]
    """Whose percentile is below 10, the lowest first; three at most."""
    moves: tuple[DecidingMove, ...]
    """The two that decided most, one a game."""


def round_of(view: GameView) -> RoundName:
    """Event and round. Broadcasts write boards into rounds (`4.12`), and pairings into events."""
    return main_event(view), main_round(view.round)


def rounds_over(games: Iterable[GameView]) -> list[RoundName]:
    """List the rounds in which all games have a result and some were played, the newest first."""
    found = defaultdict[RoundName, list[GameView]](list)
    for view in games:
        found[round_of(view)].append(view)
    over = [
        name
        for name, each in found.items()
        if not any(view.running for view in each) and any(map(_was_played, each))
    ]
    return sorted(over, key=lambda name: (_date(found[name]), _order(name)), reverse=True)


def summarise_round(games: Sequence[GameDetail]) -> RoundSummary:
    """Sum up the games of one round, which are all over."""
    games = sorted(games, key=lambda game: (game.board is None, game.board or 0, game.id))
    event, round = round_of(games[0])
    lines = tuple(map(_line, games))
    played = [line for game, line in zip(games, lines, strict=True) if _was_played(game)]
    return RoundSummary(
        event=event,
        round=round,
        date=_date(games),
        games=lines,
        decided=sum(each.result in ("1-0", "0-1") for each in played),
        upsets=sum(each.upset_elo > 0 for each in played),
        unscored=sum(game.plies_played - game.plies_scored for game in games),
        above=_places(lines, is_above=True),
        below=_places(lines, is_above=False),
        moves=_deciding(games),
    )


def _was_played(view: GameView) -> bool:
    return view.plies_played >= LEAST_PLIES


def _date(games: Iterable[GameView]) -> str:
    return min((view.date for view in games if view.date[:1].isdigit()), default="")


def _order(name: RoundName) -> tuple[int, str, str]:
    event, round = name
    return int(round) if round.isdecimal() else 0, round, event


def _line(game: GameDetail) -> RoundGame:
    return RoundGame(
        id=game.id,
        board=game.board,
        white=_player(game, "white"),
        black=_player(game, "black"),
        result=game.result,
        upset_elo=_upset_elo(game),
    )


def _player(game: GameDetail, color: Color) -> RoundPlayer:
    player: Player = getattr(game, color)
    points = getattr(game.curves, color)
    last = points[-1] if points else None
    return RoundPlayer(
        name=player.name,
        title=player.title or "",
        elo=player.elo or None,
        perceived=last.perceived if last else None,
        percentile=last.percentile if last and player.elo else None,
        counted=last.counted if last else 0,
    )


def _upset_elo(game: GameView) -> int:
    elos = {"1-0": (game.white.elo, game.black.elo), "0-1": (game.black.elo, game.white.elo)}
    winner, loser = elos.get(game.result, (None, None))
    if not winner or not loser or loser - winner < UPSET_ELO or not _was_played(game):
        return 0
    return loser - winner


def _places(games: Iterable[RoundGame], *, is_above: bool) -> tuple[RoundPlace, ...]:
    """Find who is outside of what is usual on one side, the furthest first."""
    found = []
    for game in games:
        for color in COLORS:
            player: RoundPlayer = getattr(game, color)
            if player.percentile is None or player.counted < COMPARED_MOVES:
                continue
            if player.percentile > ABOVE if is_above else player.percentile < BELOW:
                found.append((player.percentile, RoundPlace(game.id, color, player)))
    found.sort(key=lambda each: each[0], reverse=is_above)
    return tuple(place for _, place in found[:NAMED_PLAYERS])


def _deciding(games: Iterable[GameDetail]) -> tuple[DecidingMove, ...]:
    """Find the moves that cost most for good, one a game."""
    found = []
    for game in games:
        costs = [(_cost(game, draft), draft) for draft in turning_points(game)]
        cost, draft = max(costs, key=lambda each: each[0], default=(0.0, None))
        if draft is not None and cost >= DECIDED:
            found.append((cost, game, draft))
    found.sort(key=lambda each: each[0], reverse=True)
    names = {player.name for _, game, _ in found for player in (game.white, game.black)}
    return tuple(_move(game, draft, names) for _, game, draft in found[:NAMED_MOVES])


def _cost(game: GameDetail, draft: MomentDraft) -> float:
    """Return how much of the expected score a move lost for good: what its player made in the end,
    or could have made still, is none of it.
    """
    if draft.kind != "turn" or draft.color is None or game.result not in RESULT_POINTS:
        return 0.0
    points = RESULT_POINTS[game.result][COLORS.index(draft.color)]
    figures = draft.figures
    left = max(figures["after"], figures.get("highest", 0.0)) / 100
    return figures["before"] / 100 - max(left, points)


def _move(game: GameDetail, draft: MomentDraft, names: Collection[str]) -> DecidingMove:
    color: Color = draft.color or "white"
    return DecidingMove(
        game=game.id,
        ply=draft.ply,
        color=color,
        player=getattr(game, color).name,
        before=round(draft.figures["before"], 1),
        after=round(draft.figures["after"], 1),
        move=move_texts(game, draft.ply),
        text=sentences(draft, game, names),
    )
