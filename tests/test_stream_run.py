"""The stream scenarios from the command line: what their parameters do, and a server
alone with clients that are not plimsoll's."""
import os
import signal
import socket
import sys
import threading

from plimsoll_test import Serving, cases_of, check, document, main

WORDS = b"The quick brown fox jumps over the lazy dog."


def run(stage, *args, code=0, seconds=30):
    got, out, err = stage.run("run", *args, "--trials", "1", "--port", "0", "--json", "-",
                              seconds=seconds)
    check(got == code, args, "exit code", got, err)
    d = document(out)
    return d, d["trials"][0]


def verdict(d, name):
    return [row for row in d["checks"] if row["name"] == name]


def facts(trial, role, name):
    return [p["facts"][name] for p in trial["processes"]
            if p["role"] == role and name in p["facts"]]


class Silent:
    """A TCP server that accepts and says nothing, or what it is given."""

    def __init__(self, answer=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.target = "tcp:127.0.0.1:%d" % self.listener.getsockname()[1]
        self.answer = answer
        self.open = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.open.append(connection)
            if self.answer:
                connection.sendall(self.answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for connection in self.open:
            connection.close()


# ---- bulk ----

def checksums_are_compared_where_bytes_flow(stage):
    for scenario in ("tcp-bulk", "unix-bulk", "pipe-bulk"):
        for direction, up, down in (("both", 1, 1), ("up", 1, 0), ("down", 0, 1)):
            for workers in (1, 3):
                d, t = run(stage, scenario, "--size", "300001", "--verify", "--direction",
                           direction, "-w", str(workers))
                rows = verdict(d, "checksums")
                check(len(rows) == 1 and rows[0]["ok"] is True, scenario, direction,
                      workers, rows)
                for role, name, count in (
                        ("client", "sent_crc32", up * workers),
                        ("client", "received_crc32", down * workers),
                        ("server", "sent_crc32", down),
                        ("server", "received_crc32", up)):
                    check(len(facts(t, role, name)) == count, scenario, direction, role,
                          name, facts(t, role, name))
                c, s = t["totals"]["client"], t["totals"]["server"]
                check(c["sent_bytes"] == s["received_bytes"] == up * workers * 300001, c)
                check(s["sent_bytes"] == c["received_bytes"] == down * workers * 300001, s)


def a_checksum_that_differs_is_seen(stage):
    """The file changes after the server has read it for its checksum."""
    path = stage.path("file")
    for workers in ("1", "3"):
        with open(path, "wb") as f:
            f.write(bytes(100000))
        d, _ = run(stage, "unix-bulk", "--file", path, "--verify", "--direction", "down",
                   "-w", workers, "--client-launch",
                   "sh -c 'printf x | dd of=%s conv=notrunc 2> /dev/null; exec \"$@\"' sh"
                   % path)
        rows = verdict(d, "checksums")
        check(len(rows) == 1 and rows[0]["ok"] is False, rows)


def a_file_keeps_its_size(stage):
    """One that grows is said to, and its trials are not put together."""
    path = stage.path("file")
    grow = "sh -c 'echo >> %s; exec \"$@\"' sh" % path
    for which, trials in (("--server-launch", 1), ("--client-launch", 0)):
        with open(path, "wb") as f:
            f.write(bytes(100000))
        got, out, err = stage.run("run", "unix-bulk", "--file", path, "--trials", "3",
                                  which, grow, "--json", "-")
        d = document(out)
        check(got == 3 and d["outcome"] == "failed", which, got, err)
        check(path in d["reason"] and "10000%d bytes" % trials in d["reason"] and
              "10000%d now" % (trials + 1) in d["reason"], d["reason"])
        completed = [t for t in d["trials"] if t["outcome"] == "completed"]
        check(len(completed) == trials, which, d["trials"])


def a_transfer_that_stands_still_is_given_up(stage):
    with Silent() as server:
        d, t = run(stage, "tcp-bulk", "--size", "64MiB", "--timeout", "300ms", "--target",
                   server.target, code=3, seconds=8)
        c = t["totals"]["client"]
        check(d["outcome"] == "failed" and c["timed_out"] == 1, d["reason"], c)


def behind(seconds):
    """The option that puts the server behind a path that takes all at once, and so long
    to pass it on: tests/slow_path.py."""
    return ("--server-launch", "%s -B %s %s --" % (
        sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                     "slow_path.py"), seconds))


def a_path_that_buffers_is_waited_for(stage):
    """The end of a transfer is the receiver's, and so are its time and rate."""
    for direction, both in (("up", 0), ("both", 1)):
        # Longer than the timeout, in which the client sees no byte move.
        d, t = run(stage, "tcp-bulk", "--size", "300000", "--direction", direction,
                   "--timeout", "2s", "--verify", *behind(3))
        check(t["totals"]["server"]["received_bytes"] == 300000, t["totals"])
        check(t["totals"]["client"]["received_bytes"] == both * 300000, t["totals"])
        m = t["metrics"]
        check(m["seconds"] >= 3, m["seconds"])
        check(m["throughput_up"] <= 300000 / 3, m["throughput_up"])
        check(t["latency_ns"] is None or t["latency_ns"]["min"] >= 3e9, t["latency_ns"])
        check(all(row["ok"] for row in d["checks"] if row["ok"] is not None),
              d["checks"])


def a_path_that_passes_nothing_on_is_given_up(stage):
    d, t = run(stage, "tcp-bulk", "--size", "300000", "--direction", "up", "--timeout",
               "300ms", *behind("never"), code=3)
    check(t["totals"]["client"]["timed_out"] == 1, t["totals"])
    check("all bytes were sent" in d["reason"] and "300 ms" in d["reason"], d["reason"])


# ---- a server that does not report ----

def half_of_the_bytes_is_no_throughput(stage):
    """What arrived at a foreign server is not known, so neither is the sum."""
    with Silent(WORDS) as server:
        # It never ends its sending, so each request ends by the timeout.
        _, t = run(stage, "tcp-requests", "--requests", "2", "--client", "connection",
                   "--timeout", "500ms", "--target", server.target, code=3)
        m = t["metrics"]
        check(m["throughput_up"] is None and m["throughput"] is None, m)
        check(m["throughput_down"] is not None, m)


def unfinished_requests_have_an_age(stage):
    with Silent() as server:
        _, t = run(stage, "tcp-requests", "--client", "persistent", "--concurrency", "3",
                   "--duration", "500ms", "--requests", "100", "--target", server.target)
        c = t["totals"]["client"]
        check(c["attempted"] == c["unfinished"] == 3, c)
        told = facts(t, "client", "unfinished")
        check(len(told) == 1 and told[0].startswith("3 requests, the oldest open for "),
              told)
        # The load was offered for 0.5 s, and what was open had 2 s more.
        check(2.0 <= float(told[0].split()[6]) < 8, told)
        # None has ended, and all have waited at least that long.
        latency = t["latency_ns"]
        check(latency["count"] == 0 and latency["unfinished"] == 3, latency)
        check(latency["known"] == 0 and latency["p50"] >= 2e9, latency)
        check("latency_p50_ns" in t["bounds"], t["bounds"])


# ---- a server alone ----

def any_port(transport):
    return ("--port", "0") if transport == "tcp" else ()


def exchange(port, sent):
    """What nc does: send, end the sending, receive until the end."""
    with socket.create_connection(("127.0.0.1", int(port)), timeout=10) as s:
        s.sendall(sent)
        s.shutdown(socket.SHUT_WR)
        received = b""
        while True:
            piece = s.recv(65536)
            if not piece:
                return received
            received += piece


def foreign_clients_owe_nothing(stage):
    server = Serving(stage, "tcp", "--port", "0", "--size", "100000")
    check(len(exchange(server.port, b"hello")) == 100000, "bytes")
    check(len(exchange(server.port, b"")) == 100000, "bytes")
    out = server.end()
    check("client 1: sent 100000 bytes, received 5 bytes" in out, out)
    check("client 2: sent 100000 bytes, received 0 bytes" in out, out)
    server = Serving(stage, "tcp", "--port", "0")
    check(exchange(server.port, b"hello") == WORDS, "words")
    out = server.end()
    check("client 1: sent 44 bytes, received 5 bytes" in out, out)


def each_kind_of_client_has_a_server(stage):
    for transport in ("tcp", "unix", "pipe"):
        for kind in ("process", "connection", "persistent"):
            server = Serving(stage, transport, *any_port(transport), "--client", kind)
            _, t = run(stage, transport + "-requests", "--requests", "30", "--client",
                       kind, "--concurrency", "3", "--target", server.endpoint)
            c = t["totals"]["client"]
            check(c["succeeded"] == 30 and c["failed"] == 0, transport, kind, c, t["errors"])
            out = server.end()
            check("received 30 messages, 1320 B; sent 1320 B" in out, out)


def many_clients_are_not_all_told(stage):
    server = Serving(stage, "unix")
    _, t = run(stage, "unix-requests", "--requests", "3000", "--client", "connection",
               "--concurrency", "10", "--target", server.endpoint)
    check(t["totals"]["client"]["succeeded"] == 3000, t["totals"]["client"])
    lines = server.end().splitlines()
    told = [line for line in lines if " client " in line]
    more = [int(line.split()[2]) for line in lines if line.startswith("... and ")]
    check(len(told) + sum(more) == 3000, len(told), more)
    check(len(told) < 3000, "all of them")


def a_hangup_ends_a_server(stage):
    for transport in ("tcp", "unix", "pipe"):
        out = Serving(stage, transport, *any_port(transport)).end(signal.SIGHUP)
        check("served 0 connections" in out, out)
    # stage.done looks for what is left.


def a_server_at_a_path_of_ones_own(stage):
    for transport in ("unix", "pipe"):
        path = stage.path(transport)
        server = Serving(stage, transport, "--path", path)
        check(server.endpoint == transport + ":" + path, server.endpoint)
        run(stage, transport + "-requests", "--requests", "3", "--target", server.endpoint)
        server.end()


main(cases_of(globals()))
