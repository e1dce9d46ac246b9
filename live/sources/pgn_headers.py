"""Reader of the tag pairs of a PGN game: players, event and starting position.

Text of a source is not trusted: control characters and terminal escape sequences are
removed, and everything has a size limit. Unreadable tags are ignored; a game is never
lost because of its tags.
"""

import re
import unicodedata
from urllib.parse import urlsplit

import chess
from msgspec.structs import replace

from live.messages.from_sources import Headers, Player, Result
from live.messages.values import Value
from live.sources.charset import decode, undo_double_encoding
from live.sources.comment_commands import read_time_s
from live.sources.dates import convert_date_to_pgn
from live.sources.player_names import split_rating
from live.sources.results import is_forfeit, read_result

#: Greatest number of tags read per game, and of characters read per line.
MAX_TAGS, MAX_LINE = 100, 2000
#: Greatest lengths of texts that are shown, in characters.
NAME_CHARS = 100
TEXT_CHARS = 200
URL_CHARS = 500

_TAG = re.compile(
    r'\[[ \t]*+([A-Za-z0-9][A-Za-z0-9_+#=:-]*+)[ \t]*+"((?:[^"\\]|\\.)*+)"[ \t]*+\]'
)
#: A tag whose value contains quotes that are not escaped, or whose line was cut off.
_LOOSE_TAG = re.compile(
    r'[ \t﻿]*+\[[ \t]*+([A-Za-z0-9][A-Za-z0-9_+#=:-]*+)[ \t]*+"(.*)\Z'
)
#: Escaped characters: quotes and backslashes as in the standard, and apostrophes and
#: slashes as chess.com and JSON write them.
_ESCAPED = re.compile(r"""\\(["\\'/])""")
_TERMINAL_SEQUENCE = re.compile(
    r"\x1b(?:\[[0-?]*+[ -/]*+[@-~]|[\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\)?|[ -/]*+[0-~])"
    r"|\x9b[0-?]*+[ -/]*+[@-~]"
)
_ELO = re.compile(r"\s*+(\d{3,4})(?!\d)")
#: Letter of the side, which some programs write before a clock: ``W/``.
_SIDE = re.compile(r"\A[A-Za-z]/")
_DIGITS = re.compile(r"\d{1,10}\Z")
#: Path of a round, ``/broadcast/TOURNAMENT/ROUND/ID``, without the id of a game.
_ROUND_ADDRESS = re.compile(r"/broadcast/[^/]+/[^/]+/[^/]+")
#: Name of a round in a lichess address: ``round-3``, ``ronda-3``, ``3``.
_ROUND_SLUG = re.compile(
    r"(?:[^\W\d]+-)?(\d{1,3})(?:-(?:runde|round|ronde|kolo|kierros))?"
)
_ROUND_BOARD = re.compile(r"\d{1,4}(?:\.\d{1,4})*\.(\d{1,4})\Z")
#: Words for chess, which are ignored in names of variants.
_CHESS = frozenset(
    {"chess", "schach", "ajedrez", "échecs", "echecs", "scacchi", "шахматы"}
)
#: Names of ordinary chess in sources, without the words in ``_CHESS``.
_STANDARD = frozenset(
    {"", "standard", "normal", "classical", "from position", "regular"}
)
_CHESS960 = frozenset(
    {"960", "fischerandom", "fischerrandom", "fischer random", "freestyle", "frc"}
)
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_VARIANT_WORD = re.compile(r"[^\W\d_]+|\d+")


Tags = dict[str, str]
"""Values of tags, by name."""


class GameHead(Value):
    """Contents of a game's tags."""

    headers: Headers
    key: str
    """Key of the game at the source; empty if there is none."""
    result: Result
    """The ``Result`` tag. It is often wrong while the game is in progress and until its
    last moves are in.
    """
    clocks_s: tuple[float | None, float | None]
    """Clock times in the tags, seconds, White's first."""
    start_fen: str
    chess960: bool
    playable: bool
    """False if the moves cannot be read: the variant is not supported, or the starting
    position is invalid.
    """
    problem: str | None
    tags: int
    """Number of tags that were read."""

    def create_board(self) -> chess.Board:
        """Return a new board with the starting position."""
        return chess.Board(self.start_fen, chess960=self.chess960)


