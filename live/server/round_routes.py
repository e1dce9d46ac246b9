"""The routes of finished rounds: summary, pictures, and the page."""

from collections.abc import Sequence

from live.games.player_identity import fold_name
from live.games.rounds import normalise_round
from live.server.http_values import (
    HTML,
    LATER,
    REVALIDATE,
    HttpResponse,
    problem,
    respond,
)
from live.server.made_files import ExportFailed
from live.server.png import can_render_png
from live.server.round_page import RoundLinks, render_round, render_waiting
from live.server.round_picture import draw_round
from live.server.route_table import RequestContext, respond_json, route
from live.server.static_files import SVG_POLICY, build_content_policy
from live.server.stream_filter import FilterError
from live.server.visibility import Visibility
from live.server.wire import API_PATH
from live.user_files import on_own_thread
from live.watch.round_names import RoundName, round_of
from live.watch.round_summary import (
    RoundSummary,
    list_finished_rounds,
    list_running_rounds,
    summarise_round,
)
from live.watch.words import LANGUAGES

#: Query parameters that select a round.
ROUND_QUERY = ("event", "round")


@route(f"{API_PATH}/round", RoundSummary, ROUND_QUERY)
async def show_round(context: RequestContext) -> HttpResponse:
    """Return the summary of a finished round; by default of the newest one."""
    summary = await _summarise(context)
    return summary if isinstance(summary, HttpResponse) else respond_json(summary)


@route(f"{API_PATH}/round.svg", "image/svg+xml", (*ROUND_QUERY, "lang"))
async def draw_round_svg(context: RequestContext) -> HttpResponse:
    """Return the summary of a finished round as an SVG drawing."""
    summary = await _summarise(context)
    if isinstance(summary, HttpResponse):
        return summary
    svg = draw_round(summary, _read_language(context)).encode("utf-8", "replace")
    return respond(200, "image/svg+xml", svg, REVALIDATE, policy=SVG_POLICY)


@route(f"{API_PATH}/round.png", "image/png", (*ROUND_QUERY, "lang"))
async def draw_round_png(context: RequestContext) -> HttpResponse:
    """Return the summary of a finished round as a PNG picture."""
    if not can_render_png():
        return problem(404, "pictures of rounds need pip install 'live-rate[picture]'")
    summary = await _summarise(context)
    if isinstance(summary, HttpResponse):
        return summary
    svg = draw_round(summary, _read_language(context))
    return await context.parts.pictures.respond(svg, lambda: svg, "the round")


@route("/round")
async def show_round_page(context: RequestContext) -> HttpResponse:
    """Return the page about a finished round, or about one in progress."""
    summary = await _summarise(context)
    language = _read_language(context)
    links = RoundLinks(context.base_url, context.token, can_render_png())
    games = list(context.state.games())
    finished = list_finished_rounds(games)
    if isinstance(summary, RoundSummary):
        status = 200
        is_measuring = context.state.engines().measuring is not None
        page = render_round(
            summary, language, links, finished, is_measuring=is_measuring
        )
    elif summary.status != 404 or context.allowed.visibility is Visibility.VENUE:
        return summary
    else:
        running = {progress.name: progress for progress in list_running_rounds(games)}
        name = _find_round(context, list(running))
        status = 404
        page = render_waiting(
            None if name is None else running[name], language, links, finished
        )
    policy = build_content_policy(context.parts.frames)
    vary = ("Vary", "Authorization")
    return respond(status, HTML, page, [*REVALIDATE, vary], policy=policy)


async def _summarise(context: RequestContext) -> RoundSummary | HttpResponse:
    """Return the summary of the requested round, or an error response."""
    _read_language(context)
    if context.allowed.visibility is Visibility.VENUE:
        return problem(404, "scores are hidden here, so rounds are not summed up")
    games = list(context.state.games())
    name = _find_round(context, list_finished_rounds(games))
    if name is None:
        return problem(
            404,
            "no such round has ended: it is shown when all its games have a result",
        )
    ids = [view.id for view in games if round_of(view) == name]

    async def sum_up() -> RoundSummary:
        records = map(context.state.game, ids)
        details = [detail for detail in records if detail is not None]
        return await on_own_thread(summarise_round, details)

    # The summary needs milliseconds per game, so it is computed only once for all
    # requests at the same time.
    key = (name, tuple(ids), context.allowed)
    try:
        return await context.parts.summaries.get(key, sum_up)
    except ExportFailed as error:
        return problem(503, f"the round: {error}", LATER)


def _find_round(
    context: RequestContext, rounds: Sequence[RoundName]
) -> RoundName | None:
    """Return the first of these rounds that the query selects; None without one."""
    parameters = dict(context.request.query)
    event = fold_name(parameters.get("event", ""))
    round = normalise_round(parameters.get("round", ""))
    for name in rounds:
        if event in ("", fold_name(name[0])) and round in ("", name[1]):
            return name
    return None


def _read_language(context: RequestContext) -> str:
    """Return the language in the query, or English by default.

    Raises:
        FilterError: the language is not supported.
    """
    language = dict(context.request.query).get("lang", "en")
    if language not in LANGUAGES:
        raise FilterError(f"lang {language!r} is none of {', '.join(LANGUAGES)}")
    return language
