import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.events import GameReport
from live.feeds.fics.fics_text import MAX_GAMES, FicsLoginRefused, FicsText, NotFics, style12
from live.rehearse.servers.fics_server import FicsRehearsal, handle
from live.rehearse.servers.fics_server import style12 as written
from tests.feeds.fakes import DATA, decode

GAMES = decode((DATA / "four-boards.pgn").read_bytes())
#: From the help of FICS (style12), but for the names.
HELP = (
    "<12> rnbqkb-r pppppppp -----n-- -------- ----P--- -------- PPPPKPPP RNBQ-BNR B -1 0 0 1 1 0 7 "
    "White Black 0 2 12 39 39 119 122 2 K/e1-e2 (0:06) Ke2 0"
)
AFTER_E4 = (
    "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 45 "
    "Ann Bob 0 5 0 39 39 295 300 1 P/e2-e4 (0:05) e4 0 1 0"
)
AFTER_E5 = (
    "<12> rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4 1 1 1 1 0 45 "
    "Ann Bob 0 5 0 39 39 295 290 2 P/e7-e5 (0:10) e5 0 1 0"
)


def heard(text: FicsText, *lines: str) -> list[GameReport]:
    return text.receive("".join(f"\n\r{line}\n\r" for line in lines).encode("latin-1"))[1]


def test_the_line_of_the_servers_own_help() -> None:
    told = style12(HELP)
    assert told is not None
    assert told.board.fen() == "rnbqkb1r/pppppppp/5n2/8/4P3/8/PPPPKPPP/RNBQ1BNR b kq - 0 2"
    assert (told.game, told.white, told.black, told.san) == (7, "White", "Black", "Ke2")
    assert (told.initial_s, told.increment_s) == (120, 12)
    assert (told.white_s, told.black_s) == (119, 122)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "<12>",
        "<11> " + HELP[5:],
        HELP.replace(" 0 2 12", " -3 2 12"),
        HELP.replace("PPPPKPPP", "PPPP"),
        HELP.replace(" 119 ", " soon "),
        HELP.replace("rnbqkb-r", "rnbq-b-r"),
        HELP.replace("RNBQ-BNR B", "RNBQ-BNR X"),
    ],
)
def test_what_is_no_position(line: str) -> None:
    assert style12(line) is None


@pytest.mark.parametrize("game", GAMES, ids=lambda game: handle(game.headers.white.name))
def test_lines_are_read_as_they_are_written(game: GameReport) -> None:
    board = chess.Board()
    for ply, move in enumerate(game.moves, start=1):
        board.push_uci(move.uci)
        line = written(3, GameReport("", game.headers, chess.STARTING_FEN, game.moves[:ply]))
        told = style12(line)
        assert told is not None and told.board.fen() == board.fen()
        assert told.san == move.san


def test_a_game_from_its_first_move_to_its_end() -> None:
    text = FicsText("fics", ["45"])
    heard(text, "Game 45: Ann (1850) Bob (1790E) rated blitz 5 0")
    (game,) = heard(text, AFTER_E4, AFTER_E5)
    assert [(move.uci, move.clock_s) for move in game.moves] == [("e2e4", 295), ("e7e5", 290)]
    assert (game.headers.white.elo, game.headers.black.elo) == (1850, 1790)
    assert (game.headers.time_control, game.headers.board) == ("300+0", 45)
    assert heard(text, "{Game 46 (Ann vs. Bob) Bob resigns} 1-0") == []
    (game,) = heard(text, "fics% {Game 45 (Ann vs. Bob) Bob resigns} 1-0")
    assert game.result == "1-0"
    assert heard(text, "{Game 45 (Ann vs. Bob) Bob resigns} 1-0") == []


def test_getting_in_as_a_guest_and_asking_for_games_once() -> None:
    text = FicsText("fics", ["45", "Ann"])
    assert text.receive(b"\xff\xfb\x01Welcome\n\rlogin: ")[0] == [b"guest\n"]
    said = b'\n\rPress return to enter the server as "GuestX'
    assert text.receive(said)[0] == []
    assert text.receive(b'YZ":')[0] == [b"\n"]
    greeting = [b"set style 12\n", b"set seek 0\n", b"set shout 0\n"]
    assert text.receive(b"\n\rfics% ")[0] == [*greeting, b"observe 45\n", b"observe Ann\n"]
    assert text.receive(b"\n\rfics% ")[0] == []
    text.reconnected()
    assert text.receive(b"fics% \n\r")[0][-1] == b"observe Ann\n"


