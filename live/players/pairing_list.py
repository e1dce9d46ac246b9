"""A pairing list in CSV: who sits at which board of which round, for boards without names. Pure."""

from __future__ import annotations

import msgspec

from live.events import Headers, Player
from live.feeds.pgn.charset import decode
from live.games.player_identity import is_known
from live.games.round_number import main_round
from live.players.rating_list import csv_fields

_COLUMNS: dict[str, str] = {
    **dict.fromkeys(("round", "rd", "runde"), "round"),
    **dict.fromkeys(("board", "bo", "table", "brett"), "board"),
    **dict.fromkeys(("white", "whitename", "whiteplayer"), "white"),
    **dict.fromkeys(("black", "blackname", "blackplayer"), "black"),
    **dict.fromkeys(("whiteteam", "teamwhite"), "white team"),
    **dict.fromkeys(("blackteam", "teamblack"), "black team"),
    **dict.fromkeys(("whitefideid", "whiteid"), "white id"),
    **dict.fromkeys(("blackfideid", "blackid"), "black id"),
    **dict.fromkeys(("whiteelo", "whiterating"), "white elo"),
    **dict.fromkeys(("blackelo", "blackrating"), "black elo"),
}


class PairingList:
    """Pairings by board, and by round where the list names rounds."""

    def __init__(self, pairings: dict[tuple[str, int], tuple[Player, Player]]) -> None:
        self._pairings = pairings

    def __len__(self) -> int:
        return len(self._pairings)

    def seated(self, told: Headers) -> Headers:
        """``told`` with the names and teams it lacks; unchanged where the list has no such board.

        Only boards without any name are filled in: a name of the source is never replaced.
        """
        if told.board is None or is_known(told.white) or is_known(told.black):
            return told
        round_ = main_round(told.round)
        found = self._pairings.get((round_, told.board)) or self._pairings.get(("", told.board))
        if found is None:
            return told
        return msgspec.structs.replace(told, white=found[0], black=found[1])


def read_pairing_list(data: bytes) -> PairingList:
    """Read a CSV with the columns Board, White, Black, and maybe Round, WhiteTeam, WhiteFideId,
    WhiteElo and the same of Black.

    Raises:
        ValueError: there is no pairing in it.
    """
    pairings: dict[tuple[str, int], tuple[Player, Player]] = {}
    for fields in csv_fields(decode(data), _COLUMNS):
        board = fields.get("board", "").strip()
        if not board.isdecimal():
            continue
        players = tuple(_player(fields, side) for side in ("white", "black"))
        pairings[main_round(fields.get("round", "").strip()), int(board)] = (players[0], players[1])
    if not pairings:
        raise ValueError("holds no pairing: it has the columns Board, White, Black")
    return PairingList(pairings)


def _player(fields: dict[str, str], side: str) -> Player:
    def number(name: str) -> int | None:
        text = fields.get(f"{side} {name}", "").strip()
        return int(text) or None if text.isdecimal() and len(text) < 11 else None

    return Player(
        name=fields.get(side, "").strip()[:100] or "?",
        elo=number("elo"),
        fide_id=number("id"),
        team=fields.get(f"{side} team", "").strip()[:100] or None,
    )
