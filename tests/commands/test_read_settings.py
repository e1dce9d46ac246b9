"""Settings are read in the order of precedence, and what is wrong is refused."""

from pathlib import Path

import pytest

from live.commands.read_settings import build_variable, find_config_file, read_settings
from live.errors import ConfigError
from live.setting_keys import SETTINGS
from live.settings import Config

ROOT = Path(__file__).resolve().parent.parent.parent
#: Where names that went are listed.
GONE = "For removed settings: live-rate manual changes"


def write(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_has_a_variable_of_its_own() -> None:
    variables = [build_variable(key) for key in SETTINGS]
    assert len(set(variables)) == len(variables)
    assert (
        build_variable("feeds.lichess.base_url") == "LIVE_RATE_FEEDS_LICHESS_BASE_URL"
    )
    assert "LIVE_RATE_CONFIG" not in variables


def test_flags_beat_environment_beats_file_beats_defaults(tmp_path: Path) -> None:
    path = write(tmp_path, "[server]\nport = 1\n[feeds]\npoll_s = 1\ntimeout_s = 1\n")
    env = {"LIVE_RATE_SERVER_PORT": "2", "LIVE_RATE_FEEDS_POLL_S": "2.5", "HOME": "/"}
    config = read_settings(path, env, {"server.port": 3, "server.host": None})
    assert config.server.port == 3
    assert config.feeds.poll_s == 2.5
    assert config.feeds.timeout_s == 1.0
    assert config.server.host == Config().server.host


def test_a_wrong_file_is_refused_with_file_key_and_remedy(tmp_path: Path) -> None:
    path = write(tmp_path, "[server]\nprot = 1")
    with pytest.raises(ConfigError) as error:
        read_settings(path, {}, {})
    line = f"server.prot: there is no such setting. Did you mean server.port? {GONE}"
    assert str(error.value) == f"{path}: {line}"


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"cannot be read \(No such file.*--config FILE"
    ):
        read_settings(tmp_path / "none.toml", {}, {})
    with pytest.raises(ConfigError, match="cannot be read"):
        read_settings(tmp_path, {}, {})
    with pytest.raises(ConfigError, match=r"is not valid TOML.*line 1"):
        read_settings(write(tmp_path, "a = b\n"), {}, {})
    (tmp_path / "config.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_settings(tmp_path / "config.toml", {}, {})


def test_the_environment_is_checked_like_the_file() -> None:
    with pytest.raises(ConfigError) as error:
        read_settings(None, {"LIVE_RATE_ENGINE_NODE": "1"}, {})
    assert str(error.value) == (
        "environment: LIVE_RATE_ENGINE_NODE: there is no such setting."
        f" Did you mean LIVE_RATE_ENGINE_NODES? {GONE}"
    )
    with pytest.raises(ConfigError, match=r'LIVE_RATE_SERVER_PORT: "x" does not fit'):
        read_settings(None, {"LIVE_RATE_SERVER_PORT": "x"}, {})
    assert read_settings(None, {"LIVE_RATE_CONFIG": "anything"}, {}) == Config()
    rating = read_settings(None, {"LIVE_RATE_RATING_ENGINE_RATING": "2800"}, {}).rating
    assert rating.engine_rating == 2800


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ({"server.port": 70000}, r"^command line: server\.port: 70000 does not fit"),
        ({"engine.nodes": 100_000, "engine.movetime_ms": 5}, "and engine.movetime_ms"),
        ({"engine.nodes": 0}, "without limit"),
        ({"engine.threads": 2}, r"engine\.threads: .*Set engine\.threads to 1"),
        (
            {"engine.depth": 12, "engine.adaptive": True},
            r"engine\.adaptive: a search to a depth",
        ),
    ],
)
def test_flags_that_do_not_fit_or_contradict_each_other_are_refused(
    flags: dict[str, object], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        read_settings(None, {}, flags)


def limits(config: Config) -> tuple[int, int, int]:
    return config.engine.nodes, config.engine.depth, config.engine.movetime_ms


def test_one_limit_is_left_whichever_was_set(tmp_path: Path) -> None:
    everything = (ROOT / "config.toml").read_text(encoding="utf-8")
    deeper = write(tmp_path, everything.replace("depth = 0", "depth = 12"))
    assert limits(read_settings(deeper, {}, {})) == (0, 12, 0)
    # Whatever is set nearer to the user replaces what was set further away, of any
    # kind.
    assert limits(read_settings(deeper, {"LIVE_RATE_ENGINE_NODES": "9"}, {})) == (
        9,
        0,
        0,
    )
    env = {"LIVE_RATE_ENGINE_MOVETIME_MS": "50"}
    assert limits(read_settings(deeper, env, {})) == (0, 0, 50)
    assert limits(read_settings(deeper, env, {"engine.nodes": 7})) == (7, 0, 0)
    assert limits(read_settings(None, {}, {"engine.depth": 3})) == (0, 3, 0)

    threads = {"engine.threads": 2, "engine.reproducible": False}
    assert read_settings(None, {}, threads).engine.threads == 2
    with pytest.raises(
        ConfigError, match=r"engine\.nodes and engine\.depth: .* one limit"
    ):
        read_settings(write(tmp_path, "[engine]\nnodes = 5\ndepth = 5"), {}, {})


def test_the_file_is_looked_for_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, cwd = tmp_path / "home", tmp_path / "cwd"
    (home / "live-rate").mkdir(parents=True)
    cwd.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.chdir(cwd)
    assert find_config_file(None, {}) is None
    users = write(home / "live-rate", "")
    assert find_config_file(None, {}) == users
    write(cwd, "")
    assert find_config_file(None, {}) == Path("config.toml")
    named = {"LIVE_RATE_CONFIG": "missing.toml"}
    assert find_config_file(None, named) == Path("missing.toml")
    assert find_config_file(Path("flag.toml"), named) == Path("flag.toml")


def test_a_list_in_the_environment_has_commas() -> None:
    env = {"LIVE_RATE_SERVER_ORIGINS": "https://a.example, https://b.example:8443,"}
    origins = read_settings(None, env, {}).server.origins
    assert origins == ("https://a.example", "https://b.example:8443")
    with pytest.raises(ConfigError, match="a list of origins"):
        read_settings(None, {"LIVE_RATE_SERVER_ORIGINS": "a.example"}, {})
