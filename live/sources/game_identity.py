"""Identities of the games of a source, and removal of games that are repeated. No
I/O.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from live.messages.from_sources import GameReport, GameReports, Move

#: Key that distinguishes a game from the other games of its source, as far as possible.
Identity = tuple[object, ...]
Identified = dict[Identity, GameReport]


def identify_games(games: Iterable[GameReport]) -> list[Identity]:
    """Return one identity per game, in order. Games with equal names are numbered in
    that order.
    """
    counts: Counter[Identity] = Counter()
    identities: list[Identity] = []
    for game in games:
        identity = identify_game(game)
        identities.append((*identity, counts[identity]))
        counts[identity] += 1
    return identities


def identify_game(game: GameReport) -> Identity:
    """Return the source's own key of a game; without one, its event, round, board and
    players' names.
    """
    return (game.key,) if game.key else _identify_by_names(game)


def _identify_by_names(game: GameReport) -> Identity:
    headers = game.headers
    return (
        headers.event,
        headers.round,
        headers.board,
        headers.white.name,
        headers.black.name,
    )


#: Greatest number of games with equal headers that a game is compared with; the last
#: ones are used. Comparing each pair of 20,000 such games would take minutes.
ALIKE = 20
#: Number of equal plies that prove that two games with equal players, event and round
#: are the same game.
REPEATED_PLIES = 10


def drop_repeated_games(games: Iterable[GameReport]) -> GameReports:
    """Return the games of one text, each only once.

    Two games are one if players, event, round, board, date and starting position are
    equal, their results do not contradict each other, and the longer one continues the
    shorter one after at least :data:`REPEATED_PLIES` plies. The longer one is returned;
    keys do not matter, and a key of several games is cleared.
    """
    unique: list[GameReport] = []
    places: defaultdict[Identity, list[int]] = defaultdict(list)
    for game in games:
        alike = places[*_identify_by_names(game), game.headers.date, game.start_fen]
        for place in alike[-ALIKE:]:
            if _is_repeated(unique[place], game):
                unique[place] = max(
                    unique[place],
                    game,
                    key=lambda version: (len(version.moves), version.result != "*"),
                )
                break
        else:
            alike.append(len(unique))
            unique.append(game)
    return _clear_shared_keys(unique)


def _clear_shared_keys(games: Sequence[GameReport]) -> GameReports:
    """Return the games without keys that several of them have: lichess exports of 2025
    give all games of a round one address.
    """
    counts = Counter(game.key for game in games if game.key)
    return tuple(
        replace(game, key="") if counts[game.key] > 1 else game for game in games
    )


def count_shared_plies(first: Sequence[Move], second: Sequence[Move]) -> int:
    """Return the number of plies that the two lines have in common from the beginning,
    without regard to clocks and scores.
    """
    shorter = min(len(first), len(second))
    # This comparison runs in C; usually the longer line contains all of the shorter
    # one.
    if first[:shorter] == second[:shorter]:
        return shorter
    pairs = enumerate(zip(first, second, strict=False))
    return next((ply for ply, (a, b) in pairs if a.uci != b.uci), shorter)


def is_same_line(first: GameReport, second: GameReport, corrected: int = 0) -> bool:
    """Return whether one game continues the other. The last ``corrected`` plies of the
    shorter one are allowed to differ.
    """
    plies = min(len(first.moves), len(second.moves)) - corrected
    return (
        first.start_fen == second.start_fen
        and count_shared_plies(first.moves, second.moves) >= plies
    )


def _is_repeated(first: GameReport, second: GameReport) -> bool:
    return (
        min(len(first.moves), len(second.moves)) >= REPEATED_PLIES
        and (first.result == second.result or "*" in (first.result, second.result))
        and is_same_line(first, second)
    )