@pytest.mark.parametrize("pieces", [1, 3, 200])
def test_a_prompt_that_ends_with_a_lines_end_is_answered_once(pieces: int) -> None:
    """No return was sent: "live, no games yet" for ever (audit, row 6)."""
    text = FicsText("fics", ["45"])
    text.receive(b"login: ")
    said = b'\n\rPress return to enter the server as "GuestXYZ":\n\r'
    answers = [text.receive(said[at : at + pieces])[0] for at in range(0, len(said), pieces)]
    assert [line for lines in answers for line in lines] == [b"\n"]


def test_getting_in_with_a_password() -> None:
    text = FicsText("fics", [], "me", "secret")
    assert text.receive(b"login: ")[0] == [b"me\n"]
    assert text.receive(b"\n\rpassword: ")[0] == [b"secret\n"]
    with pytest.raises(FicsLoginRefused):
        text.receive(b"\n\r**** Invalid password! ****\n\r")


def test_moves_made_before_we_came_are_asked_for() -> None:
    text = FicsText("fics", ["45"])
    text.receive(b"fics% ")
    late = AFTER_E5.replace("W 4 ", "W -1 ")
    answers, (game,) = text.receive(f"\n\r{late}\n\rfics% ".encode())
    assert answers == [b"moves 45\n"] and game.moves == ()
    assert heard(text, "Movelist for game 45:", "Ann (1) vs. Bob (2) --- today") == []
    (game,) = heard(text, "  1.  e4      (0:05)     e5      (0:10)", "   {Still in progress} *")
    assert [(move.san, move.clock_s) for move in game.moves] == [("e4", None), ("e5", 290)]


def test_a_move_made_before_the_list_comes_loses_nothing() -> None:
    text = FicsText("fics", ["45"])
    text.receive(b"fics% ")
    heard(text, AFTER_E5)
    played = AFTER_E5.replace("W 4 ", "B -1 ").replace("-------- PPPP", "-----N-- PPPP")
    played = played.replace("RNBQKBNR", "RNBQKB-R").replace("(0:10) e5", "(0:03) Nf3")
    heard(text, played, "Movelist for game 45:")
    rows = ("  1.  e4  (0:05)  e5  (0:10)", "  2.  Nf3  (0:03)", "  {Still in progress} *")
    (game,) = heard(text, *rows)
    assert [move.san for move in game.moves] == ["e4", "e5", "Nf3"]


@pytest.mark.slow
def test_lines_cut_anywhere_are_the_same_games() -> None:
    stream = f"fics% \n\r{AFTER_E4}\n\rfics% \n\r{AFTER_E5}\n\r".encode()
    for cut in range(len(stream)):
        text = FicsText("fics", [])
        games = [*text.receive(stream[:cut])[1], *text.receive(stream[cut:])[1]]
        assert [move.san for move in games[-1].moves] == ["e4", "e5"]


def test_a_line_that_never_ends() -> None:
    with pytest.raises(NotFics):
        FicsText("fics", []).receive(b"x" * 20_000)


@pytest.mark.slow
@given(st.lists(st.binary(max_size=60) | st.just((AFTER_E4 + "\n").encode()), max_size=6))
def test_any_bytes_are_read(chunks: list[bytes]) -> None:
    text = FicsText("fics", [])
    for chunk in chunks:
        text.receive(chunk)


def test_names_are_those_a_server_allows() -> None:
    assert [handle(name) for name in ("Müller, Ä.", "", "A" * 30)] == ["Mller", "Guest", "A" * 17]
    assert FicsRehearsal(GAMES).observed == 0


@pytest.mark.slow
def test_after_weeks_new_games_are_followed_and_the_oldest_finished_forgotten() -> None:
    text = FicsText("server", [])
    for number in range(MAX_GAMES):
        told = AFTER_E4.replace(" Ann ", f" Ann{number} ")
        heard(text, told, f"{{Game 45 (Ann{number} vs. Bob) Bob resigns}} 1-0")
    (game,) = heard(text, AFTER_E4.replace(" Ann ", " Late "))
    assert game.headers.white.name == "Late"


@pytest.mark.slow
def test_running_games_are_not_forgotten_for_new_ones() -> None:
    text = FicsText("server", [])
    for number in range(MAX_GAMES):
        heard(text, AFTER_E4.replace(" Ann ", f" Ann{number} "))
    assert heard(text, AFTER_E4.replace(" Ann ", " Late ")) == []
    assert len(heard(text, AFTER_E5.replace(" Ann ", " Ann0 "))) == 1


def test_one_game_that_is_over_costs_no_other() -> None:
    text = FicsText("fics", ["45", "46"])
    heard(text, "fics% There is no such game.")
    assert not text.missing
    heard(text, "There is no such game.")
    assert text.missing
    text.reconnected()
    assert not text.missing
