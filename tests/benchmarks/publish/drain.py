"""Many websocket clients in one process that read and throw away; run by the benchmarks.

``python drain.py HOST PORT CLIENTS [PATH]`` connects, prints ``ready``, and then for every line on
standard input prints how many payload-carrying bytes have come in so far in all.
"""

# ruff: noqa: T201 - its output is what it is for
from __future__ import annotations

import selectors
import socket
import sys

HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def main() -> None:
    host, port, clients = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    path = sys.argv[4] if len(sys.argv) > 4 else "/v2/live"
    request = HANDSHAKE.format(path=path, host=host, port=port).encode()
    ready = selectors.DefaultSelector()
    for _ in range(clients):
        sock = socket.create_connection((host, port), timeout=20)
        sock.sendall(request)
        head = b""
        while b"\r\n\r\n" not in head:
            head += sock.recv(65536)
        if b" 101 " not in head.split(b"\r\n", 1)[0]:
            raise SystemExit(head.decode("latin-1"))
        sock.setblocking(False)
        ready.register(sock, selectors.EVENT_READ)
    ready.register(sys.stdin, selectors.EVENT_READ)
    print("ready", flush=True)
    total = 0
    buffer = bytearray(1 << 18)
    while True:
        for key, _ in ready.select():
            client = key.fileobj
            if not isinstance(client, socket.socket):
                if not sys.stdin.readline():
                    return
                print(total, flush=True)
                continue
            try:
                got = client.recv_into(buffer)
            except (BlockingIOError, ConnectionError):
                continue
            if got == 0:
                ready.unregister(client)
            total += got


if __name__ == "__main__":
    main()
