"""The routes of the tables and figures of studies."""

from html import escape
from urllib.parse import quote, urlencode

from live.manual.page_html import render_page
from live.server.http_values import (
    HTML,
    NO_CONTENT_POLICY,
    REVALIDATE,
    HttpResponse,
    problem,
    respond,
)
from live.server.route_table import RequestContext, route
from live.server.static_files import SVG_POLICY, StaticSite, build_content_policy
from live.server.visibility import Visibility
from live.user_files import on_own_thread


@route("/study")
async def list_studies(context: RequestContext) -> HttpResponse:
    """Return a page with links to the tables and figures of studies.

    The links contain the token of the request.
    """
    if isinstance(folder := _find_studies(context), HttpResponse):
        return folder
    query = f"?{urlencode(context.token)}" if context.token else ""
    links = "".join(
        f'<li><a href="study/{quote(name)}{escape(query)}">{escape(name)}</a></li>'
        for name in await on_own_thread(folder.list_files)
    )
    lead = '<h1>Study</h1><p><a href="manual/studies#study">What they show</a></p>'
    page = render_page("Study", "study", "", f"{lead}<ul>{links}</ul>")
    policy = build_content_policy(context.parts.frames)
    return respond(200, HTML, page, REVALIDATE, policy=policy)


@route("/study/{file}")
async def serve_study(context: RequestContext) -> HttpResponse | None:
    """Return a table or figure of a study."""
    if isinstance(folder := _find_studies(context), HttpResponse):
        return folder
    if (file := await on_own_thread(folder.read_file, context.name)) is None:
        return None
    policy = SVG_POLICY if context.name.endswith(".svg") else NO_CONTENT_POLICY
    return respond(200, file.media_type, file.body, REVALIDATE, policy=policy)


def _find_studies(context: RequestContext) -> StaticSite | HttpResponse:
    """Return the folder of studies, or an error response if it cannot be read."""
    if context.parts.study is None:
        return problem(
            404, "no folder of tables and figures is named: set [study] folder"
        )
    if context.allowed.visibility is Visibility.VENUE:
        return problem(404, "scores are hidden here, so studies are not shown")
    return context.parts.study
