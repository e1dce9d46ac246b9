"""Pairing list from a CSV file: the players at each board of each round. No I/O."""

from live.games.csv_rows import index_aliases, read_csv_rows, read_number
from live.games.rounds import normalise_round
from live.messages.from_sources import Player
from live.sources.pgn_headers import create_player

_PAIRING_COLUMNS = index_aliases(
    {
        "round": ("round", "rd", "runde"),
        "board": ("board", "bo", "table", "brett"),
        "white": ("white", "whitename", "whiteplayer"),
        "black": ("black", "blackname", "blackplayer"),
        "white team": ("whiteteam", "teamwhite"),
        "black team": ("blackteam", "teamblack"),
        "white id": ("whitefideid", "whiteid"),
        "black id": ("blackfideid", "blackid"),
        "white elo": ("whiteelo", "whiterating"),
        "black elo": ("blackelo", "blackrating"),
    }
)
#: The players (White, Black) by round and board. The round is empty if the list has no
#: rounds.
Pairings = dict[tuple[str, int], tuple[Player, Player]]


def read_pairing_list(data: bytes) -> Pairings:
    """Return the pairings of a CSV file with the columns Board, White, Black.

    The file can also have Round, WhiteTeam, WhiteFideId, WhiteElo, and the same columns
    for Black.

    Raises:
        ValueError: the file contains no pairing.
    """
    pairings: Pairings = {}
    for fields in read_csv_rows(data, _PAIRING_COLUMNS):
        board = fields.get("board", "").strip()
        if not board.isdecimal():
            continue
        seat = normalise_round(fields.get("round", "").strip()), int(board)
        pairings[seat] = (_read_player(fields, "white"), _read_player(fields, "black"))
    if not pairings:
        raise ValueError(
            "contains no pairings; it needs the columns Board, White, Black"
        )
    return pairings


def _read_player(fields: dict[str, str], side: str) -> Player:
    return create_player(
        fields.get(side),
        elo=read_number(fields.get(f"{side} elo", "").strip()),
        fide_id=fields.get(f"{side} id", "").strip(),
        team=fields.get(f"{side} team"),
    )
