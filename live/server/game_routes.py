"""The routes of the games, their players and their moments."""

from live.catalogue import rank_players
from live.messages.figures import GameDetail, GameView, PlayerView
from live.messages.moments import Moment
from live.messages.values import GameId, Value
from live.server.board_picture import draw_board
from live.server.event_reader import game_order
from live.server.http_values import HTML, REVALIDATE, HttpResponse, problem, respond
from live.server.pgn_writer import write_game
from live.server.png import can_render_png
from live.server.route_table import RequestContext, respond_json, route
from live.server.share_page import render_share_page
from live.server.stream_filter import GAME_FILTERS, parse_filter
from live.server.visibility import Visibility
from live.server.wire import API_PATH


class PublicGame(Value):
    """The id of a game for the public."""

    id: GameId


@route(f"{API_PATH}/games", {"games": GameView}, GAME_FILTERS)
def list_games(context: RequestContext) -> HttpResponse:
    """Return all games, without moves and curves."""
    games = filter(parse_filter(context.request.query).has_game, context.state.games())
    return respond_json({"games": sorted(games, key=game_order)})


@route(f"{API_PATH}/games/{{game}}.png", "image/png")
async def draw_game(context: RequestContext) -> HttpResponse | None:
    """Return a picture of a game's board and figures, unless scores are hidden."""
    detail = context.state.game(context.name)
    if detail is None:
        return None
    if context.allowed.visibility is Visibility.VENUE:
        return problem(404, "scores are hidden here, so boards have no picture")
    if not can_render_png():
        return problem(404, "pictures of boards need pip install 'live-rate[picture]'")
    key = (context.name, context.allowed)
    return await context.parts.pictures.respond(
        key, lambda: draw_board(detail), context.name
    )


@route(f"{API_PATH}/games/{{game}}/public", PublicGame)
def show_public_id(context: RequestContext) -> HttpResponse | None:
    """Return the id of a game for public links; with a delay it is a pseudonym."""
    if context.state.game(context.name) is None:
        return None
    id = context.name
    if context.allowed.visibility is Visibility.ARBITER:
        id = context.parts.public.names.public_id(id)
    return respond_json(PublicGame(id))


# This route must come before the next one, since an id can itself end in ".pgn".
@route(f"{API_PATH}/games/{{game}}", GameDetail)
def show_game(context: RequestContext) -> HttpResponse | None:
    """Return one game, with moves and curves."""
    game = context.state.game(context.name)
    return None if game is None else respond_json(game)


@route(f"{API_PATH}/games/{{game}}.pgn", "application/x-chess-pgn")
def write_pgn(context: RequestContext) -> HttpResponse | None:
    """Return one game as annotated PGN."""
    game = context.state.game(context.name)
    if game is None:
        return None
    body = write_game(game).encode("utf-8", "replace")
    return respond(200, "application/x-chess-pgn; charset=utf-8", body, REVALIDATE)


@route(f"{API_PATH}/players", {"players": PlayerView})
def list_players(context: RequestContext) -> HttpResponse:
    """Return all players, in the order of their ids."""
    return respond_json(
        {"players": sorted(context.state.players(), key=lambda player: player.id)}
    )


@route(f"{API_PATH}/standings", {"standings": PlayerView})
def list_standings(context: RequestContext) -> HttpResponse:
    """Return all players, in the order of their playing strength."""
    return respond_json(
        {
            "standings": [
                standing.view for standing in rank_players(context.state.players())
            ]
        }
    )


@route(f"{API_PATH}/moments", {"moments": Moment}, GAME_FILTERS)
def list_moments(context: RequestContext) -> HttpResponse:
    """Return notable moments of games, the newest first."""
    selected = parse_filter(context.request.query)
    games = {view.id for view in context.state.games() if selected.has_game(view)}
    moments = [moment for moment in context.state.moments() if moment.game in games]
    return respond_json(
        {
            "moments": sorted(
                moments, key=lambda moment: (-(moment.at_s or 0.0), moment.id)
            )
        }
    )


@route("/share", open=True)
def serve_share_page(context: RequestContext) -> HttpResponse:
    """Return a page that gives chats a preview of a board and redirects to it."""
    id = dict(context.request.query).get("game", "")
    game = context.state.game(id) if context.guest else None
    # A client without a required token has the visibility VENUE, so it gets no
    # picture.
    picture = context.allowed.visibility is not Visibility.VENUE and can_render_png()
    moments = [
        moment for moment in context.state.moments() if game and moment.game == game.id
    ]
    body = render_share_page(id, game, context.base_url, moments, picture=picture)
    vary = ("Vary", "Authorization")
    return respond(200, HTML, body, [*REVALIDATE, vary])
