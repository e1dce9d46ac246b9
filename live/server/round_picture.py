"""The preview picture of a finished round, in the six languages of the screens. Pure.

The picture contains only the summary that it is given, so it shows nothing that its
reader is not allowed to see.
"""

from collections.abc import Iterator

from live.catalogue import round_percent, write_elo, write_percentile
from live.games.short_names import short_name
from live.messages.values import Color
from live.server.drawing import (
    FONTS,
    GROUND,
    HEIGHT,
    INK,
    QUIET,
    WIDTH,
    cut_text,
    draw_text,
)
from live.watch.round_names import RoundName
from live.watch.round_summary import (
    DecidingMove,
    RoundGame,
    RoundPlace,
    RoundPlayer,
    RoundSummary,
)
from live.watch.sentences import format_result
from live.watch.sides import find_winner
from live.watch.words import WORDS, RoundWords

#: Colours of figures above and below the rating.
_BETTER, _WORSE = "#4cc38a", "#ff8b7b"
#: Maximum number of games in a picture.
_ROWS = 9
#: Maximum length of a name beside a result, a name in a list, and the title,
#: characters.
_NAME = 18
_LONG_NAME = 24
_TITLE = 60
#: Horizontal positions of the columns, and vertical position of their first line,
#: pixels.
_LEFT, _MIDDLE, _RIGHT, _TOP = 30, 650, 1170, 165


def name_round(name: RoundName, language: str) -> str:
    """Return the name of a round for people: ``Open 2025 · Round 9``."""
    event, round = name
    if round[:1].isdigit():
        round = WORDS[language].round.round.format(round)
    return " · ".join(filter(None, (event, round))) or "live-rate"


def describe_round(summary: RoundSummary, language: str) -> str:
    """Return a line with the numbers of games, decided games and upsets."""
    words = WORDS[language].round
    parts = [
        words.games.format(len(summary.games)),
        words.decided.format(summary.decided),
    ]
    if summary.upsets:
        parts.append(words.upsets.format(summary.upsets))
    return " · ".join(parts)


def write_date(summary: RoundSummary, language: str) -> str:
    """Return the date of a round for people: ``2 May 2026``.

    Return only the year if the day or the month is unknown.
    """
    words = WORDS[language].round
    year, *month_and_day = summary.date.split(".")
    if len(month_and_day) != 2 or not all(map(str.isdecimal, month_and_day)):
        return year
    month, day = map(int, month_and_day)
    if not 1 <= month <= 12:
        return year
    name = words.months.split()[month - 1]
    return words.date.format(day=day, month=name, year=year)


def shorten_name(name: str, summary: RoundSummary) -> str:
    """Return a player's family name, with initials if another player shares it."""
    names: list[str] = []
    for game in summary.games:
        names += [game.white.name, game.black.name]
    return short_name(name or "?", names)


def write_figures(player: RoundPlayer) -> str:
    """Return a player's perceived rating and percentile: ``2496 · 94 %``."""
    figure = "–" if player.perceived is None else write_elo(player.perceived)
    if player.percentile is None:
        return figure
    return f"{figure} · {write_percentile(player.percentile)}"


def draw_round(summary: RoundSummary, language: str) -> str:
    """Return the picture of a round as SVG of 1200 by 630 pixels.

    It shows the results of the first boards, the players furthest above and below their
    ratings, and the two moves that decided most.
    """
    words = WORDS[language].round
    title = cut_text(name_round((summary.event, summary.round), language), _TITLE)
    footer = [words.percent] if summary.compared else []
    if summary.unscored:
        footer.append(words.unscored.format(summary.unscored))
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}"'
            f' viewBox="0 0 {WIDTH} {HEIGHT}" font-family="{FONTS}">'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{GROUND}"/>',
            draw_text(_LEFT, 56, 26, QUIET, title),
            draw_text(
                _RIGHT, 56, 22, QUIET, write_date(summary, language), anchor="end"
            ),
            draw_text(
                _LEFT, 108, 36, INK, describe_round(summary, language), is_bold=True
            ),
            *_draw_results(summary, words),
            *_draw_highlights(summary, language),
            draw_text(_LEFT, 608, 20, QUIET, " · ".join(footer)),
            draw_text(_RIGHT, 608, 22, QUIET, "live-rate", anchor="end"),
            "</svg>",
        )
    )


