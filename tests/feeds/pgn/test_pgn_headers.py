from __future__ import annotations

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import Player
from live.feeds.pgn_headers import GameHead, clean, read_elo, read_head, web_address

BROADCAST = b"""[Event "Round 1: Moss, M - Lonning, H"]
[Site "https://lichess.org/broadcast/open/round-1/abcdefgh/ijklmnop"]
[Date "2025.04.12"]
[Round "1.5"]
[White "Moss, M"]
[Black "Lonning, H"]
[Result "*"]
[WhiteElo "2496"]
[WhiteTitle "GM"]
[WhiteFideId "2252627"]
[WhiteTeam "Sotra"]
[BlackElo "?"]
[BlackFideId "0"]
[BlackFederation "NOR"]
[TimeControl "90+30"]
[Variant "Standard"]
[BroadcastName "Sotra Open"]
[GameURL "https://lichess.org/broadcast/open/round-1/abcdefgh/ijklmnop"]
"""


def head(raw: bytes, *, max_tags: int = 100, max_line_bytes: int = 2000) -> GameHead:
    return read_head(raw, max_tags=max_tags, max_line_bytes=max_line_bytes)


def test_lichess_broadcast() -> None:
    game = head(BROADCAST)
    assert game.key == "ijklmnop"
    assert game.headers.event == "Sotra Open"
    assert game.headers.white == Player("Moss, M", 2496, "GM", 2252627, None, "Sotra")
    assert game.headers.black == Player("Lonning, H", federation="NOR")
    assert (game.headers.round, game.headers.board) == ("1.5", 5)
    assert game.headers.date == "2025.04.12"
    assert game.headers.time_control == "90+30"
    assert game.headers.url.endswith("/ijklmnop")
    assert (game.start_fen, game.chess960, game.playable) == (chess.STARTING_FEN, False, True)
    assert game.problem is None


def test_the_opening_is_told_as_the_source_names_it() -> None:
    game = head(b'[ECO "B31"]\n[Opening "Sicilian Defense: Rossolimo Attack"]\n')
    assert (game.headers.eco, game.headers.opening) == (
        "B31",
        "Sicilian Defense: Rossolimo Attack",
    )
    unknown = head(b'[ECO "?"]\n').headers
    assert (unknown.eco, unknown.opening) == ("", "")


def test_without_a_broadcast_the_event_is_the_event() -> None:
    game = head(b'[Event "Open"]\n[Site "Oslo NOR"]\n[GameId "42"]\n')
    assert (game.headers.event, game.headers.site, game.headers.url) == ("Open", "Oslo NOR", "")
    assert game.key == "42"


def test_what_is_unknown_is_empty() -> None:
    tags = b"Event Site Round Date White Black WhiteElo TimeControl".split()
    game = head(b"".join(b'[%s "?"]\n' % tag for tag in tags) + b'[Date "????.??.??"]')
    assert game.headers == head(b'[White "?"]\n[Black "?"]').headers
    assert game.headers.white == Player("?")
    assert head(b'[Round "??"]').headers.round == ""


@pytest.mark.parametrize(
    ("tags", "board"),
    [
        (b'[Board "7"]', 7),
        (b'[Board "7"]\n[Round "1.5"]', 7),
        (b'[Round "3.12"]', 12),
        (b'[Round "3.2.12"]', 12),
        (b'[Round "3"]', None),
        (b'[Round "?"]', None),
        (b'[Board "?"]', None),
        (b'[Board "0"]', None),
        (b'[Board "99999999999999"]', None),
    ],
)
def test_board_number(tags: bytes, board: int | None) -> None:
    assert head(tags).headers.board == board


@pytest.mark.parametrize(
    ("text", "elo"),
    [("2500", 2500), (" 987", 987), ("1500P", 1500), ("0", None), ("-", None), ("?", None),
     ("", None), ("25000", None), ("0000", None), ("unrated", None)],
)  # fmt: skip
def test_elo(text: str, elo: int | None) -> None:
    assert read_elo(text) == elo


