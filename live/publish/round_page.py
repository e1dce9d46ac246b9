"""A round that is over as a picture for links and as a page. Pure.

Both say the same, in the six languages of moments, and hold nothing but the summary that they are
given: what its reader may not see is not in it.
"""

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import NamedTuple
from urllib.parse import urlencode

from live.catalogue import elo_text, percentile_text
from live.events import Color
from live.games.player_identity import short_name
from live.manual.pages import frame
from live.publish.exports import (
    FONTS,
    GROUND,
    HEIGHT,
    INK,
    QUIET,
    WIDTH,
    cut_text,
    draw_text,
)
from live.publish.wire import API_PATH
from live.story.round_summary import (
    DecidingMove,
    RoundGame,
    RoundName,
    RoundPlace,
    RoundPlayer,
    RoundSummary,
)
from live.story.sentences import result_text

#: Above and below what is usual.
_BETTER, _WORSE = "#4cc38a", "#ff8b7b"
#: A picture has room for so many games, and a line for so many characters of a name.
_ROWS, _NAME, _LONG_NAME, _TITLE = 9, 18, 24, 60


class RoundWords(NamedTuple):
    """What picture and page say in one language. ``{}`` is a number or a name."""

    round: str
    games: str
    decided: str
    upsets: str
    above: str
    below: str
    nobody: str
    moves: str
    expected: str
    no_move: str
    others: str
    unscored: str
    percent: str
    results: str
    board: str
    white: str
    black: str
    played_like: str
    picture: str
    rounds: str


WORDS: dict[str, RoundWords] = {
    "en": RoundWords(
        round="Round {}",
        games="Games: {}",
        decided="won: {}",
        upsets="upsets: {}",
        above="Above the usual",
        below="Below the usual",
        nobody="nobody",
        moves="Moves that decided most",
        expected="expected score",
        no_move="none",
        others="and {} more",
        unscored="moves not scored yet: {}",
        percent="%: better than so many games at that Elo",
        results="Results",
        board="Board",
        white="White",
        black="Black",
        played_like="Played like",
        picture="Picture to share",
        rounds="Rounds that are over",
    ),
    "de": RoundWords(
        round="Runde {}",
        games="Partien: {}",
        decided="gewonnen: {}",
        upsets="Überraschungen: {}",
        above="Über dem Üblichen",
        below="Unter dem Üblichen",
        nobody="niemand",
        moves="Züge, die entschieden",
        expected="Erwartung",
        no_move="keine",
        others="und {} weitere",
        unscored="noch nicht bewertete Züge: {}",
        percent="%: besser als so viele Partien bei dieser Elo",
        results="Ergebnisse",
        board="Brett",
        white="Weiß",
        black="Schwarz",
        played_like="Spielte wie",
        picture="Bild zum Teilen",
        rounds="Runden, die vorbei sind",
    ),
    "fr": RoundWords(
        round="Ronde {}",
        games="Parties : {}",
        decided="gagnées : {}",
        upsets="surprises : {}",
        above="Au-dessus de l’habituel",
        below="Au-dessous de l’habituel",
        nobody="personne",
        moves="Les coups décisifs",
        expected="score attendu",
        no_move="aucun",
        others="et {} autres",
        unscored="coups pas encore évalués : {}",
        percent="% : mieux que tant de parties à cet Elo",
        results="Résultats",
        board="Échiquier",
        white="Blancs",
        black="Noirs",
        played_like="A joué comme",
        picture="Image à partager",
        rounds="Rondes terminées",
    ),
    "es": RoundWords(
        round="Ronda {}",
        games="Partidas: {}",
        decided="ganadas: {}",
        upsets="sorpresas: {}",
        above="Por encima de lo usual",
        below="Por debajo de lo usual",
        nobody="nadie",
        moves="Las jugadas decisivas",
        expected="esperanza",
        no_move="ninguna",
        others="y {} más",
        unscored="jugadas sin evaluar aún: {}",
        percent="%: mejor que tantas partidas con ese Elo",
        results="Resultados",
        board="Tablero",
        white="Blancas",
        black="Negras",
        played_like="Jugó como",
        picture="Imagen para compartir",
        rounds="Rondas terminadas",
    ),
    "it": RoundWords(
        round="Turno {}",
        games="Partite: {}",
        decided="vinte: {}",
        upsets="sorprese: {}",
        above="Sopra il consueto",
        below="Sotto il consueto",
        nobody="nessuno",
        moves="Le mosse decisive",
        expected="attesa",
        no_move="nessuna",
        others="e altre {}",
        unscored="mosse non ancora valutate: {}",
        percent="%: meglio di tante partite con quell’Elo",
        results="Risultati",
        board="Scacchiera",
        white="Bianco",
        black="Nero",
        played_like="Ha giocato come",
        picture="Immagine da condividere",
        rounds="Turni conclusi",
    ),
    "ru": RoundWords(
        round="Тур {}",
        games="Партий: {}",
        decided="с победой: {}",
        upsets="сенсаций: {}",
        above="Выше обычного",
        below="Ниже обычного",
        nobody="никто",
        moves="Решающие ходы",
        expected="ожидание",
        no_move="нет",
        others="и ещё {}",
        unscored="ходов пока без оценки: {}",
        percent="%: лучше стольких партий с таким Эло",
        results="Результаты",
        board="Доска",
        white="Белые",
        black="Чёрные",
        played_like="Играл(а) как",
        picture="Картинка для ссылки",
        rounds="Завершённые туры",
    ),
}


