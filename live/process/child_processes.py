"""Child processes: their groups, and the killing of a whole group.

Each branch names the documented behaviour of its operating system. The project runs on
Linux; the branches for others are only type-checked, and tested with fakes of the
documented behaviour.
"""

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Any


def build_group_options(nice: int = 0) -> dict[str, Any]:
    """Return arguments of :class:`subprocess.Popen` so that Ctrl-C stops no child.

    On POSIX the child gets its own session. Windows ignores that option; there a new
    process group gets no Ctrl-C (CreateProcess, CREATE_NEW_PROCESS_GROUP), and a
    priority class replaces niceness.
    """
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.CREATE_NEW_PROCESS_GROUP
        if nice > 0:
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS
        return {"creationflags": flags}
    return {"start_new_session": True}


def kill_group(pid: int) -> None:
    """Kill a process that leads its group, and the group, because its children can
    outlive it.

    Windows has no such groups: only the process is killed there (os.kill: any signal
    other than the console's two means TerminateProcess), and engines have no children.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


def kill_marked(variable: str) -> None:
    """Kill every process whose environment contains this ``NAME=value``.

    This reaches child processes that have left the group of their parent. It works only
    on Linux, where ``/proc`` shows the environment of a process (proc(5)).
    """
    if sys.platform != "linux":
        return
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if variable.encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
