"""Charsets, texts that are no PGN, and tags."""

import codecs
import gzip

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.messages.from_sources import Player
from live.sources.charset import PlainLines, decode
from live.sources.pgn_detection import describe_non_pgn, suggest_source
from live.sources.pgn_headers import clean_text, read_elo, read_head, safe_web_address


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"Carlsen", "Carlsen"),
        ("Đurić".encode(), "Đurić"),
        ("Müller".encode("cp1252"), "Müller"),
        (codecs.BOM_UTF8 + "Müller".encode(), "Müller"),
        (codecs.BOM_UTF8 + "Müller".encode("cp1252"), "Müller"),
        (b"\x81\x8d", "��"),
    ],
)
def test_mark_then_utf8_then_windows(raw: bytes, text: str) -> None:
    assert decode(raw) == text


def test_the_callers_charset_is_used_if_there_is_such_a_one() -> None:
    assert decode("Đurić".encode("iso-8859-2"), "iso-8859-2") == "Đurić"
    assert decode("Müller".encode("cp1252"), "no-such-charset") == "Müller"


@given(
    st.text("aé\u4e2d\U0001f600 "),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
    st.data(),
)
def test_utf16_is_told_by_its_beginning_wherever_cut(
    text: str, charset: str, data: st.DataObject
) -> None:
    marks = ["\ufeff", "[E"] if charset != "utf-8" else [""]
    text = data.draw(st.sampled_from(marks)) + text
    raw = text.encode(charset)
    cut = data.draw(st.integers(0, len(raw)))
    lines = PlainLines()
    plain = lines.decode_lines(raw[:cut]) + lines.decode_lines(raw[cut:], final=True)
    assert plain == text.removeprefix("\ufeff").encode()


@given(
    st.lists(st.sampled_from([b"a", b"\r", b"\n", b"\r\n", b"\x00"]), max_size=20),
    st.data(),
)
def test_lines_end_alike_wherever_cut(parts: list[bytes], data: st.DataObject) -> None:
    raw = b"e4" + b"".join(parts)  # a text that begins with NULs could be UTF-16
    cut = data.draw(st.integers(0, len(raw)))
    lines = PlainLines()
    plain = lines.decode_lines(raw[:cut]) + lines.decode_lines(raw[cut:], final=True)
    assert (
        plain.decode().splitlines() == raw.replace(b"\x00", b" ").decode().splitlines()
    )
    assert b"\r" not in plain


HTML, PROSE = "an HTML page (perhaps a login page)", "text that is not PGN"


@pytest.mark.parametrize(
    ("what", "heads"),
    [
        (
            None,
            [
                b"",
                b"  \r\n ",
                b'   [Event "after keep-alives"]',
                b"% escape line\n[Event",
            ],
        ),
        (
            None,
            [
                b'\xef\xbb\xbf[Event "x"]',
                '[Event "x"]'.encode("utf-16"),
                b'[ePGN "0.1"]',
            ],
        ),
        (
            None,
            ['[Event "x"]'.encode(charset) for charset in ("utf-16-le", "utf-16-be")],
        ),
        (
            None,
            [
                b"; comment\n1. e4",
                b"1. e4",
                b"e4 e5 *",
                b"O-O",
                b"{ [%eval 0] } 1. e4",
                b"*",
            ],
        ),
        (
            HTML,
            [b"<!DOCTYPE html><html>", b"\n\n  <HTML>", b"\xef\xbb\xbf<!doctype HTML>"],
        ),
        ("XML, not PGN", [b"<?xml version='1.0'?><rss>"]),
        ("JSON, not PGN", [b'{"error":"Not found"}', b'[{"id": 1}]']),
        ("a PDF document", [b"%PDF-1.7"]),
        ("a ZIP archive (unpack it first)", [b"PK\x03\x04...."]),
        ("a gzip file (unpack it first)", [gzip.compress(b"[Event", mtime=0)]),
        ("a binary file", [b"\x7fELF\x00\x00"]),
        (
            PROSE,
            [
                b"Please log in",
                b"Dear friends of chess",
                b"hello\n",
                b"Oops",
                b"Bob 1-0",
            ],
        ),
    ],
)
def test_what_may_be_pgn_and_what_a_text_is_instead(
    what: str | None, heads: list[bytes]
) -> None:
    assert {describe_non_pgn(head) for head in heads} == {what}


