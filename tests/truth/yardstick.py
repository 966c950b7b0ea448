"""Servers and paths with known answers, and theory to hold figures against."""
import json
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from plimsoll_test import BUILD, Skip, check, document  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
MS = 1000000
S = 1000 * MS


def urgent():
    """The words that let a program run before others, where that is allowed: what else
    the machine does is then no part of what is measured."""
    words = ["chrt", "-f", "10"]
    try:
        subprocess.run(words + ["true"], check=True, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return []
    return words


class Server:
    """tests/truth/server.c; `account` is what it says of itself at its end."""

    def __init__(self, protocol, model, words=()):
        self.process = subprocess.Popen(
            [*words, os.path.join(BUILD, "tests/truth_server"), protocol, model],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        self.url = "http://127.0.0.1:%d/" % self.port
        self.target = "tcp:127.0.0.1:%d" % self.port

    def __enter__(self):
        return self

    def __exit__(self, *how):
        said, _ = self.process.communicate()
        self.account = json.loads(said)


def measure(stage, *args, code=0, seconds=60):
    """The document of a run, and its exit code against the one wanted."""
    got, out, err = stage.run(*args, "--quiet", "--no-save", "--json", "-",
                              seconds=seconds)
    check(code is None or got == code, "exit code %d, wanted %s: %s" % (got, code, err))
    return document(out)


def behind(stage, kind, *faults, words=()):
    """The option that puts a spawned server behind a relay, and the relay's account."""
    account = stage.path("relay")
    words = [*words, sys.executable, "-B", os.path.join(HERE, "behind.py"),
             os.path.join(BUILD, "tests/truth_relay"), kind, account, *faults, "--"]

    def read():
        with open(account) as f:
            said = json.load(f)
        if said["overflow"]:
            raise Skip("the relay itself lost %d datagrams" % said["overflow"])
        return said

    return ("--server-launch", " ".join(words)), read


# ---- theory ----

def decay(rate, work, arrivals):
    """How fast the response time of a queue with one worker and exponential work falls
    off: P(T > t) = exp(-decay * t). `rate` a second, `work` the mean in seconds.

    M/M/1: mu - lambda. D/M/1, and any GI/M/1: mu * (1 - sigma), where sigma, the share
    of those who find the worker busy, solves sigma = A(mu - mu * sigma), A being the
    Laplace transform of a gap: exp(-s / lambda) when all gaps are alike."""
    mu = 1 / work
    if arrivals == "poisson":
        return mu - rate
    sigma = rate / mu
    for _ in range(10000):
        sigma = math.exp(-mu * (1 - sigma) / rate)
    return mu * (1 - sigma)


def response_theory(rate, work, arrivals):
    d = decay(rate, work, arrivals)
    figures = {"p%g" % (100 * q): -math.log(1 - q) / d for q in (0.5, 0.9, 0.95, 0.99)}
    figures["mean"] = 1 / d
    return figures


def response_simulated(rate, work, arrivals, count, generator):
    """The same figures of one draw of `count` requests (Lindley 1952)."""
    times, t, ready = [], 0.0, 0.0
    for _ in range(count):
        t += generator.expovariate(rate) if arrivals == "poisson" else 1 / rate
        ready = max(ready, t) + generator.expovariate(1 / work)
        times.append(ready - t)
    times.sort()
    figures = {"p%g" % (100 * q): times[math.ceil(q * count) - 1]
               for q in (0.5, 0.9, 0.95, 0.99)}
    figures["mean"] = sum(times) / count
    return figures


def sampling_errors(rate, work, arrivals, count, draws=100):
    """The standard deviation of each figure among draws of that length: requests in one
    queue are not independent, so no formula for independent ones holds."""
    generator = random.Random(1)
    sums = {}
    for _ in range(draws):
        for name, value in response_simulated(rate, work, arrivals, count,
                                              generator).items():
            n, sum_, squares = sums.get(name, (0, 0.0, 0.0))
            sums[name] = (n + 1, sum_ + value, squares + value * value)
    return {name: math.sqrt(max(0, squares / n - (sum_ / n) ** 2))
            for name, (n, sum_, squares) in sums.items()}


# ---- the table ----

class Table:
    """Rows `name theory ours tolerance ok`. The tolerance is that of the comparison: how
    far the yardstick itself may err, and what chance does (`sampling`, one standard
    error, of which five are allowed)."""

    HEAD = ("name", "theory", "ours", "tolerance", "sampling", "ok")

    def __init__(self):
        self.wrong = []
        self.print_row(*self.HEAD)

    def print_row(self, *cells):
        print("# %-44s %12s %12s %12s %12s  %s" % cells)
        sys.stdout.flush()

    def row(self, name, theory, ours, tolerance=0.0, sampling=0.0, at_least=False):
        """`at_least`: the theory is a bound from below."""
        room = tolerance + 5 * sampling
        ok = ours is not None and (ours >= theory - room if at_least else
                                   abs(ours - theory) <= room)

        def cell(value):
            return "-" if value is None else "%.6g" % value

        self.print_row(name, (">= " if at_least else "") + cell(theory), cell(ours),
                       cell(tolerance), cell(sampling), "ok" if ok else "NO")
        if not ok:
            self.wrong.append(name)

    def done(self):
        check(not self.wrong, "not as theory has it:", ", ".join(self.wrong))
