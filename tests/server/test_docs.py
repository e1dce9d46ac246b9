"""Notes below fields are found, those of bases too.

The published schemas: whole, and true of real messages.

Every route over a real socket, validated against the published description.

The readable page: whole, well formed, harmless, and it leads nowhere that is not there.
"""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from live.manual.pages import TOPICS
from live.messages.health import FeedHealth
from live.messages.to_clients import HeartbeatMessage, HelloMessage, Message
from live.server import wire
from live.server.asyncapi import describe_messages
from live.server.authentication import Authentication, Guest
from live.server.docs_page import render_docs
from live.server.filtered_reader import snapshot
from live.server.http_values import HttpRequest, HttpResponse, read_target
from live.server.json_schemas import collect_notes
from live.server.retained_messages import RetainedMessages, encode_status
from live.server.routes import describe_api
from live.server.static_files import StaticSite
from live.server.stream_filter import PARAMETERS
from live.server.visibility import Visibility
from live.settings import ServerConfig
from tests.manual.html_reader import HtmlReader
from tests.server.serving import (
    build_routes,
)
from tests.server.world import GAMES, World, answer_without_waiting
from tests.watch.games import game as finished_game


class Base(msgspec.Struct):
    one: int
    """The first,
    told in two lines."""
    two: int = 2
    three: int = 3
    """The third."""


class Derived(Base):
    two: int = 4
    """Now it has one."""


def test_notes_of_a_type_and_of_its_base() -> None:
    assert collect_notes(Base) == {
        "one": "The first, told in two lines.",
        "three": "The third.",
    }
    assert collect_notes(Derived) == {**collect_notes(Base), "two": "Now it has one."}