def name_round(name: RoundName, language: str) -> str:
    """Write event and round as people name them: ``Open 2025 · Round 9``."""
    event, round = name
    said = WORDS[language].round.format(round) if round[:1].isdigit() else round
    return " · ".join(filter(None, (event, said))) or "live-rate"


def describe_round(summary: RoundSummary, language: str) -> str:
    """Write how many games there were, how many were won, and by whom nobody expected."""
    words = WORDS[language]
    said = [words.games.format(len(summary.games)), words.decided.format(summary.decided)]
    if summary.upsets:
        said.append(words.upsets.format(summary.upsets))
    return " · ".join(said)


# --- the picture ----------------------------------------------------------------------------------


def round_svg(summary: RoundSummary, language: str) -> str:
    """Draw the round as SVG of 1200 by 630: the results of the first boards, who played above and
    below what is usual, and the two moves that decided most.
    """
    words = WORDS[language]
    title = cut_text(name_round((summary.event, summary.round), language), _TITLE)
    footer = [words.percent]
    if summary.unscored:
        footer.append(words.unscored.format(summary.unscored))
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
            f' viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{FONTS}">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
            draw_text(30, 56, 26, QUIET, title),
            draw_text(1170, 56, 22, QUIET, summary.date.replace(".", "-"), anchor="end"),
            draw_text(30, 108, 36, INK, describe_round(summary, language), is_bold=True),
            *_draw_results(summary, words),
            draw_text(1170, 165, 20, QUIET, f"{words.played_like} · %", anchor="end"),
            draw_text(1170, 315, 20, QUIET, f"{words.played_like} · %", anchor="end"),
            draw_text(1170, 465, 20, QUIET, words.expected, anchor="end"),
            *_draw_places(165, words.above, words.nobody, _BETTER, summary, summary.above),
            *_draw_places(315, words.below, words.nobody, _WORSE, summary, summary.below),
            *_draw_moves(465, summary, language),
            draw_text(30, 608, 20, QUIET, " · ".join(footer)),
            draw_text(1170, 608, 22, QUIET, "live-rate", anchor="end"),
            "</svg>",
        )
    )


def _draw_results(summary: RoundSummary, words: RoundWords) -> Iterator[str]:
    # What is left out takes a line of its own.
    has_room = len(summary.games) <= _ROWS
    shown = summary.games if has_room else summary.games[: _ROWS - 1]
    y = 165
    for game in shown:
        yield _draw_player(270, y, game, "white", summary)
        yield _draw_player(370, y, game, "black", summary)
        fill = _BETTER if game.upset_elo else INK
        yield draw_text(320, y, 21, fill, result_text(game.result), anchor="middle", is_bold=True)
        y += 46
    if not has_room:
        left_out = len(summary.games) - len(shown)
        yield draw_text(320, y, 20, QUIET, words.others.format(left_out), anchor="middle")