@pytest.mark.parametrize(
    ("line", "white", "black"),
    [
        (b'[White "A"] [Black "B"]', "A", "B"),
        (b'  [White "A"]\n\t[Black "B"]  ', "A", "B"),
        (b'[ White  "A" ]\n[Black "B"] trailing', "A", "B"),
        (b'[White "A "the cat" Cat"]\n[Black "B"]', 'A "the cat" Cat', "B"),
        (b'[White "A \\"the cat\\" \\\\ Cat"]\n[Black "B"]', 'A "the cat" \\ Cat', "B"),
        (b'[White "A\n[Black "B"', "A", "B"),
        (b'[White "A]\n[Black "B\\"]', "A", "B\\"),
        (b'[White ""]\n[Black "B"]\n[Black "C"]', "?", "C"),
        (b'% [White "X"]\n[White "A"]\n; [Black "X"]\n[Black "B"]', "A", "B"),
        (b"White A\n[White]\n[Black B]", "?", "?"),
        (b'\xef\xbb\xbf[White "M\xfcller"]\n[Black "B"]', "Müller", "B"),
        (b'[White "M\xc3\xbcller"]\n[Black "B"]', "Müller", "B"),
    ],
)
def test_tag_pairs(line: bytes, white: str, black: str) -> None:
    headers = head(line).headers
    assert (headers.white.name, headers.black.name) == (white, black)


def test_epgn_first_line_is_no_trouble() -> None:
    game = head(b'[ePGN "0.1;DGT LiveChess/2.2.5"]\n[White "A"]')
    assert game.headers.white.name == "A" and game.problem is None


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Carlsen,  Magnus\t ", "Carlsen, Magnus"),
        ("A\x1b[31mRed\x1b[0m", "ARed"),
        ("A\x1b]0;title\x07B", "AB"),
        ("A\x1b]8;;http://x\x1b\\B", "AB"),
        ("A\x9b31mB", "AB"),
        ("A\x07\x08\x7fB\u200b\u202e\u2066C\ufeff", "ABC"),
        ("A\u2028B\x85C\nD", "A B C D"),
        ("Mu\u0308ller", "Müller"),
        ("x" * 1000, "x" * 20),
        ("\x1b[" * 1000, ""),
    ],
)
def test_names_are_one_visible_line(text: str, cleaned: str) -> None:
    assert clean(text, 20) == cleaned


@given(st.text(), st.integers(1, 50))
def test_cleaned_text_is_printable_and_bounded(text: str, limit: int) -> None:
    cleaned = clean(text, limit)
    assert cleaned.isprintable() and len(cleaned) <= limit
    assert clean(cleaned, limit) == cleaned


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://lichess.org/abcdefgh", "https://lichess.org/abcdefgh"),
        ("http://x.org/a?b=c#d", "http://x.org/a?b=c#d"),
        ("javascript:alert(1)", ""),
        ("https://", ""),
        ("https://x.org/\"onclick='a'", ""),
        ("https://x.org/a b", ""),
        ("https://x.org/\x1b[2J", ""),
        ("https://[x", ""),
        ("https://x.org/" + "a" * 1000, ""),
        ("Oslo", ""),
        ("", ""),
    ],
)
def test_only_web_addresses_become_links(text: str, address: str) -> None:
    assert web_address(text) == address


@pytest.mark.parametrize("name", ["Standard", "normal", "From Position", "?", ""])
def test_names_of_standard_chess(name: str) -> None:
    game = head(b'[Variant "%s"]' % name.encode())
    assert (game.headers.variant, game.playable) == ("standard", True)


@pytest.mark.parametrize("name", ["Chess960", "chess 960", "Fischerandom", "Fischer Random"])
def test_names_of_chess960(name: str) -> None:
    fen = b"bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w KQkq - 0 1"
    game = head(b'[Variant "%s"]\n[FEN "%s"]' % (name.encode(), fen))
    assert (game.headers.variant, game.chess960, game.playable) == ("chess960", True, True)
    assert game.start_fen == fen.decode()


