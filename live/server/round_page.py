"""The page about one round, in the six languages of the screens. Pure.

The page contains only the summary that it is given, so it shows nothing that its reader
is not allowed to see.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

from live.manual.page_html import render_page
from live.messages.from_sources import RESULT_POINTS
from live.server.drawing import HEIGHT, WIDTH
from live.server.round_picture import (
    describe_round,
    name_round,
    shorten_name,
    write_date,
    write_figures,
)
from live.server.wire import API_PATH
from live.watch.round_names import RoundName
from live.watch.round_summary import (
    RoundGame,
    RoundPlace,
    RoundPlayer,
    RoundProgress,
    RoundSummary,
)
from live.watch.words import WORDS

#: Time after which a page about a round in progress reloads itself, seconds.
_AGAIN_S = 60
_PICTURE = f"{API_PATH[1:]}/round.png"
_DRAWING = f"{API_PATH[1:]}/round.svg"
_POINTS: dict[float | None, str] = {1.0: "1", 0.5: "½", 0.0: "0"}


class RoundLinks(NamedTuple):
    """The data for the links on the page."""

    root: str
    """Address of the service, ``https://HOST/``: chats need complete addresses."""
    token: Mapping[str, str]
    """The query parameter with the reader's token, for links; empty without a token."""
    has_picture: bool
    """True if this service can make PNG pictures, which chats need. The page shows the
    drawing as SVG otherwise."""


def render_round(
    summary: RoundSummary,
    language: str,
    links: RoundLinks,
    other_rounds: Iterable[RoundName],
    *,
    is_measuring: bool = False,
) -> bytes:
    """Return the page about a finished round as HTML.

    Args:
        summary: the round.
        language: the language of the page.
        links: the data for its links.
        other_rounds: the finished rounds to which the page has links.
        is_measuring: whether the engine is being measured, so that figures can change.
    """
    words = WORDS[language].round
    name = (summary.event, summary.round)
    title = name_round(name, language)
    description = describe_round(summary, language)
    date = write_date(summary, language)
    separated_date = f" · {escape(date)}" if date else ""
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p><strong>{escape(description)}</strong>{separated_date}</p>",
        f"<p>{escape(words.measuring)}</p>" if is_measuring else "",
        _render_highlights(summary, language, links),
        _render_results(summary, language, links),
    ]
    if summary.unscored:
        parts.append(f"<p>{escape(words.unscored.format(summary.unscored))}</p>")
    path = _PICTURE if links.has_picture else _DRAWING
    picture = escape(_build_round_address(path, name, language, links.token))
    parts.append(
        f'<p><a href="{picture}"><img src="{picture}"'
        f' width="{WIDTH}" height="{HEIGHT}"'
        f' alt="{escape(words.picture)}"></a></p>'
    )
    head = _render_head(title, description, name, language, links)
    return _render_page(
        title, "".join(parts), head, name, language, links, other_rounds
    )


def render_waiting(
    progress: RoundProgress | None,
    language: str,
    links: RoundLinks,
    other_rounds: Iterable[RoundName],
) -> bytes:
    """Return the page about a round in progress as HTML; it reloads itself regularly.

    ``progress`` is None if no such round is known.
    """
    words = WORDS[language].round
    if progress is None:
        name: RoundName = ("", "")
        title = words.rounds
        description = words.no_round
        head = ""
    else:
        name = progress.name
        title = name_round(name, language)
        description = words.waiting.format(progress.over, progress.games)
        head = f'<meta http-equiv="refresh" content="{_AGAIN_S}">\n'
    boards = _board_address(links)
    body = (
        f"<h1>{escape(title)}</h1><p>{escape(description)}</p>"
        f'<p><a href="{boards}">{escape(words.boards)}</a></p>'
    )
    return _render_page(title, body, head, name, language, links, other_rounds)


def _render_page(
    title: str,
    body: str,
    head: str,
    name: RoundName,
    language: str,
    links: RoundLinks,
    other_rounds: Iterable[RoundName],
) -> bytes:
    lines = []
    for other_round in other_rounds:
        current = " aria-current=page" if other_round == name else ""
        address = escape(
            _build_round_address("round", other_round, language, links.token)
        )
        text = escape(name_round(other_round, language))
        lines.append(f'<li><a href="{address}"{current}>{text}</a></li>')
    heading = escape(WORDS[language].round.rounds)
    contents = f"<p>{heading}</p><ul>{''.join(lines)}</ul>" if lines else ""
    whole = f'<div class="whole-round" lang="{language}">{body}</div>'
    return render_page(title, "round", contents, whole, head)


