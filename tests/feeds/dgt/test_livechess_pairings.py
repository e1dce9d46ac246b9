import json

import httpx

from live.events import Player
from live.feeds.livechess import LiveChessMessages, Seat, ask_seats
from live.rehearse.web_servers import ServedReply, ServedRequest, serving

ANN = {"fname": "Ann", "mname": None, "lname": "Boe", "title": "WGM", "fideid": "7"}
BEA = {"fname": "Bea", "mname": None, "lname": "Coy", "title": None, "fideid": None}
PAIRING = {"nr": 2, "uuid": "g", "white": ANN, "black": BEA, "live": True, "result": None}
FILES: dict[str, object] = {
    "tournaments": [{"uuid": "t", "description": "", "rounds": 2}],
    "tournament/t": {"uuid": "t", "name": "Open", "rounds": 2, "eboards": ["11", "12"]},
    "round/t/0": {
        "nr": 1,
        "date": None,
        "pairings": [{**PAIRING, "live": False, "result": "DRAW"}],
    },
    "round/t/1": {"nr": 2, "date": None, "pairings": [PAIRING]},
}


async def answer(request: ServedRequest, reply: ServedReply) -> None:
    found = FILES.get(request.path.removeprefix("/api/v1.0/"))
    if found is None:
        await reply.whole(404)
    else:
        await reply.whole(200, json.dumps(found).encode())


async def seats(path: str = "/api/v1.0") -> dict[str, Seat]:
    async with serving(answer) as origin, httpx.AsyncClient(timeout=5.0) as client:
        return await ask_seats(client, "hall", f"ws{origin.removeprefix('http')}{path}")


async def test_livechess_says_who_sits_at_which_board() -> None:
    white, black = Player("Boe, Ann", title="WGM", fide_id=7), Player("Coy, Bea")
    assert await seats() == {"12": Seat("Open", 2, 2, white, black, "*")}


async def test_without_a_tournament_there_are_no_names() -> None:
    assert await seats("/elsewhere") == {}


async def test_the_games_of_the_boards_bear_the_names_and_the_result() -> None:
    boards = LiveChessMessages()
    boards.receive(json.dumps({"response": "call", "id": 1, "param": [{"serialnr": "12"}]}))
    event = {"serialnr": "12", "start": "", "san": ["e4", "e5"], "match": True}
    (_, (before,)) = boards.receive(json.dumps({"response": "feed", "id": 1, "param": event}))
    assert before.headers.white.name == "?"
    (game,) = boards.seat(await seats())
    assert (game.headers.white.name, game.headers.round, game.headers.board) == (
        "Boe, Ann",
        "2.2",
        2,
    )
    assert boards.seat(await seats()) == []
    FILES["round/t/1"] = {"nr": 2, "pairings": [{**PAIRING, "live": False, "result": "WHITEWIN"}]}
    (game,) = boards.seat(await seats())
    assert (game.result, game.key, len(game.moves)) == ("1-0", before.key, 2)
