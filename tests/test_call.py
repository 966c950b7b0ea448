"""`plimsoll call`: the documented messages to servers of one task and of many, and what
of a reply reaches the terminal."""
import socket
import threading

from plimsoll_test import Serving, cases_of, check, main


def call(stage, server, *words):
    got, out, err = stage.run("call", server, *words)
    check(got == 0 and not err, words, got, out, err)
    return out


def the_documented_single_tasks(stage):
    server = Serving(stage, "topper", "--port", "0", "--task", "greeting")
    out = call(stage, server.endpoint, '{"name": "Matheus Fidelis", "age":22}')
    check(out == "hello, my name is Matheus Fidelis and i'm 22 old\n", out)
    server.end()
    server = Serving(stage, "topper", "--port", "0", "--task", "echo")
    out = call(stage, server.endpoint, "verything is connected, Todd...")
    check(out == "Message payload: verything is connected, Todd...\n", out)
    server.end()


def the_documented_tasks_of_many(stage):
    server = Serving(stage, "topper", "--port", "0")
    out = call(stage, server.endpoint, "Sum", '{"numbers": [1, 2, 3, 4, 5]}')
    check(out == "The sum is: 15 \n", out)
    check(call(stage, server.endpoint, "Ping") == "Pong\n")
    server.end()


class Answering:
    """A server that answers each connection alike."""

    def __init__(self, reply):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.reply = reply
        self.heard = b""
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        s, _ = self.listener.accept()
        with s:
            self.heard = s.recv(65536)
            s.sendall(self.reply)

    @property
    def endpoint(self):
        return "127.0.0.1:%d" % self.listener.getsockname()[1]


def nothing_raw_is_printed(stage):
    server = Answering(b"\033[31mred\007\r\nand \xff more\n")
    out = call(stage, server.endpoint, "Ping")
    check(out == "?[31mred?\nand ? more\n", repr(out))
    check(server.heard == b"Ping\n", server.heard)


main(cases_of(globals(), skip=("call",)))