def test_the_type_a_server_names_decides_only_where_the_text_does_not() -> None:
    assert "HTML" in (
        describe_non_pgn(b"Please log in", "text/html; charset=utf-8") or ""
    )
    assert describe_non_pgn(b'[Event "x"]', "text/html") is None


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("https://chess.com/events/x", "lichess broadcast"),
        ("https://www.chess.com/events/2026-candidates", "lichess broadcast"),
        ("https://s2.chess-results.com/tnr1.aspx", "no moves"),
        ("https://notchess.com/x", "give the address of the PGN itself"),
        ("https://example.org/chess.com/games", "give the address of the PGN itself"),
        ("/srv/chess.com/games.pgn", "give a PGN file: tags, then moves"),
        ("notes.pgn", "give a PGN file: tags, then moves"),
    ],
)
def test_what_is_not_pgn_names_what_to_follow_instead(url: str, remedy: str) -> None:
    assert remedy in suggest_source(url)


# --- tags -----------------------------------------------------------------------------


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


def test_lichess_broadcast() -> None:
    game = read_head(BROADCAST)
    assert game.key == "ijklmnop"
    assert game.headers.event == "Sotra Open"
    assert game.headers.white == Player("Moss, M", 2496, "GM", 2252627, None, "Sotra")
    assert game.headers.black == Player("Lonning, H", federation="NOR")
    assert (game.headers.round, game.headers.board) == ("1.5", 5)
    assert game.headers.date == "2025.04.12"
    assert game.headers.time_control == "90+30"
    assert game.headers.url.endswith("/ijklmnop")
    assert (game.start_fen, game.chess960, game.playable) == (
        chess.STARTING_FEN,
        False,
        True,
    )
    assert game.problem is None


def test_what_tags_say_and_what_is_unknown_is_empty() -> None:
    game = read_head(
        b'[Event "Open"]\n[Site "Oslo NOR"]\n[GameId "42"]\n[ePGN '
        b'"0.1;DGT"]\n[ECO "B31"]'
    )
    told = game.headers
    assert (told.event, told.site, told.url, told.eco) == (
        "Open",
        "Oslo NOR",
        "",
        "B31",
    )
    assert (game.key, game.problem) == ("42", None)
    assert (
        read_head(b'[Opening "Sicilian Defense"]').headers.opening == "Sicilian Defense"
    )
    assert read_head(b'[Termination "adjourned"]').headers.termination == "adjourned"
    for result, termination in (
        ("+/-", "forfeit"),
        ("1-0F", "forfeit"),
        ("=/=", ""),
        ("1-0", ""),
    ):
        assert (
            read_head(b'[Result "%s"]' % result.encode()).headers.termination
            == termination
        )
    tags = (
        b"Event Site Date White Black WhiteElo TimeControl ECO Opening Termination"
    ).split()
    unknown = (
        b"".join(b'[%s "?"]\n' % tag for tag in tags)
        + b'[Round "??"]\n[Date "????.??.??"]'
    )
    assert read_head(unknown).headers == read_head(b"").headers
    assert read_head(b"").headers.white == Player("?")


