"""Which game of a source each reported game is, and which are one game twice. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from live.messages.from_sources import GameReport, GameReports, Move

#: What distinguishes one game from the others of its source, as far as the source
#: allows.
Identity = tuple[object, ...]
Identified = dict[Identity, GameReport]


def identify_games(games: Iterable[GameReport]) -> list[Identity]:
    """Return one identity per game, in order; games that look alike are numbered in
    their order.
    """
    seen: Counter[Identity] = Counter()
    named: list[Identity] = []
    for game in games:
        who = identify_game(game)
        named.append((*who, seen[who]))
        seen[who] += 1
    return named


def identify_game(game: GameReport) -> Identity:
    """Return the source's own key, else event, round, board and the players' names."""
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


#: Games of the same heads that another is compared with, the last ones: of 20,000 each
#: with each would take minutes.
ALIKE = 20
#: Plies played alike after which two entries of the same players, event and round are
#: one game.
REPEATED_PLIES = 10


def drop_repeated_games(games: Iterable[GameReport]) -> GameReports:
    """Return the games of one text, each once; keys separate them only where the keys
    differ.

    One address for all games of a round is no key of a game (lichess exports of 2025):
    where several games have the same address, none of them gets it as a key. A game
    that stands twice, with the same players, headers and moves as far as both go, is
    counted once: the longer one.
    """
    kept: list[GameReport] = []
    places: defaultdict[Identity, list[int]] = defaultdict(list)
    for game in games:
        alike = places[*_identify_by_names(game), game.headers.date, game.start_fen]
        for place in alike[-ALIKE:]:
            if _is_repeated(kept[place], game):
                kept[place] = max(
                    kept[place],
                    game,
                    key=lambda each: (len(each.moves), each.result != "*"),
                )
                break
        else:
            alike.append(len(kept))
            kept.append(game)
    shared = Counter(game.key for game in kept if game.key)
    return tuple(
        replace(game, key="") if shared[game.key] > 1 else game for game in kept
    )


def count_shared_plies(one: Sequence[Move], other: Sequence[Move]) -> int:
    """Return how many plies both begin with, whatever the clocks and scores."""
    shorter = min(len(one), len(other))
    # Compared in C: most lines only go on where the other stops.
    if one[:shorter] == other[:shorter]:
        return shorter
    pairs = enumerate(zip(one, other, strict=False))
    return next((ply for ply, (a, b) in pairs if a.uci != b.uci), shorter)


def is_same_line(one: GameReport, other: GameReport, corrected: int = 0) -> bool:
    """Return whether one game goes on where the other stops, but for so many last plies
    of the shorter.
    """
    plies = min(len(one.moves), len(other.moves)) - corrected
    return (
        one.start_fen == other.start_fen
        and count_shared_plies(one.moves, other.moves) >= plies
    )


def _is_repeated(one: GameReport, other: GameReport) -> bool:
    return (
        min(len(one.moves), len(other.moves)) >= REPEATED_PLIES
        and (one.result == other.result or "*" in (one.result, other.result))
        and is_same_line(one, other)
    )