def _draw_player(x: int, y: int, game: RoundGame, color: Color, summary: RoundSummary) -> str:
    """Return a name beside a result: a winner's is bold, a loser's quiet."""
    winners: dict[str, Color] = {"1-0": "white", "0-1": "black"}
    winner = winners.get(game.result)
    player: RoundPlayer = getattr(game, color)
    return draw_text(
        x,
        y,
        21,
        INK if winner in (None, color) else QUIET,
        cut_text(_short(player, summary), _NAME),
        anchor="end" if color == "white" else "start",
        is_bold=winner == color,
    )


def _draw_places(
    y: int,
    heading: str,
    nobody: str,
    fill: str,
    summary: RoundSummary,
    places: Iterable[RoundPlace],
) -> Iterator[str]:
    yield draw_text(650, y, 20, QUIET, heading)
    for place in places:
        y += 36
        name = cut_text(_short(place.player, summary), _LONG_NAME)
        yield draw_text(650, y, 23, INK, f"{name} {place.player.elo or ''}")
        yield draw_text(1170, y, 23, fill, _figures(place.player), anchor="end", is_bold=True)
    if not places:
        yield draw_text(650, y + 36, 23, QUIET, nobody)


def _draw_moves(y: int, summary: RoundSummary, language: str) -> Iterator[str]:
    words = WORDS[language]
    yield draw_text(650, y, 20, QUIET, words.moves)
    for each in summary.moves:
        y += 36
        player = cut_text(_shorten(each.player, summary), _NAME)
        move = getattr(each.move, language).replace("\u00a0", " ")
        yield draw_text(650, y, 23, INK, f"{move}  {player}")
        yield draw_text(1170, y, 23, _WORSE, _fall(each), anchor="end", is_bold=True)
    if not summary.moves:
        yield draw_text(650, y + 36, 23, QUIET, words.no_move)


def _short(player: RoundPlayer, summary: RoundSummary) -> str:
    return _shorten(player.name, summary)


def _shorten(name: str, summary: RoundSummary) -> str:
    """Return the family name, with what tells it from the others of the round."""
    names = [player.name for game in summary.games for player in (game.white, game.black)]
    return short_name(name or "?", names)


def _figures(player: RoundPlayer) -> str:
    figure = "–" if player.perceived is None else elo_text(player.perceived)
    if player.percentile is None:
        return figure
    return f"{figure} · {percentile_text(player.percentile)}"


def _fall(move: DecidingMove) -> str:
    return f"{move.before:.0f} → {move.after:.0f} %"


# --- the page -------------------------------------------------------------------------------------


class RoundLinks(NamedTuple):
    """Where the page leads to."""

    root: str
    """Where the service is, ``https://HOST/``: chats need whole addresses."""
    token: Mapping[str, str]
    """What lets the reader in, as links repeat it; empty where there is none."""
    has_picture: bool
    """Whether pictures can be drawn here."""


def round_address(
    path: str, name: RoundName, language: str, token: Mapping[str, str] | None = None
) -> str:
    """Return the address of a round's page, picture or data below the root."""
    event, round = name
    query = {"event": event, "round": round, "lang": language, **(token or {})}
    return f"{path}?{urlencode({key: text for key, text in query.items() if text})}"