@pytest.mark.parametrize(
    ("tags", "white", "elo"),
    [
        ('[White "GM Castel, Ines (2510)"]', "GM Castel, Ines", 2510),
        ('[White "Castel, Ines (2510)"]\n[WhiteElo "2500"]', "Castel, Ines", 2500),
        ('[White "Dvorak, Petr 2044"]', "Dvorak, Petr", 2044),
        ('[White "Dvorak, Petr 2044"]\n[WhiteElo "?"]', "Dvorak, Petr", 2044),
        ('[White "Dvorak Petr - Elo 2044"]', "Dvorak Petr", 2044),
        ('[White "Name 2160"]', "Name 2160", 2160),
        ('[White "Name (1682)"]', "Name", 1682),
        ('[White "Deep Rybka 2010"]', "Deep Rybka 2010", None),
        ('[White "Rybka Cluster 3010"]\n[WhiteElo "3200"]', "Rybka Cluster 3010", 3200),
        ('[White "Stockfish 16.1"]', "Stockfish 16.1", None),
        ('[White "Castel, Ines (12)"]', "Castel, Ines (12)", None),
        ('[White "(2300)"]', "(2300)", None),
        (
            '[White "Crafty Bot 1200"]\n[Black "Crafty Bot 1600"]',
            "Crafty Bot 1200",
            1200,
        ),
    ],
)
def test_a_rating_in_a_name_is_the_rating(
    tags: str, white: str, elo: int | None
) -> None:
    player = read_head(tags.encode()).headers.white
    assert (player.name, player.elo) == (white, elo)


def test_board_number() -> None:
    for number, tags in (
        (7, ['[Board "7"]', '[Board "7"]\n[Round "1.5"]']),
        (12, ['[Round "3.12"]', '[Round "3.2.12"]']),
        (
            None,
            ['[Round "3"]', '[Board "?"]', '[Board "0"]', '[Board "99999999999999"]'],
        ),
    ):
        assert {read_head(each.encode()).headers.board for each in tags} == {number}


def test_elo() -> None:
    assert list(map(read_elo, ["2500", " 987", "1500P"])) == [2500, 987, 1500]
    assert not any(map(read_elo, ["0", "-", "?", "", "25000", "0000", "unrated"]))


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
        (b'[White"A"] [Black"B"]', "A", "B"),
        (rb'[White "Let\'s"][Black "a\/b"]', "Let's", "a/b"),
        (rb'[White "C:\club"][Black "a\\b"]', r"C:\club", r"a\b"),
        (b'\xef\xbb\xbf[White "M\xfcller"]\n[Black "B"]', "Müller", "B"),
    ],
)
def test_tag_pairs(line: bytes, white: str, black: str) -> None:
    headers = read_head(line).headers
    assert (headers.white.name, headers.black.name) == (white, black)


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
    assert clean_text(text, 20) == cleaned


@pytest.mark.parametrize(
    "name",
    ["Müller", "Ñandú", "Đurić", "Карпов, Анатолий", "ÁÍÝ", "O’Neil", "Ö–Ü", "Ăn Đạo"],
)
def test_utf_8_read_twice_is_mended(name: str) -> None:
    for charset in ("latin-1", "cp1252", "cp1251"):
        try:
            twice = name.encode().decode(charset)
        except UnicodeDecodeError:  # a byte that the charset does not define
            continue
        assert clean_text(twice, 50) == name


@pytest.mark.parametrize(
    "name",
    [
        "JOÃO",
        "Ângela",
        "«CAFÉ»",
        "Пётр Фёдоров",
        "Віктор",
        "São Tomé",
        "Ève",
        "Ã",
        "Ð°"[:1],
    ],
)
def test_what_only_looks_like_it_stays(name: str) -> None:
    assert clean_text(name, 50) == name


@given(st.text(), st.integers(1, 50))
def test_cleaned_text_is_printable_and_bounded(text: str, limit: int) -> None:
    cleaned = clean_text(text, limit)
    assert cleaned.isprintable() and len(cleaned) <= limit
    assert clean_text(cleaned, limit) == cleaned


def test_only_web_addresses_become_links() -> None:
    for good in ("https://lichess.org/abcdefgh", "http://x.org/a?b=c#d"):
        assert safe_web_address(good) == good
    odd = ["\"onclick='a'", "a b", "\x1b[2J", "a" * 1000]
    for bad in ("javascript:alert(1)", "https://", "https://[x", "Oslo", ""):
        assert safe_web_address(bad) == ""
    assert not any(safe_web_address(f"https://x.org/{path}") for path in odd)


