"""How each system is asked to run live-rate as a service. Pure: what to write, where, what next.

systemd has its own module; launchd takes a property list (launchd.plist(5)), Windows' task
scheduler XML of its schema 1.2 (learn.microsoft.com, "Task Scheduler Schema").
"""

from __future__ import annotations

import plistlib
import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Literal
from xml.sax.saxutils import escape

import msgspec

from live.service.host.systemd_unit import unit

System = Literal["systemd", "launchd", "windows"]

_LABEL = "org.live-rate.service"

_TASK = """\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>Perceived chess ratings, live</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>255</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


class ServiceDefinition(msgspec.Struct, frozen=True):
    """One file for one system."""

    path: PurePath
    content: bytes
    after: str
    """The command that has the system take it."""


def system_of(platform: str) -> System:
    """Who starts services, by ``sys.platform``."""
    return {"win32": "windows", "darwin": "launchd"}.get(platform, "systemd")  # type: ignore[return-value]


def definition(system: System, command: Sequence[str], home: Path) -> ServiceDefinition:
    """The file that has ``system`` run this command; its first word is an absolute path."""
    match system:
        case "systemd":
            path = PurePath("/etc/systemd/system/live-rate.service")
            return ServiceDefinition(
                path,
                unit(command).encode(),
                "systemctl daemon-reload && systemctl enable --now live-rate",
            )
        case "launchd":
            path = home / "Library" / "LaunchAgents" / f"{_LABEL}.plist"
            log = str(home / "Library" / "Logs" / "live-rate.log")
            return ServiceDefinition(
                path,
                plistlib.dumps(
                    {
                        "Label": _LABEL,
                        "ProgramArguments": list(command),
                        "RunAtLoad": True,
                        # Started again unless it ended by itself and well.
                        "KeepAlive": {"SuccessfulExit": False},
                        "WorkingDirectory": str(home),
                        "StandardErrorPath": log,
                        "StandardOutPath": log,
                        "SoftResourceLimits": {"NumberOfFiles": 65_536},
                    }
                ),
                f"launchctl bootstrap gui/$(id -u) {path}",
            )
        case "windows":
            path = home / "live-rate-task.xml"
            text = _TASK.format(
                command=escape(command[0]),
                # Quoted as CommandLineToArgvW reads it.
                arguments=escape(subprocess.list2cmdline(command[1:])),
            )
            return ServiceDefinition(
                path, text.encode("utf-16"), f'schtasks /Create /TN live-rate /XML "{path}"'
            )