def round_page(
    summary: RoundSummary, language: str, links: RoundLinks, others: Iterable[RoundName]
) -> bytes:
    """Return the whole page of a round, HTML; ``others`` are the rounds that it leads on to."""
    words = WORDS[language]
    name = (summary.event, summary.round)
    title, said = name_round(name, language), describe_round(summary, language)
    parts = [
        f"<h1>{escape(title)}</h1><p><strong>{escape(said)}</strong> {escape(summary.date)}</p>",
        '<div class="round">',
        _list_places(words.above, words.nobody, summary, summary.above),
        _list_places(words.below, words.nobody, summary, summary.below),
        _list_moves(summary, language, links),
        f"</div><p>{escape(words.percent)}</p>",
        _tabulate_results(summary, words, links),
    ]
    if summary.unscored:
        parts.append(f"<p>{escape(words.unscored.format(summary.unscored))}</p>")
    picture = round_address(f"{API_PATH[1:]}/round.png", name, language, links.token)
    if links.has_picture:
        parts.append(
            f'<p><a href="{escape(picture)}"><img src="{escape(picture)}" width="{WIDTH}"'
            f' height="{HEIGHT}" alt="{escape(words.picture)}"></a></p>'
        )
    side = "".join(
        f'<li><a href="{escape(round_address("round", each, language, links.token))}"'
        f"{' aria-current=page' if each == name else ''}>{escape(name_round(each, language))}</a>"
        "</li>"
        for each in others
    )
    contents = f"<p>{escape(words.rounds)}</p><ul>{side}</ul>"
    body = f'<div lang="{language}">{"".join(parts)}</div>'
    return frame(title, "round", contents, body, _head(title, said, name, language, links))


def _head(title: str, said: str, name: RoundName, language: str, links: RoundLinks) -> str:
    """Return what chats read of the page (ogp.me)."""
    tags = {
        "og:type": "website",
        "og:site_name": "live-rate",
        "og:title": title,
        "og:description": said,
    }
    if links.has_picture:
        # Whoever is sent the link has no token.
        tags["og:image"] = links.root + round_address(f"{API_PATH[1:]}/round.png", name, language)
        tags["og:image:width"] = str(WIDTH)
        tags["og:image:height"] = str(HEIGHT)
        tags["twitter:card"] = "summary_large_image"
    return "".join(
        f'<meta property="{name}" content="{escape(text)}">\n' for name, text in tags.items()
    )


def _list_places(
    heading: str, nobody: str, summary: RoundSummary, places: Iterable[RoundPlace]
) -> str:
    lines = "".join(
        f"<li>{escape(_short(each.player, summary))} ({each.player.elo}):"
        f' <strong class="whole">{_figures(each.player)}</strong></li>'
        for each in places
    )
    lines = lines or f"<li>{escape(nobody)}</li>"
    return f"<section><h2>{escape(heading)}</h2><ul>{lines}</ul></section>"


def _list_moves(summary: RoundSummary, language: str, links: RoundLinks) -> str:
    words = WORDS[language]
    lines = "".join(
        f'<li><a href="{_board(each.game, links, each.ply)}">'
        f"{escape(getattr(each.move, language))}</a> {escape(getattr(each.text, language))}</li>"
        for each in summary.moves
    )
    lines = lines or f"<li>{escape(words.no_move)}</li>"
    return f"<section><h2>{escape(words.moves)}</h2><ul>{lines}</ul></section>"


def _tabulate_results(summary: RoundSummary, words: RoundWords, links: RoundLinks) -> str:
    columns = (words.board, words.white, words.played_like, "", words.black, words.played_like)
    head = "".join(f"<th>{escape(each)}</th>" for each in columns)
    rows = "".join(_row(game, links) for game in summary.games)
    return (
        f'<h2>{escape(words.results)}</h2><div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _row(game: RoundGame, links: RoundLinks) -> str:
    white, black = _cell(game.white, game.result == "1-0"), _cell(game.black, game.result == "0-1")
    board = "" if game.board is None else str(game.board)
    result = f'<a href="{_board(game.id, links)}">{escape(result_text(game.result))}</a>'
    figures = [f'<td class="whole">{_figures(each)}</td>' for each in (game.white, game.black)]
    return (
        f'<tr><td>{board}</td><td>{white}</td>{figures[0]}<td class="whole">{result}</td>'
        f"<td>{black}</td>{figures[1]}</tr>"
    )


def _cell(player: RoundPlayer, has_won: bool) -> str:
    said = " ".join(filter(None, (player.title, player.name or "?", str(player.elo or ""))))
    return f"<strong>{escape(said)}</strong>" if has_won else escape(said)


def _board(game: str, links: RoundLinks, ply: int | None = None) -> str:
    place = {"game": game} | ({} if ply is None else {"ply": str(ply)})
    query = f"?{urlencode(links.token)}" if links.token else ""
    return escape(f"./{query}#{urlencode(place)}")