def read_head(raw: bytes) -> GameHead:
    """Read the header lines of one game. Never fails; a fault is described in
    ``problem``.
    """
    tags, problem = _read_tags(decode(raw))

    def read_tag(name: str, limit: int = TEXT_CHARS) -> str:
        value = clean_text(tags.get(name, ""), limit)
        return "" if value in ("?", "-", "*") else value

    variant, start_fen, chess960, start_problem = _read_start(tags)
    site = read_tag("Site")
    round_ = read_tag("Round", NAME_CHARS)
    result = tags.get("Result", "")
    game_url = safe_web_address(tags.get("GameURL", ""))
    white, black = _read_players(tags)
    headers = Headers(
        white=white,
        black=black,
        event=read_tag("BroadcastName") or read_tag("Event"),
        site=site,
        round=round_ if round_.strip("?. ") else _read_round_of_address(tags),
        board=_read_board_number(tags),
        date=convert_date_to_pgn(read_tag("Date"))
        or convert_date_to_pgn(read_tag("UTCDate")),
        time_control=read_tag("TimeControl", NAME_CHARS),
        url=game_url
        or safe_web_address(tags.get("Site", ""))
        or safe_web_address(tags.get("Link", "")),
        variant=variant,
        eco=read_tag("ECO", NAME_CHARS),
        opening=read_tag("Opening", NAME_CHARS),
        termination=read_tag("Termination", NAME_CHARS)
        or ("forfeit" if is_forfeit(result) else ""),
    )
    return GameHead(
        headers=headers,
        key=_read_key(game_url) or read_tag("GameId", NAME_CHARS),
        result=read_result(result),
        clocks_s=(
            _read_clock_s(tags.get("WhiteClock", "")),
            _read_clock_s(tags.get("BlackClock", "")),
        ),
        start_fen=start_fen,
        chess960=chess960,
        playable=start_problem is None,
        problem=start_problem or problem,
        tags=len(tags),
    )


def clean_text(text: str, limit: int) -> str:
    """Return the text as one line of visible characters, at most ``limit``, in NFC.

    Terminal sequences are removed as a whole; control, formatting (direction overrides,
    zero-width characters) and unassigned characters one by one. Several spaces become
    one.
    """
    text = text[: 8 * limit]
    if not (text.isascii() and text.isprintable()):
        text = _TERMINAL_SEQUENCE.sub("", undo_double_encoding(text))
        visible = (
            " " if c.isspace() else c for c in text if c.isspace() or c.isprintable()
        )
        text = unicodedata.normalize("NFC", "".join(visible))
    line = " ".join(text.split())[:limit].rstrip()
    # The repair is tried again, because characters that are now removed might have
    # prevented it.
    return clean_text(line, limit) if undo_double_encoding(line) != line else line


def safe_web_address(text: str) -> str:
    """Return ``text`` if it is an http or https address that is safe to show as a link;
    otherwise an empty text.
    """
    text = text.strip()
    if (
        len(text) > URL_CHARS
        or not text.isascii()
        or not text.isprintable()
        or " " in text
    ):
        return ""
    if any(c in text for c in "\"'<>\\`{}"):
        return ""
    try:
        url = urlsplit(text)
    except ValueError:
        return ""
    return text if url.scheme in ("http", "https") and url.netloc else ""


def read_elo(text: str) -> int | None:
    """Return a rating of three or four digits; None for other texts (``?``, ``0``,
    ``-``, ``unrated``).
    """
    match = _ELO.match(text)
    return int(match[1]) if match and int(match[1]) >= 100 else None


def _read_clock_s(text: str) -> float | None:
    """Return the seconds on a clock such as ``1:23:54``, ``33:51`` or ``W/0:33:51``;
    None for other texts.
    """
    clock = _SIDE.sub("", text.strip()).encode()
    return read_time_s(clock, short_is_minutes=True) if b":" in clock else None


def _read_tags(text: str) -> tuple[Tags, str | None]:
    """Return all tags, and a problem or None. Several tags can be in one line; of
    several with the same name, the last one counts.
    """
    tags: Tags = {}
    problem = None
    for line in text.split("\n"):
        if "[" not in line or line.startswith(("%", ";")):
            continue
        if len(line) > MAX_LINE:
            line = line[:MAX_LINE]
            problem = f"a header line longer than {MAX_LINE} characters was cut"
        pairs = _TAG.findall(line)
        if not pairs and (match := _LOOSE_TAG.match(line)):
            pairs = [(match[1], match[2].rstrip(" \t]").removesuffix('"'))]
        for name, value in pairs:
            if len(tags) >= MAX_TAGS and name not in tags:
                return tags, f"only the first {MAX_TAGS} headers were read"
            tags[name] = _ESCAPED.sub(r"\1", value) if "\\" in value else value
    return tags, problem