FEN_960 = "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w KQkq - 0 1"


@pytest.mark.parametrize(
    ("variant", "heads"),
    [
        (
            "standard",
            [f'[Variant "{n}"]' for n in ("normal", "From Position", "?", "")],
        ),
        (
            "chess960",
            [
                f'[Variant "{name}"]'
                for name in ("Chess960", "chess 960", "Fischerandom")
            ],
        ),
        (
            "chess960",
            [f'[Variant "{name}"]' for name in ("Chess-960", "Freestyle Chess", "FRC")],
        ),
        (
            "chess960",
            ['[Variant "Fischer Random Chess"]', '[Variant "Chess960 (SP 518)"]'],
        ),
        (
            "chess960",
            ['[Variant "Schach 960"]', '[Variant "Ajedrez960"]', '[Variant "960"]'],
        ),
        ("standard", ['[Variant "Standard Chess"]', '[Variant "Chess"]']),
        ("crazyhouse 960", ['[Variant "Crazyhouse 960"]']),
        (
            "chess960",
            [f'[Variant "Fischer Random"]\n[FEN "{FEN_960}"]', f'[FEN "{FEN_960}"]'],
        ),
        ("chess960", [f'[FEN "{FEN_960.replace("KQkq", "HFhf")}"]\n[SetUp "1"]']),
        ("crazyhouse", ['[Variant "Crazyhouse"]\n[FEN "x"]']),
    ],
)
def test_names_of_variants(variant: str, heads: list[str]) -> None:
    for tags in heads:
        game = read_head(tags.encode())
        assert (game.headers.variant, game.playable) == (
            variant,
            "crazyhouse" not in variant,
        )
        assert game.chess960 is (variant == "chess960")
        unknown = f"the variant {variant} is not followed"
        assert game.problem == (None if game.playable else unknown)
        if "FEN" in tags and game.playable:
            assert game.start_fen == FEN_960
            assert game.create_board().has_kingside_castling_rights(chess.WHITE)


def test_start_positions_are_made_whole() -> None:
    fen = b"4k3/8/8/8/8/8/4P3/4K3 b - -"
    assert read_head(b'[FEN "%s"]' % fen).start_fen == "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1"
    # Impossible castling and en passant rights, as in positions set up by hand.
    fen = b"4k3/8/8/8/8/8/4P3/4K3 w KQkq e6 0 1"
    assert read_head(b'[FEN "%s"]' % fen).start_fen == "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


@pytest.mark.parametrize(
    "fen",
    [
        b"8/8/8/8/8/8/8/8 w - - 0 1",
        b"4k3/8/8/8/8/8/8/4K2r b - - 0 1",
        b"nonsense",
        b"4k3/8/8/8/8/8/8/4K3 w - - -1 -1",
        b"4k3/8/8/8/8/8/4P3/4K3 w - - 0 " + b"9" * 1500,
    ],
)
def test_positions_that_are_none_are_not_played(fen: bytes) -> None:
    game = read_head(b'[FEN "%s"]' % fen)
    if game.playable:
        assert game.create_board().is_valid()
    else:
        assert game.problem is not None and "FEN" in game.problem
        assert game.start_fen == chess.STARTING_FEN


def test_too_many_tags_and_too_long_a_line_are_cut_and_said() -> None:
    game = read_head(b"".join(b'[Tag%d "x"]\n' % i for i in range(200)))
    assert (game.tags, game.problem) == (100, "only the first 100 headers were read")
    game = read_head(b'[White "%s"]\n[Black "B"]' % (b"A" * 5000))
    assert game.headers.white.name.startswith("AAA") and game.headers.black.name == "B"
    assert game.problem == "a header line longer than 2000 characters was cut"


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
    assert read_head(f'[BroadcastURL "{url}"]'.encode()).headers.round == round_
    # The address of a whole round does not identify a game.
    assert read_head(f'[GameURL "{url}"]'.encode()).key == ""
    assert read_head(f'[GameURL "{url}/12345678"]'.encode()).key == "12345678"