def _render_head(
    title: str, description: str, name: RoundName, language: str, links: RoundLinks
) -> str:
    """Return the Open Graph tags (ogp.me), which chats read for a preview."""
    tags = {
        "og:type": "website",
        "og:site_name": "live-rate",
        "og:title": title,
        "og:description": description,
    }
    if links.has_picture:
        # The address contains no token, since links are forwarded to people who should
        # have none.
        tags["og:image"] = links.root + _build_round_address(
            _PICTURE, name, language, {}
        )
        tags["og:image:width"] = str(WIDTH)
        tags["og:image:height"] = str(HEIGHT)
        tags["twitter:card"] = "summary_large_image"
    return "".join(
        f'<meta property="{name}" content="{escape(text)}">\n'
        for name, text in tags.items()
    )


def _render_highlights(summary: RoundSummary, language: str, links: RoundLinks) -> str:
    words = WORDS[language].round
    sections = []
    if summary.compared:
        sections = [
            _render_places(words.above, words.nobody, summary, summary.above),
            _render_places(words.below, words.nobody, summary, summary.below),
        ]
    moves = []
    for move in summary.moves:
        board = _board_address(links, move.game, move.ply)
        written = escape(getattr(move.move, language))
        text = escape(getattr(move.text, language))
        moves.append(f'<li><a href="{board}">{written}</a> {text}</li>')
    sections.append(
        _render_section(words.moves, moves or [f"<li>{escape(words.no_move)}</li>"])
    )
    legend = words.played_like
    if summary.compared:
        legend += f" · {words.percent}"
    return f'<div class="round">{"".join(sections)}</div><p>{escape(legend)}</p>'


def _render_section(heading: str, lines: Iterable[str]) -> str:
    return f"<section><h2>{escape(heading)}</h2><ul>{''.join(lines)}</ul></section>"


def _render_places(
    heading: str, nobody: str, summary: RoundSummary, places: Iterable[RoundPlace]
) -> str:
    lines = []
    for place in places:
        name = escape(shorten_name(place.player.name, summary))
        figures = f'<strong class="whole">{write_figures(place.player)}</strong>'
        lines.append(f"<li>{name} ({place.player.elo}): {figures}</li>")
    return _render_section(heading, lines or [f"<li>{escape(nobody)}</li>"])


def _render_results(summary: RoundSummary, language: str, links: RoundLinks) -> str:
    words = WORDS[language].round
    games = "".join(_render_game(game, language, links) for game in summary.games)
    return f'<h2>{escape(words.results)}</h2><ol class="results">{games}</ol>'


def _render_game(game: RoundGame, language: str, links: RoundLinks) -> str:
    """Return a line for each player, White first, and sentences about the result."""
    white, black = RESULT_POINTS.get(game.result, (None, None))
    words = WORDS[language].round
    board = "" if game.board is None else f"{words.board} {game.board}"
    sentences = "".join(
        f"<p>{escape(getattr(sentence, language))}</p>" for sentence in game.told
    )
    return (
        f'<li><a href="{_board_address(links, game.id)}" aria-label="{escape(board)}">'
        f"<small>{'' if game.board is None else game.board}</small>"
        f"{_render_side('○', game.white, white)}"
        f"{_render_side('●', game.black, black)}</a>"
        f"{sentences}</li>"
    )


def _render_side(sign: str, player: RoundPlayer, points: float | None) -> str:
    name = escape(" ".join(filter(None, (player.title, player.name or "?"))))
    if points == 1.0:
        name = f"<strong>{name}</strong>"
    elo = f"<small>{player.elo}</small>" if player.elo else ""
    return (
        f"<span>{sign} {name} {elo}</span><span>{_POINTS.get(points, '')}</span>"
        f'<span class="whole">{write_figures(player)}</span>'
    )


def _build_round_address(
    path: str, name: RoundName, language: str, token: Mapping[str, str]
) -> str:
    """Return the address of a round's page or picture, relative to the root."""
    event, round = name
    query = {"event": event, "round": round, "lang": language, **token}
    return f"{path}?{urlencode({key: text for key, text in query.items() if text})}"


def _board_address(links: RoundLinks, game: str = "", ply: int | None = None) -> str:
    """Return the escaped address of a board, or of all boards without a ``game``."""
    query = f"?{urlencode(links.token)}" if links.token else ""
    place = {"game": game} if game else {}
    if ply is not None:
        place["ply"] = str(ply)
    anchor = f"#{urlencode(place)}" if place else ""
    return escape(f"./{query}{anchor}")
