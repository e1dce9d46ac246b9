"""Started by Python as a script, becomes the engine: ``engine_launcher.py PARENT_PID
NICE MEMORY_MB PROGRAM …``.

What must hold for an engine from its first instruction is set up here, between fork and
exec, in a process of its own: a ``preexec_fn`` would run Python in a forked copy of a
threaded service, which may deadlock. Standard library only, no import of this package,
because it is run with ``-I -S`` to start within milliseconds.
"""

import contextlib
import os
import signal
import sys


def _die_with_parent(parent: int) -> None:
    """Have the kernel kill us when the service dies, even by kill -9 (Linux,
    prctl(2)).
    """
    if sys.platform != "linux":
        # On other systems the engine sees the end of standard input, which every UCI
        # engine takes for "quit".
        return
    import ctypes  # costs 5 ms, and only here

    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    if os.getppid() != parent:  # it died before this check
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

        # A crashed engine leaves no core of hundreds of megabytes behind.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # An engine that grows without end fails before the whole machine does (Linux;
        # other systems ignore this limit).
        resource.setrlimit(resource.RLIMIT_DATA, (memory_mb << 20, memory_mb << 20))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        # When memory runs out, the kernel kills an engine, which we can replace, and
        # not the service.
        file.write("500")
    _die_with_parent(parent)
    try:
        os.execv(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main()
