"""Script that sets up its process and then replaces itself by an engine:
``engine_launcher.py PARENT_PID NICE MEMORY_MB PROGRAM …``.

It sets limits that must apply from the engine's first instruction. A ``preexec_fn``
would run Python in a forked copy of a threaded service, which can deadlock. The script
imports only the standard library, because it is run with ``-I -S`` to start within
milliseconds.
"""

import contextlib
import os
import signal
import sys


def _die_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when the service dies, even by kill -9
    (Linux, prctl(2)).
    """
    if sys.platform != "linux":
        # On other operating systems the engine sees the end of its standard input,
        # which every UCI engine treats as "quit".
        return
    import ctypes  # takes 5 ms, and is needed only here

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:  # the service died before this check
        sys.exit(1)


def main() -> None:
    if sys.platform == "win32":
        sys.exit("engines are started by themselves on Windows")
    (parent, nice, memory_mb) = map(int, sys.argv[1:4])
    argv = sys.argv[4:]
    if nice:
        with contextlib.suppress(OSError):
            os.nice(nice)
    with contextlib.suppress(OSError, ImportError, ValueError):
        import resource

        # A crashed engine must not leave a core file of hundreds of megabytes.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # An engine that grows without limit must fail before the whole machine does
        # (Linux; other operating systems ignore this limit).
        resource.setrlimit(resource.RLIMIT_DATA, (memory_mb << 20, memory_mb << 20))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        # If memory runs out, the kernel must kill an engine, which can be replaced,
        # rather than the service.
        file.write("500")
    _die_with_parent(parent)
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
