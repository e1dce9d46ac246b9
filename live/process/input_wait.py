"""Waiting for standard input in a way that the end of the program can interrupt."""

import select
import sys


class InputWait:
    """A wait until a file descriptor can be read, or another one signals the end."""

    def __init__(self, fd: int, stop: int) -> None:
        self._stop = stop
        if sys.platform != "win32":
            self._poll = select.poll()
            for descriptor in (fd, stop):
                self._poll.register(descriptor, select.POLLIN | select.POLLHUP)

    def wait(self) -> bool:
        """Block until there is something to read; return False if the end came first.

        Windows can wait only for sockets (select: "file objects on Windows are not
        acceptable"). There the read itself blocks, in a thread that ends with the
        program.
        """
        if sys.platform == "win32":
            return True
        return all(descriptor != self._stop for descriptor, _ in self._poll.poll())
