"""Child processes: their groups, and how all of a group ends.

Each branch names the documented behaviour of its system. We run Linux; the others are
type-checked and tested with fakes of what their documentation promises.
"""

import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Any


def build_group_options(nice: int = 0) -> dict[str, Any]:
    """Return arguments of :class:`subprocess.Popen` that keep our Ctrl-C from a child.

    POSIX: a session of its own. Windows ignores that; a new process group gets no
    Ctrl-C there (CreateProcess, CREATE_NEW_PROCESS_GROUP), and has a priority class in
    place of niceness.
    """
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.CREATE_NEW_PROCESS_GROUP
        if nice > 0:
            flags |= subprocess.BELOW_NORMAL_PRIORITY_CLASS
        return {"creationflags": flags}
    return {"start_new_session": True}


def kill_group(pid: int) -> None:
    """Kill a process that leads its group, and the group: its children may outlive it.

    Windows knows no such group: only the process is killed there (os.kill: any signal
    but the console's two is TerminateProcess), and engines have no children.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL)


def kill_marked(variable: str) -> None:
    """Kill every process whose environment holds this ``NAME=value``.

    They are children that left the group of their parent (Linux, proc(5); elsewhere
    nothing says whose they are).
    """
    if sys.platform != "linux":
        return
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if variable.encode() in path.read_bytes().split(b"\0"):
                os.kill(int(path.parent.name), signal.SIGKILL)
