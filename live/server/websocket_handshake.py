"""Checks of websocket handshakes (RFC 6455, section 4), by the package websockets.

Pure.
"""

from typing import NamedTuple

import h11
from websockets.datastructures import Headers
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol

from live.server.http_values import HttpResponse, problem
from live.server.wire import FRAMES_LOG, LIVE_PATH, PROTOCOL, CloseCode

#: Paths of earlier versions of the protocol, and the answers to their clients.
FORMER_PATHS = tuple(f"/v{number}/live" for number in range(1, PROTOCOL))
_OUTDATED = (
    f"this service speaks protocol {PROTOCOL}, at {LIVE_PATH}: "
    "reload the page, or update the program"
)
OUTDATED = problem(410, _OUTDATED)
#: Neither side keeps a compression context between messages. So a message for all
#: subscribers is deflated only once, and connections need no window of their own.
_DEFLATE = ServerPerMessageDeflateFactory(
    server_no_context_takeover=True, client_no_context_takeover=True
)
#: Header with the only supported version of the websocket protocol, sent to clients
#: that ask for another version (RFC 6455, section 4.4).
_VERSION = ("Sec-WebSocket-Version", "13")


class AcceptedHandshake(NamedTuple):
    """A valid handshake, whose 101 response is still to be sent."""

    response: Response
    protocol: ServerProtocol

    def close_outdated(self) -> bytes:
        """Return the response, and a close frame for a client of an earlier protocol.

        The close frame contains the reason, since browsers do not show the text of a
        refused handshake.
        """
        self.protocol.send_response(self.response)
        self.protocol.send_close(CloseCode.OUTDATED, _OUTDATED)
        return b"".join(self.protocol.data_to_send())


def check_handshake(event: h11.Request) -> AcceptedHandshake | HttpResponse:
    """Return the accepted handshake, or the response that refuses it.

    Raises:
        InvalidHeaderValue: a header contains a forbidden character.
    """
    headers = Headers(
        (name.decode("ascii"), value.decode("latin-1")) for name, value in event.headers
    )
    if "websocket" in _list_members(headers, "Upgrade"):
        # The header can list several protocols (RFC 9110, section 7.8).
        del headers["Upgrade"]
        headers["Upgrade"] = "websocket"
    protocol = ServerProtocol(extensions=[_DEFLATE], logger=FRAMES_LOG)
    response = protocol.accept(Request(LIVE_PATH, headers))
    if response.status_code != 101 or event.http_version != b"1.1":
        return _build_refusal(response, headers)
    return AcceptedHandshake(response, protocol)


def _list_members(headers: Headers, name: str) -> list[str]:
    """Return the members of a header with a list of values, in lower case."""
    values = ",".join(headers.get_all(name))
    return [member.strip().lower() for member in values.split(",")]


def _build_refusal(answer: Response, headers: Headers) -> HttpResponse:
    """Return the response to a refused handshake.

    The response contains the reason, and headers that say which handshake is accepted
    (RFC 6455, section 4.2.2).
    """
    text = bytes(answer.body).decode("utf-8", "replace").split("\n", 1)[0]
    status = answer.status_code
    name = _VERSION[0]
    other_version = name in headers and headers.get_all(name) != [_VERSION[1]]
    if status == 101 or (status == 400 and other_version):
        status = 426
    if status == 400:
        return problem(status, text, [_VERSION])
    return problem(
        status, text, [("Upgrade", "websocket"), ("Connection", "Upgrade"), _VERSION]
    )