def _draw_results(summary: RoundSummary, words: RoundWords) -> Iterator[str]:
    # The last line shows the number of games left out, if there are any.
    has_room = len(summary.games) <= _ROWS
    shown_games = summary.games if has_room else summary.games[: _ROWS - 1]
    y = _TOP
    for game in shown_games:
        yield _draw_player(270, y, game, "white", summary)
        yield _draw_player(370, y, game, "black", summary)
        fill = _BETTER if game.upset_elo else INK
        result = format_result(game.result)
        yield draw_text(320, y, 21, fill, result, anchor="middle", is_bold=True)
        y += 46
    if not has_room:
        rest = words.others.format(len(summary.games) - len(shown_games))
        yield draw_text(320, y, 20, QUIET, rest, anchor="middle")


def _draw_player(
    x: int, y: int, game: RoundGame, color: Color, summary: RoundSummary
) -> str:
    """Return a player's name as SVG: bold for the winner, grey for the loser."""
    winner = find_winner(game.result)
    player: RoundPlayer = getattr(game, color)
    return draw_text(
        x,
        y,
        21,
        INK if winner in (None, color) else QUIET,
        cut_text(shorten_name(player.name, summary), _NAME),
        anchor="end" if color == "white" else "start",
        is_bold=winner == color,
    )


def _draw_highlights(summary: RoundSummary, language: str) -> Iterator[str]:
    """Draw the lists of players above and below their ratings, and of deciding moves.

    The lists of players are left out if the round has no comparison with ratings.
    """
    words = WORDS[language].round
    y = _TOP
    if summary.compared:
        figures = f"{words.played_like} · %"
        for heading, fill, places in (
            (words.above, _BETTER, summary.above),
            (words.below, _WORSE, summary.below),
        ):
            yield draw_text(_MIDDLE, y, 20, QUIET, heading)
            yield draw_text(_RIGHT, y, 20, QUIET, figures, anchor="end")
            for at, place in enumerate(places, 1):
                yield from _draw_place(y + 36 * at, fill, place, summary)
            if not places:
                yield draw_text(_MIDDLE, y + 36, 23, QUIET, words.nobody)
            y += 150
    yield draw_text(_MIDDLE, y, 20, QUIET, words.moves)
    yield draw_text(_RIGHT, y, 20, QUIET, words.expected, anchor="end")
    for at, move in enumerate(summary.moves, 1):
        yield from _draw_move(y + 36 * at, move, summary, language)
    if not summary.moves:
        yield draw_text(_MIDDLE, y + 36, 23, QUIET, words.no_move)


def _draw_place(
    y: int, fill: str, place: RoundPlace, summary: RoundSummary
) -> Iterator[str]:
    name = cut_text(shorten_name(place.player.name, summary), _LONG_NAME)
    yield draw_text(_MIDDLE, y, 23, INK, f"{name} {place.player.elo or ''}")
    figures = write_figures(place.player)
    yield draw_text(_RIGHT, y, 23, fill, figures, anchor="end", is_bold=True)


def _draw_move(
    y: int, move: DecidingMove, summary: RoundSummary, language: str
) -> Iterator[str]:
    name = cut_text(shorten_name(move.player, summary), _NAME)
    written = getattr(move.move, language).replace("\u00a0", " ")
    yield draw_text(_MIDDLE, y, 23, INK, f"{written}  {name}")
    fall = WORDS[language].round.fall.format(
        round_percent(move.before), round_percent(move.after)
    )
    yield draw_text(_RIGHT, y, 23, _WORSE, fall, anchor="end", is_bold=True)
