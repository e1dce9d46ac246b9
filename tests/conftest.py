"""What all tests share."""

import functools
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator

import httpx
import pytest
from hypothesis import settings

# Linear algebra on one thread: its own threads only wait for each other, and pytest -n
# uses the cores already. To have an effect it must come before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Tests assert no wall time: how long an example takes says how busy the machine is.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.fixture(scope="session", autouse=True)
def state_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Journals that tests do not name go where they are thrown away, not to the user's
    own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_tls_context() -> Iterator[None]:
    """HTTP clients share a TLS context, because reading the authorities takes 20 ms
    for every new client. Where httpx has no such function, they are only slower.
    """
    create = functools.cache(httpx.create_ssl_context)
    name = "httpx._transports.default.create_ssl_context"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name, create, raising=False)
        yield


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], str]:
    """``require_program("mosquitto")`` gives the path of a program that a Debian
    package brings.

    Without it the test is skipped, saying so; where ``CI`` is set the test fails
    instead, so that nothing goes untested unnoticed.
    """

    def find(name: str, package: str = "") -> str:
        # A plain user's PATH lacks the last two; Debian puts stockfish and mosquitto
        # there.
        places = os.pathsep.join(
            [os.environ.get("PATH", os.defpath), "/usr/games", "/usr/sbin"]
        )
        path = shutil.which(name, path=places)
        if path is None:
            reason = f"{name} is not here; on Debian: apt-get install {package or name}"
            if os.environ.get("CI"):
                pytest.fail(reason, pytrace=False)
            pytest.skip(reason)
        return path

    return find


@pytest.fixture(scope="session")
def certificate(
    require_program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, str]:
    """The files of a certificate that trusts itself, and of its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = str(folder / "certificate.pem"), str(folder / "key.pem")
    command = [
        require_program("openssl"),
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-out",
        certificate,
        "-keyout",
        key,
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=30)
    return certificate, key
