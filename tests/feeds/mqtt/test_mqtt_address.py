import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.feeds.source_address import MqttAddress, mqtt_address, public_name, recognise, wrong_topic


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("mqtt://hall/chess/#", MqttAddress("hall", 1883, False, "chess/#")),
        ("mqtts://hall/+/games/#", MqttAddress("hall", 8883, True, "+/games/#")),
        ("mqtt://hall:1884/a?b=1@2", MqttAddress("hall", 1884, False, "a?b=1@2")),
        ("mqtt://me@hall/a", MqttAddress("hall", 1883, False, "a", "me")),
        ("mqtt://me:p%40s%2F@hall/a", MqttAddress("hall", 1883, False, "a", "me", "p@s/")),
        ("mqtt://[::1]:9/a", MqttAddress("::1", 9, False, "a")),
        ("mqtt://hall", MqttAddress("hall", 1883, False, "")),
        ("mqtt://hall//a", MqttAddress("hall", 1883, False, "/a")),
        ("http://hall/a", None),
        ("mqtt:///a", None),
        ("mqtt://hall:99999/a", None),
        ("mqtt://hall:me/a", None),
    ],
)
def test_addresses(text: str, address: MqttAddress | None) -> None:
    assert mqtt_address(text) == address


@pytest.mark.parametrize(
    ("topic", "problem"),
    [
        ("a/#", None),
        ("#", None),
        ("+/b/+", None),
        ("$share/group/a", None),
        ("", "names no topic"),
        ("a/#/b", "has a # that is not the last level of its topic"),
        ("a#", "has a # that is not the last level of its topic"),
        ("a/b+", "has a + that is not a whole level of its topic"),
        ("a\x00", "has a topic that no broker takes"),
        ("a" * 70_000, "has a topic that no broker takes"),
    ],
)
def test_topics(topic: str, problem: str | None) -> None:
    assert wrong_topic(topic) == problem


def test_no_name_shows_user_or_password() -> None:
    for text in ("mqtt://me:secret@hall/a/#", "mqtt+mqtt://me:secret@hall/a/#"):
        source = recognise(text)
        assert source.kind == "mqtt"
        assert source.name.endswith("mqtt://hall/a/#") and "@" not in source.name


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_none(text: str) -> None:
    mqtt_address(text)
    found = mqtt_address(f"mqtt://{text}")
    if found is not None:
        assert found.password == "" or found.password not in public_name(found.public)
        assert mqtt_address(found.public) == MqttAddress(
            found.host, found.port, found.tls, found.topic
        )
    wrong_topic(text)