def problems(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> list[str]:
    """What of the schema, whose references lead into ``document``, does not hold."""
    closed = _close_schema(
        {"$ref": "#/schema", "schema": schema, "components": document["components"]}
    )
    found = Draft202012Validator(closed).iter_errors(value)
    return [f"{error.json_path}: {error.message[:300]}" for error in found]


def _close_schema(schema: Any) -> Any:
    """A copy in which no object may hold more than its properties."""
    if isinstance(schema, dict):
        copy = {name: _close_schema(each) for name, each in schema.items()}
        if isinstance(schema.get("properties"), dict) and "type" in schema:
            copy.setdefault("additionalProperties", False)
        return copy
    return (
        [_close_schema(each) for each in schema] if isinstance(schema, list) else schema
    )


def as_json(document: dict[str, Any]) -> dict[str, Any]:
    """The document as it is sent."""
    sent: dict[str, Any] = json.loads(json.dumps(document))
    return sent


MESSAGES = as_json(describe_messages())


def references(value: Any) -> list[str]:
    return re.findall(r'"\$ref": "([^"]+)"', json.dumps(value))


def resolve(reference: str) -> Any:
    found = MESSAGES
    for part in reference.removeprefix("#/").split("/"):
        found = found[part]
    return found


def test_every_message_is_described_under_its_type() -> None:
    tags = {str(kind.__struct_config__.tag) for kind in Message.__args__}
    retained = {f"retained-{name}" for name in MESSAGES["channels"] if name != "live"}
    assert set(MESSAGES["components"]["messages"]) == tags | retained
    assert set(MESSAGES["channels"]["live"]["messages"]) == tags
    for tag in tags:
        payload = resolve(MESSAGES["components"]["messages"][tag]["payload"]["$ref"])
        assert payload["properties"]["type"]["enum"] == [tag]
        assert {"seq", "type"} <= set(payload["required"])
        assert MESSAGES["components"]["messages"][tag]["summary"]


def test_real_messages_are_what_the_schema_says() -> None:
    world = World(2)
    hello = HelloMessage(1, "e", world.info, "same-search", "0")
    messages: list[Message] = [hello, HeartbeatMessage(), snapshot(world)]
    for _ in range(150):
        messages.extend(world.step())
    messages.append(snapshot(world))
    seen = set()
    for message in messages:
        told = json.loads(wire.number(wire.encode(message), 3))
        seen.add(told["type"])
        payload = MESSAGES["components"]["messages"][told["type"]]["payload"]
        assert not problems(told, payload, MESSAGES)
    assert seen == set(MESSAGES["channels"]["live"]["messages"])


def test_what_a_broker_is_told_is_what_the_schema_says() -> None:
    channels = ((name, told["address"]) for name, told in MESSAGES["channels"].items())
    topics = {
        name: re.sub(r"\\{\w+\\}", "[^/]+", re.escape(to)) for name, to in channels
    }
    world, seen = World(2), set()
    for _ in range(8):
        for _ in range(60):
            world.step()
        for topic, payload in RetainedMessages(world, "live-rate").take(10_000).items():
            (name,) = {each for each in topics if re.fullmatch(topics[each], topic)} - {
                "live"
            }
            told = json.loads(payload)
            message = MESSAGES["components"]["messages"][f"retained-{name}"]
            assert not problems(told, message["payload"], MESSAGES)
            assert "seq" not in told
            seen.add(name)
    message = MESSAGES["components"]["messages"]["retained-status"]
    assert not problems(
        json.loads(encode_status("online")), message["payload"], MESSAGES
    )
    assert seen | {"status"} == set(MESSAGES["channels"]) - {"live"}


def test_every_close_code_is_described() -> None:
    description = describe_messages()["info"]["description"]
    assert re.findall(r"[:;] (\d{4}) ", description) == [
        str(int(code)) for code in wire.CloseCode
    ]


def test_every_reference_leads_somewhere_and_channels_fit_together() -> None:
    found = set(references(MESSAGES))
    assert len(found) > 20 and all(map(resolve, found))
    sends = [
        each["channel"]["$ref"].rpartition("/")[2]
        for each in MESSAGES["operations"].values()
    ]
    assert sends == list(MESSAGES["channels"])
    for name, channel in MESSAGES["channels"].items():
        assert set(channel.get("parameters", ())) == set(
            re.findall(r"{(\w+)}", channel["address"])
        )
        for reference in references(channel["messages"]):
            assert resolve(reference)["payload"], name


def test_notes_and_sights_are_told() -> None:
    ply = MESSAGES["components"]["schemas"]["PlyView"]["properties"]
    assert "White's side" in ply["score_cp"]["description"]
    assert ply["score_cp"]["description"].endswith("Withheld where scores are hidden.")
    assert "Withheld" not in ply["clock_s"].get("description", "")
    state = MESSAGES["components"]["schemas"]["EngineState"]["properties"]
    assert state["searching"]["description"].endswith("Only for arbiters.")


DOCUMENT = as_json(describe_api())
NOBODY = "nobody"


def busy_world(seed: int = 4) -> World:
    world = World(seed, steps=300)
    for game in GAMES:
        world.appear(game)
    # A round of it is over.
    world.held["over"] = finished_game(
        [0.5] * 4, id="over", event="Closed", result="1-0"
    )
    # Whatever happened last, it is ready to serve.
    world.feed_health = (FeedHealth("demo", "live"),)
    return world


WORLD = busy_world()
ROUTES = build_routes(WORLD, StaticSite(Path("/nowhere")))


async def picture(svg: str) -> bytes:
    return b"\x89PNG"


def targets(path: str) -> list[str]:
    """The path with real ids, with an unknown one, and with queries, good and bad."""
    made = [path.replace("{game}", quote(id, safe="")) for id in (*GAMES, NOBODY)]
    queries = [""]
    for parameter in DOCUMENT["paths"][path]["get"].get("parameters", ()):
        if parameter["in"] == "query":
            queries += [f"?{parameter['name']}={value}" for value in ("g1", "")]
    return [target + query for target, query in product(dict.fromkeys(made), queries)]


def complaints(path: str, response: HttpResponse) -> list[str]:
    """What of an answer the document does not say."""
    described = DOCUMENT["paths"][path]["get"]["responses"]
    described = described.get(str(response.status)) or described["default"]
    if "content" not in described:
        return ["a body is not described"] if response.body else []
    kind = dict(response.headers).get("Content-Type", "")
    media = described["content"].get(kind.split(";")[0])
    if media is None:
        return [f"{kind} is not described"]
    if "json" not in kind:
        return [] if response.body else ["no body"]
    return problems(json.loads(response.body), media["schema"], DOCUMENT)


ARBITER = Guest(Visibility.ARBITER, digest="x", can_read_metrics=True)


@pytest.mark.parametrize("guest", [ARBITER, None], ids=["arbiter", "no token"])
@pytest.mark.parametrize("path", DOCUMENT["paths"])
async def test_every_route_answers_as_described(
    path: str, guest: Guest | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("live.server.pictures.render_png", picture)
    monkeypatch.setattr("live.server.game_routes.draw_board", lambda game: "")
    routes = build_routes(WORLD, StaticSite(Path("/nowhere")))
    seen = set()
    for target in targets(path):
        request = HttpRequest("GET", *read_target(target), {})
        response = await routes.answer(request, guest)
        assert not complaints(path, response), target
        seen.add(response.status)
        if tag := dict(response.headers).get("ETag"):
            request.headers["if-none-match"] = tag
            again = await routes.answer(request, guest)
            if again.status == 304:  # metrics may have changed meanwhile
                assert not complaints(path, again)
    if guest is None:
        assert seen <= {200, 401}
    else:
        assert 200 in seen
        # What is named may not be there, and a query may make no sense.
        assert (404 in seen) == ("{" in path or "/round" in path)


#: What is answered without waiting; pictures are drawn, and rounds summed up, beside
#: the loop.
AT_ONCE = [
    each.replace("{game}", "g1")
    for each in DOCUMENT["paths"]
    if not each.endswith(".png") and "/round" not in each
]


@given(
    path=st.text(max_size=30) | st.sampled_from(AT_ONCE),
    query=st.lists(
        st.tuples(
            st.sampled_from([*PARAMETERS, "token"]) | st.text(), st.text(max_size=250)
        ),
        max_size=70,
    ),
    method=st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "X"]),
    headers=st.dictionaries(
        st.sampled_from(["authorization", "if-none-match", "accept-encoding"]),
        st.text(st.characters(codec="latin-1"), max_size=40),
    ),
)
@settings(max_examples=50)
def test_no_request_fails_and_every_refusal_is_a_problem(
    path: str, query: list[tuple[str, str]], method: str, headers: dict[str, str]
) -> None:
    request = HttpRequest(method, "/" + path.lstrip("/"), tuple(query), headers)
    for guard in (
        Authentication(None, ServerConfig()),
        Authentication({}, ServerConfig()),
    ):
        guest = guard.authenticate(request)
        response = answer_without_waiting(ROUTES.answer(request, guest))
        assert response.status in (200, 304, 400, 401, 403, 404, 405)
        if response.status >= 400:
            schema = {"$ref": "#/components/schemas/ProblemAnswer"}
            assert not problems(json.loads(response.body), schema, DOCUMENT)


def test_schemas_are_schemas() -> None:
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_readable_page_is_whole_and_leads_nowhere_that_is_not_there() -> None:
    reader, document = HtmlReader(render_docs(describe_api())), describe_messages()
    assert reader.open == []
    assert not {*reader.tags} & {"script", "img", "iframe", "object"}
    assert len(reader.ids) == len(set(reader.ids)) > 20
    site = {"./", "overlays", "manual/", "docs", "asyncapi.json", "openapi.json"}
    for link in reader.links:
        if link.startswith("manual/") and link != "manual/":
            assert link.removeprefix("manual/") in TOPICS
        else:
            assert link in site or link.removeprefix("#") in reader.ids, link
    # Its contents lead to every section and type.
    inner = [
        id for id in reader.ids if id != "main" and not id.startswith("live-rate-")
    ]
    assert {f"#{id}" for id in inner} <= {*reader.links}
    assert 'string (left out if "standard")' in reader.text
    for channel in document["channels"].values():
        assert channel["address"] in reader.text
    for name, schema in document["components"]["schemas"].items():
        for said in (name.removeprefix("Retained"), *schema.get("properties", ())):
            assert said in reader.text