def create_player(
    name: str | None,
    *,
    elo: int | None = None,
    title: str | None = None,
    fide_id: int | str | None = None,
    federation: str | None = None,
    team: str | None = None,
) -> Player:
    """Return the player from the values that a source gives. A rating inside the name
    is used if there is no other.
    """

    def clean_field(value: str | None) -> str | None:
        return clean_text(value or "", NAME_CHARS) or None

    number = str(fide_id or "")
    valid_id = (
        int(number) or None if number.isascii() and _DIGITS.match(number) else None
    )
    bare, rating = split_rating(clean_field(name) or "?", elo or None)
    return Player(
        bare,
        rating,
        clean_field(title),
        valid_id,
        clean_field(federation),
        clean_field(team),
    )


def _read_players(tags: Tags) -> tuple[Player, Player]:
    white, black = _read_player(tags, "White"), _read_player(tags, "Black")
    if white.name == black.name != "?":
        # One engine playing at two ratings: keep the ratings in the names, since nobody
        # plays against himself.
        white = replace(white, name=clean_text(tags["White"], NAME_CHARS))
        black = replace(black, name=clean_text(tags["Black"], NAME_CHARS))
    return white, black


def _read_player(tags: Tags, side: str) -> Player:
    def read_tag(*names: str) -> str | None:
        values = (tags.get(f"{side}{name}", "").strip() for name in names)
        return next((value for value in values if value.strip("?-0 ")), None)

    return create_player(
        tags.get(side),
        elo=read_elo(tags.get(f"{side}Elo", "")),
        title=read_tag("Title"),
        fide_id=read_tag("FideId", "FideID", "FIDEId"),
        federation=read_tag("Federation", "Fed", "Country"),
        team=read_tag("Team"),
    )


def _read_board_number(tags: Tags) -> int | None:
    """Return the number in ``Board``; without one, the last part of a ``Round`` such as
    ``3.12`` (DGT LiveChess, lichess); None if there is neither.
    """
    board = tags.get("Board", "").strip()
    if not _DIGITS.match(board):
        match = _ROUND_BOARD.match(tags.get("Round", "").strip())
        board = match[1] if match else "0"
    return int(board) or None if len(board) <= 6 else None


def _read_key(game_url: str) -> str:
    """Return the last segment of the URL's path. On lichess this is the chapter id,
    which stays the same when all other tags change.

    Return an empty text for the address of a whole round, which lichess exports of 2025
    write into every game.
    """
    path = urlsplit(game_url).path.rstrip("/") if game_url else ""
    return "" if _ROUND_ADDRESS.fullmatch(path) else path.rpartition("/")[2]


def _read_round_of_address(tags: Tags) -> str:
    """Return the round from a broadcast's address (``…/round-3/ID``); empty if it has
    none.
    """
    parts = (
        urlsplit(safe_web_address(tags.get("BroadcastURL", "")))
        .path.strip("/")
        .split("/")
    )
    if len(parts) < 4 or parts[0] != "broadcast" or parts[2] == "-":
        return ""
    number = _ROUND_SLUG.fullmatch(parts[2])
    return number[1] if number else clean_text(parts[2].replace("-", " "), NAME_CHARS)


def _normalise_variant(variant: str) -> str:
    """Return the words that distinguish a variant, such as ``freestyle`` for
    ``Freestyle Chess (SP 518)``.
    """
    words = _VARIANT_WORD.findall(_IN_BRACKETS.sub("", variant))
    return " ".join(word for word in words if word not in _CHESS)


def _read_start(tags: Tags) -> tuple[str, str, bool, str | None]:
    """Return the variant, the full FEN of the starting position, whether castling
    follows Chess960, and the reason why the game cannot be played (None if it can).
    """
    name = clean_text(tags.get("Variant", ""), NAME_CHARS).casefold()
    plain = name if name in _STANDARD else _normalise_variant(name)
    if plain in _STANDARD:
        variant = "standard"
    elif plain in _CHESS960:
        variant = "chess960"
    else:
        return name, chess.STARTING_FEN, False, f"the variant {name} is not followed"
    fen = clean_text(tags.get("FEN", ""), TEXT_CHARS)
    if fen in ("", "?", "-", "startpos"):
        return variant, chess.STARTING_FEN, variant == "chess960", None
    board = chess.Board()
    try:
        board.set_fen(fen)
    except ValueError:
        return variant, chess.STARTING_FEN, False, "the FEN header cannot be read"
    if board.has_chess960_castling_rights():
        variant = "chess960"
    board.chess960 = variant == "chess960"
    # Positions set up by hand have impossible castling rights and en-passant squares.
    # These are harmless and are removed.
    board.castling_rights = board.clean_castling_rights()
    if not board.has_legal_en_passant():
        board.ep_square = None
    if not board.is_valid():
        return (
            variant,
            chess.STARTING_FEN,
            False,
            "the FEN header is not a legal position",
        )
    return variant, board.fen(), board.chess960, None
