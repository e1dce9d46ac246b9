"""The systemd unit that ``live-rate systemd-unit`` prints. Pure."""

from __future__ import annotations

from collections.abc import Sequence

#: How glibc is to hold memory: an arena for each thread keeps freed memory apart; two are enough.
MALLOC = {"MALLOC_ARENA_MAX": "2"}

_UNIT = """\
# Save as /etc/systemd/system/live-rate.service, then: systemctl enable --now live-rate
[Unit]
Description=Perceived chess ratings, live
Documentation=man:systemd.exec(5)
Wants=network-online.target
After=network-online.target

[Service]
Type=notify
NotifyAccess=main
ExecStart={command}
# Settings are read again: systemctl reload live-rate
ExecReload=/bin/kill -HUP $MAINPID
# Fed only while searches bring results: a service that hangs is restarted.
WatchdogSec=60
Restart=on-failure
RestartSec=2
# The first signal says goodbye to everybody and ends within a few seconds.
KillMode=mixed
TimeoutStopSec=20

# A user of its own, who owns /var/lib/live-rate and nothing else.
DynamicUser=yes
StateDirectory=live-rate
CacheDirectory=live-rate
WorkingDirectory=%S/live-rate
Environment=HOME=%S/live-rate XDG_CACHE_HOME=%C/live-rate XDG_DATA_HOME=%S/live-rate
UMask=0077
# glibc keeps an arena for each thread; two are enough, and keep freed memory together.
Environment={malloc}
# Tokens and passwords stay readable by root alone; name them in the settings as
# /run/credentials/live-rate.service/tokens
#LoadCredential=tokens:/etc/live-rate/tokens.toml
LimitNOFILE=65536
# Engines and their hash tables included: whatever takes more must not take the machine down.
MemoryMax=75%

NoNewPrivileges=yes
CapabilityBoundingSet=
AmbientCapabilities=
ProtectSystem=strict
ProtectHome={home}
PrivateTmp=yes
PrivateDevices=yes
ProtectClock=yes
ProtectHostname=yes
ProtectControlGroups=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
# Not MemoryDenyWriteExecute: the embedded engine runs in Node, which compiles as it goes.

[Install]
WantedBy=multi-user.target
"""


def unit(command: Sequence[str]) -> str:
    """The unit that runs this command; its first word is an absolute path."""
    # A program in somebody's home must at least be readable.
    at_home = command[0].split("/")[1] in ("home", "root")
    return _UNIT.format(
        command=" ".join(map(quoted, command)),
        home="read-only" if at_home else "yes",
        malloc=" ".join(f"{name}={value}" for name, value in MALLOC.items()),
    )


def quoted(word: str) -> str:
    """One word of a command line in a unit (systemd.service(5), "Command lines")."""
    escaped = "".join(
        {"\\": "\\\\", '"': '\\"', "%": "%%", "$": "$$", "\n": "\\n", "\t": "\\t"}.get(char, char)
        for char in word
    )
    plain = word and all(char.isalnum() or char in "/.:=_-@,+?&#" for char in word)
    return escaped if plain else f'"{escaped}"'
