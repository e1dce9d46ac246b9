"""The container's files agree with the program, as far as can be seen without running
one.
"""

import json
import re
from itertools import chain
from pathlib import Path

import yaml

from live.commands.read_settings import read_settings
from live.process.memory import MALLOC
from live.process.sd_notify import build_unit
from live.server.metrics import MetricCounts, Metrics
from live.server.origins import OriginPolicy
from tests.server.world import World

FOLDER = Path(__file__).resolve().parents[1] / ".container"


def test_every_file_that_compose_mounts_is_there() -> None:
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    services = compose["services"].values()
    volumes = chain.from_iterable(each.get("volumes", ()) for each in services)
    mounted = [each.split(":")[0] for each in volumes if each.startswith("./")]
    assert len(mounted) >= 6
    assert not [each for each in mounted if not (FOLDER / each).is_file()]
    build = compose["services"]["live-rate"]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).is_file()
    ports = chain.from_iterable(each.get("ports", ()) for each in services)
    assert not [port for port in ports if not port.startswith("127.0.0.1:")]


def test_memory_is_held_as_under_systemd() -> None:
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    for name, value in MALLOC.items():
        assert re.search(rf"^ENV .*\b{name}={value}\b", text, re.M)
        assert f"{name}={value}" in build_unit(["/usr/bin/live-rate"])


def test_the_settings_are_understood_and_name_the_neighbours() -> None:
    config = read_settings(FOLDER / "live-rate.toml", {}, {})
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    assert config.mqtt.site
    assert config.mqtt.publish == "mqtt://mosquitto:1883"
    assert set(config.server.hosts) <= set(compose["services"])
    prometheus = yaml.safe_load((FOLDER / "prometheus.yml").read_text(encoding="utf-8"))
    (job,) = prometheus["scrape_configs"]
    (target,) = job["static_configs"][0]["targets"]
    assert target == f"{config.server.hosts[0]}:{config.server.port}"


def test_the_health_check_is_answered_under_the_shipped_settings() -> None:
    server = read_settings(FOLDER / "live-rate.toml", {}, {}).server
    asked = re.search(
        r"HEALTHCHECK .*http://([^/]+)/healthz", (FOLDER / "Containerfile").read_text()
    )
    assert asked is not None
    assert OriginPolicy(server).accepts_host(asked[1])


def test_nobody_gets_into_grafana_by_a_known_password() -> None:
    compose = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
    password = compose["services"]["grafana"]["environment"][
        "GF_SECURITY_ADMIN_PASSWORD"
    ]
    assert re.fullmatch(r"\$\{GRAFANA_PASSWORD:\?.+\}", password), (
        "compose starts without one"
    )


def test_the_dashboard_asks_for_figures_that_there_are() -> None:
    tally = MetricCounts()
    told = Metrics(World(1), tally).format_text().decode()
    known = set(re.findall(r"^# TYPE (live_rate_\w+)", told, re.M))
    dashboard = json.loads(
        (FOLDER / "grafana" / "dashboard.json").read_text(encoding="utf-8")
    )
    asked: set[str] = set()
    for target in chain.from_iterable(each["targets"] for each in dashboard["panels"]):
        asked.update(re.findall(r"live_rate_\w+", target["expr"]))
    assert len(asked) >= 10
    assert asked <= known
