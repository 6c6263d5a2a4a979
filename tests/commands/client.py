"""
Client of the fork server for commands; as a program, the `yiku` on the PATH of scripts in tests.

It imports next to nothing, so that it has started before another interpreter has found its packages.
"""

import _socket
import marshal
import os
import sys

NUMBER = 4  # bytes of a length, of a process id, of an exit code


def asked(server, request, streams):
    """
    Hand over a command and its streams; on the connection come its process id and, once it has ended, its exit code.

    request: the arguments, after how it was called; the environment, the folder and the umask; a program to be run
             instead of Yiku, or None
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(server)
    text = marshal.dumps(request)
    rights = b"".join(stream.to_bytes(NUMBER, sys.byteorder) for stream in streams)
    connection.sendmsg([len(text).to_bytes(NUMBER, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    connection.sendall(text)
    return connection


def number(connection):
    """The next number that the server tells."""
    received = connection.recv(NUMBER, _socket.MSG_WAITALL)
    if len(received) < NUMBER:
        raise ConnectionError("the server of commands has gone")
    return int.from_bytes(received, "big", signed=True)


if __name__ == "__main__":
    os.umask(umask := os.umask(0))
    arguments = [os.fsencode(word) for word in sys.argv[2:]]
    connection = asked(sys.argv[1], (arguments, dict(os.environb), os.getcwdb(), umask, None), (0, 1, 2))
    number(connection)
    code = number(connection)
    os._exit(code if code >= 0 else 128 - code)  # as a shell tells of a signal