@pytest.mark.parametrize("castling", [b"KQkq", b"HFhf"])
def test_chess960_position_without_variant(castling: bytes) -> None:
    fen = b"bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w %s - 0 1" % castling
    game = head(b'[FEN "%s"]\n[SetUp "1"]' % fen)
    assert (game.headers.variant, game.chess960) == ("chess960", True)
    assert game.board().has_kingside_castling_rights(chess.WHITE)


def test_other_variants_are_named_and_left_alone() -> None:
    game = head(b'[Variant "Crazyhouse"]\n[FEN "x"]')
    assert (game.headers.variant, game.playable) == ("crazyhouse", False)
    assert game.problem == "the variant crazyhouse is not followed"


def test_start_positions_are_made_whole() -> None:
    fen = b"4k3/8/8/8/8/8/4P3/4K3 b - -"
    assert head(b'[FEN "%s"]' % fen).start_fen == "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"
    # Rights that cannot be, as boards set up by hand have them.
    fen = b"4k3/8/8/8/8/8/4P3/4K3 w KQkq e6 0 1"
    assert head(b'[FEN "%s"]' % fen).start_fen == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


@pytest.mark.parametrize(
    "fen",
    [
        b"8/8/8/8/8/8/8/8 w - - 0 1",
        b"4k3/8/8/8/8/8/8/4K2r b - - 0 1",
        b"nonsense",
        b"4k3/8/8/8/8/8/8/4K3 w - - -1 -1",
        b"9/9/9/9 w",
        b"4k3/8/8/8/8/8/4P3/4K3 w - - 0 " + b"9" * 4000,
    ],
)
def test_positions_that_are_none_are_not_played(fen: bytes) -> None:
    game = head(b'[FEN "%s"]' % fen, max_line_bytes=10_000)
    if game.playable:
        assert game.board().is_valid()
    else:
        assert game.problem is not None and "FEN" in game.problem
        assert game.start_fen == chess.STARTING_FEN


def test_too_many_tags_are_said() -> None:
    game = head(b"".join(b'[Tag%d "x"]\n' % i for i in range(200)), max_tags=50)
    assert game.tags == 50
    assert game.problem == "only the first 50 headers were read"


def test_too_long_a_line_is_cut_and_said() -> None:
    game = head(b'[White "%s"]\n[Black "B"]' % (b"A" * 5000), max_line_bytes=100)
    assert game.headers.white.name.startswith("AAA") and game.headers.black.name == "B"
    assert game.problem == "a header line longer than 100 characters was cut"


@given(st.binary() | st.text('[]" \\White\nFEN8/kKwb-', max_size=200).map(str.encode))
def test_no_header_is_too_odd(raw: bytes) -> None:
    game = head(raw)
    assert game.board().is_valid()


@pytest.mark.parametrize(
    ("slug", "round_"),
    [
        ("round-3", "3"),
        ("ronda-11", "11"),
        ("5-runde", "5"),
        ("semifinals-game-2", "semifinals game 2"),
        ("-", ""),
    ],
)
def test_the_round_is_that_of_the_broadcasts_address_where_no_tag_names_it(
    slug: str, round_: str
) -> None:
    url = f"https://lichess.org/broadcast/some-open-2026/{slug}/AbCdEfGh"
    head = read_head(f'[BroadcastURL "{url}"]'.encode(), max_tags=9, max_line_bytes=999)
    assert head.headers.round == round_


def test_the_address_of_a_whole_round_is_no_key_of_a_game() -> None:
    url = "https://lichess.org/broadcast/some-open-2025/round-1/AbCdEfGh"
    for address, key in ((url, ""), (f"{url}/12345678", "12345678")):
        head = read_head(f'[GameURL "{address}"]'.encode(), max_tags=9, max_line_bytes=999)
        assert head.key == key
