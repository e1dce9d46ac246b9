"""live.config: the order of precedence, each kind of refusal, config.toml itself,
dotted keys.
"""

import itertools
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from live.config import (
    SETTINGS,
    Config,
    checked,
    find_config_file,
    flat,
    in_words,
    load_config,
    nested,
    unknown,
    variable,
)
from live.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent
#: Where names that went are listed.
GONE = "Those that went: live-rate manual changes"


def write(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def defaults() -> dict[str, Any]:
    return dict(flat(msgspec.json.decode(msgspec.json.encode(Config()))))


def test_the_shipped_file_has_every_setting_at_its_default() -> None:
    tree = tomllib.loads((ROOT / "config.toml").read_text(encoding="utf-8"))
    shipped, real = dict(flat(tree)), defaults()
    assert shipped.keys() == real.keys(), shipped.keys() ^ real.keys()
    assert shipped == real
    assert load_config(ROOT / "config.toml", {}, {}) == Config()


def test_the_shipped_file_explains_every_setting() -> None:
    lines = (ROOT / "config.toml").read_text(encoding="utf-8").splitlines()
    bare = [
        line
        for above, line in itertools.pairwise(lines)
        if "=" in line and not line.startswith("#") and not above.startswith("#")
    ]
    # nodes, depth and movetime_ms share one comment.
    assert bare == ["depth = 0", "movetime_ms = 0"]


def test_every_setting_can_be_explained_and_told_apart_in_the_environment() -> None:
    for tp in SETTINGS.values():
        assert in_words(msgspec.inspect.type_info(tp))
    variables = [variable(key) for key in SETTINGS]
    assert len(set(variables)) == len(variables)
    assert variable("feeds.lichess.base_url") == "LIVE_RATE_FEEDS_LICHESS_BASE_URL"
    assert "LIVE_RATE_CONFIG" not in variables


def test_flags_beat_environment_beats_file_beats_defaults(tmp_path: Path) -> None:
    path = write(tmp_path, "[server]\nport = 1\n[feeds]\npoll_s = 1\ntimeout_s = 1\n")
    env = {"LIVE_RATE_SERVER_PORT": "2", "LIVE_RATE_FEEDS_POLL_S": "2.5", "HOME": "/"}
    config = load_config(path, env, {"server.port": 3, "server.host": None})
    assert config.server.port == 3
    assert config.feeds.poll_s == 2.5
    assert config.feeds.timeout_s == 1.0
    assert config.server.host == Config().server.host


def test_a_wrong_file_is_refused_with_file_key_and_remedy(tmp_path: Path) -> None:
    path = write(tmp_path, "[server]\nprot = 1")
    with pytest.raises(ConfigError) as error:
        load_config(path, {}, {})
    line = f"server.prot: there is no such setting. Did you mean server.port? {GONE}"
    assert str(error.value) == f"{path}: {line}"


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"cannot be read \(No such file.*--config FILE"
    ):
        load_config(tmp_path / "none.toml", {}, {})
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path, {}, {})
    with pytest.raises(ConfigError, match=r"is not valid TOML.*line 1"):
        load_config(write(tmp_path, "a = b\n"), {}, {})
    (tmp_path / "config.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config(tmp_path / "config.toml", {}, {})


def test_the_environment_is_checked_like_the_file() -> None:
    with pytest.raises(ConfigError) as error:
        load_config(None, {"LIVE_RATE_ENGINE_NODE": "1"}, {})
    assert str(error.value) == (
        "environment: LIVE_RATE_ENGINE_NODE: there is no such setting."
        f" Did you mean LIVE_RATE_ENGINE_NODES? {GONE}"
    )
    with pytest.raises(ConfigError, match=r'LIVE_RATE_SERVER_PORT: "x" does not fit'):
        load_config(None, {"LIVE_RATE_SERVER_PORT": "x"}, {})
    assert load_config(None, {"LIVE_RATE_CONFIG": "anything"}, {}) == Config()
    rating = load_config(None, {"LIVE_RATE_RATING_ENGINE_RATING": "2800"}, {}).rating
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
        load_config(None, {}, flags)


def limits(config: Config) -> tuple[int, int, int]:
    return config.engine.nodes, config.engine.depth, config.engine.movetime_ms


def test_one_limit_is_left_whichever_was_set(tmp_path: Path) -> None:
    everything = (ROOT / "config.toml").read_text(encoding="utf-8")
    deeper = write(tmp_path, everything.replace("depth = 0", "depth = 12"))
    assert limits(load_config(deeper, {}, {})) == (0, 12, 0)
    # Whatever is set nearer to the user replaces what was set further away, of any
    # kind.
    assert limits(load_config(deeper, {"LIVE_RATE_ENGINE_NODES": "9"}, {})) == (9, 0, 0)
    env = {"LIVE_RATE_ENGINE_MOVETIME_MS": "50"}
    assert limits(load_config(deeper, env, {})) == (0, 0, 50)
    assert limits(load_config(deeper, env, {"engine.nodes": 7})) == (7, 0, 0)
    assert limits(load_config(None, {}, {"engine.depth": 3})) == (0, 3, 0)

    threads = {"engine.threads": 2, "engine.reproducible": False}
    assert load_config(None, {}, threads).engine.threads == 2
    with pytest.raises(
        ConfigError, match=r"engine\.nodes and engine\.depth: .* one limit"
    ):
        load_config(write(tmp_path, "[engine]\nnodes = 5\ndepth = 5"), {}, {})


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
    here = write(cwd, "")
    assert find_config_file(None, {}, cwd) == here
    assert find_config_file(None, {}) == Path("config.toml")
    named = {"LIVE_RATE_CONFIG": "missing.toml"}
    assert find_config_file(None, named, cwd) == Path("missing.toml")
    assert find_config_file(Path("flag.toml"), named, cwd) == Path("flag.toml")


def test_a_list_in_the_environment_has_commas() -> None:
    env = {"LIVE_RATE_SERVER_ORIGINS": "https://a.example, https://b.example:8443,"}
    origins = load_config(None, env, {}).server.origins
    assert origins == ("https://a.example", "https://b.example:8443")
    with pytest.raises(ConfigError, match="a list of origins"):
        load_config(None, {"LIVE_RATE_SERVER_ORIGINS": "a.example"}, {})


# --- dotted keys ----------------------------------------------------------------------


names = st.text("abc", min_size=1, max_size=3)
tables = st.dictionaries(names, st.integers(), min_size=1, max_size=3)
trees = st.dictionaries(names, st.one_of(st.integers(), tables), max_size=3)


@given(trees)
def test_flat_and_nested_are_inverse(tree: dict[str, Any]) -> None:
    assert nested(dict(flat(tree))) == tree


def test_an_empty_table_counts_only_where_nobody_knows_it() -> None:
    assert list(flat({"server": {}, "other": {}})) == [("other", {})]


@pytest.mark.parametrize(
    ("key", "value", "text", "result"),
    [
        ("engine.threads", 5, False, 5),
        ("engine.threads", "5", True, 5),
        ("feeds.poll_s", 2, False, 2.0),
        ("feeds.poll_s", "0.5", True, 0.5),
        ("server.public", "false", True, False),
        ("server.public", "1", True, True),
        ("log.level", "info", True, "info"),
        ("engine.path", "12", True, "12"),
    ],
)
def test_a_fitting_value_is_converted(
    key: str, value: object, text: bool, result: object
) -> None:
    converted = checked("here", key, value, text=text)
    assert converted == result
    assert type(converted) is type(result)


WHOLE, ABOVE = "a whole number above 0", "seconds, above 0"
RATING = '"field" or an Elo rating from 0 to 5000'


@pytest.mark.parametrize(
    ("key", "value", "text", "said"),
    [
        ("engine.threads", "5", False, f'"5" does not fit. Expected is {WHOLE}'),
        ("engine.threads", 0, False, f"0 does not fit. Expected is {WHOLE}"),
        ("engine.threads", True, False, f"true does not fit. Expected is {WHOLE}"),
        ("engine.threads", "many", True, f'"many" does not fit. Expected is {WHOLE}'),
        ("feeds.poll_s", float("inf"), False, f"inf does not fit. Expected is {ABOVE}"),
        ("feeds.poll_s", float("nan"), False, f"nan does not fit. Expected is {ABOVE}"),
        (
            "log.level",
            "c",
            False,
            '"c" does not fit. Expected is "debug" or "error" or "info" or "warning"',
        ),
        (
            "server.public",
            "maybe",
            True,
            '"maybe" does not fit. Expected is true or false',
        ),
        ("engine.path", 3, False, "3 does not fit. Expected is text"),
        (
            "server.port",
            65536,
            False,
            "65536 does not fit. Expected is a port from 0 to 65535",
        ),
        (
            "rating.engine_rating",
            True,
            False,
            f"true does not fit. Expected is {RATING}",
        ),
        (
            "feeds.mqtt",
            3,
            False,
            "is a table, not a value. Write [feeds.mqtt] and keys below",
        ),
        (
            "engine.paht",
            3,
            False,
            f"there is no such setting. Did you mean engine.path? {GONE}",
        ),
    ],
)
def test_a_value_that_does_not_fit_is_one_clear_line(
    key: str, value: object, text: bool, said: str
) -> None:
    with pytest.raises(ConfigError) as error:
        checked("x", key, value, text=text)
    assert str(error.value) == f"x: {said}"
    assert error.value.exit_code == 2


def test_a_long_value_is_shortened() -> None:
    with pytest.raises(ConfigError, match=r'^x: "a{56}\.\.\. does not fit'):
        checked("x", "log.level", "a" * 1000)


def test_a_name_like_no_other_gets_no_guess() -> None:
    said = str(unknown("x", "zzz", SETTINGS))
    assert "Did you mean" not in said and GONE in said


def test_a_number_without_description_is_refused() -> None:
    with pytest.raises(TypeError, match="needs a description"):
        in_words(msgspec.inspect.type_info(int))
