"""Changes of a board's players, before and after its first move. Pure."""

from collections.abc import Iterator

from live.messages.figures import GameView
from live.messages.from_sources import Player
from live.messages.values import GameId
from live.watch.round_names import round_of

Pair = tuple[Player, Player]


class PairingChanges:
    """Remembers the players at each board and describes changes of them."""

    def __init__(self) -> None:
        self._players: dict[GameId, Pair] = {}
        # The seat (source, round and board) and the names of the players, for each game
        # without a move, by game id.
        self._seated: dict[GameId, tuple[tuple[object, ...], tuple[str, str]]] = {}

    def follow(self, game: GameView) -> Iterator[str]:
        """Store a game as it is now; yield texts about changes of its players.

        The texts are for the incident log.
        """
        seat = (game.feed, round_of(game), game.board)
        names = (game.white.name, game.black.name)
        _, names_before = self._seated.pop(game.id, (seat, names))
        players = (game.white, game.black)
        players_before = self._players.get(game.id, players)
        self._players[game.id] = players
        if game.plies_played:
            yield from _describe_changes(game, players_before)
        elif game.board is not None and all(names):
            self._seated[game.id] = seat, names
            yield from _describe_replacement(game.board, names_before, names)

    def drop(self, id: GameId) -> tuple[GameId, list[str]]:
        """Remove a game that no longer exists; return texts about new players.

        A game without a move can be replaced by a new game in the same seat.

        Returns:
            The id of the game that took the seat, or ``id`` if there is not exactly
            one, and texts about the changes of players.
        """
        self._players.pop(id, None)
        if id not in self._seated:
            return id, []
        seat, before = self._seated.pop(id)
        seats = self._seated.items()
        replacing = [(game, names) for game, (place, names) in seats if place == seat]
        # Several games can share a seat, since each match of a team event numbers its
        # boards from 1.
        if len(replacing) != 1:
            return id, []
        game, names = replacing[0]
        return game, list(_describe_replacement(seat[-1], before, names))


def _describe_replacement(
    board: object, before: tuple[str, str], now: tuple[str, str]
) -> Iterator[str]:
    if set(before) != set(now):
        old_names, new_names = " – ".join(before), " – ".join(now)
        replacement = f"{new_names} in place of {old_names}"
        yield f"Board {board}: {replacement}, before the first move."


def _describe_changes(game: GameView, before: Pair) -> Iterator[str]:
    """Yield texts about changes of a game's players after its first move.

    A swap of the two players is not included: it has its own alert.
    """
    now = (game.white, game.black)
    if tuple(map(_identify, before)) == tuple(map(_identify, reversed(now))):
        return
    number = f"Board {game.board}" if game.board is not None else ""
    board = number or " – ".join(player.name for player in before)
    moves = (game.plies_played + 1) // 2
    for color, old_player, player in zip(("White", "Black"), before, now, strict=True):
        if _identify(old_player) != _identify(player):
            old = _distinguish(old_player, player)
            new = _distinguish(player, old_player)
            yield f"{board}: {color} was {old} and is now {new}, after move {moves}."


def _identify(player: Player) -> tuple[object, ...]:
    return player.name, player.elo or None, player.fide_id or None


def _distinguish(player: Player, other: Player) -> str:
    """Return a player with the data in which he differs from another player.

    Example: ``Ding, L (2780, FIDE 8603677)``.
    """
    differences: list[str] = []
    if player.elo or other.elo:
        differences.append(str(player.elo) if player.elo else "no Elo")
    if player.fide_id != other.fide_id:
        differences.append(f"FIDE {player.fide_id}" if player.fide_id else "no FIDE id")
    about = f" ({', '.join(differences)})" if differences else ""
    return f"{player.name or '?'}{about}"
