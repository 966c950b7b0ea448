"""Figures against theory, as a table: what takes minutes, and what only a machine that is
not too busy shows. TRUTH_SECONDS is the length of a run with a queue (60)."""
import os

from yardstick import (MS, S, Server, Table, behind, measure, response_theory,
                       sampling_errors, urgent)

from plimsoll_test import cases_of, main

SECONDS = int(os.environ.get("TRUTH_SECONDS", "60"))
URGENT = urgent()
WAKE = 0.2 * MS  # what a reply is on its way, and a process late in waking


def serve(model):
    return Server("http", model, URGENT)


def load(stage, *args, **how):
    """A run whose clients run before others too."""
    launch = ("--client-launch", " ".join(URGENT)) if URGENT else ()
    return measure(stage, *args, *launch, **how)


def path(stage, kind, *faults):
    return behind(stage, kind, *faults, words=URGENT)


def late(server):
    """How late the yardstick itself was, in the mean."""
    return server.account["late_ns"]["mean"]


def a_fixed_delay(stage):
    table = Table()
    for delay in 1, 10, 100:
        with serve("delay:%d" % (delay * MS)) as s:
            d = load(stage, "http", s.url, "-c", "10", "-d", "5s")
        t = d["trials"][0]
        room = WAKE + late(s)
        for figure in "mean", "p50", "p90":
            table.row("delay %d ms: %s, ms" % (delay, figure), delay,
                      t["latency_ns"][figure] / MS, room / MS + delay / 1000)
        rate = 10 / (delay / 1000)
        table.row("delay %d ms: requests/s" % delay, rate,
                  t["metrics"]["requests_per_second"],
                  rate * (room / MS / delay + 0.005))
    table.done()


def a_freeze_of_a_second(stage):
    """1,000/s for 10 s: the tenth that is due in it waits from 1 s down to nothing."""
    table = Table()
    with serve("freeze:%d:%d" % (2 * S, S)) as s:
        d = load(stage, "http", s.url, "-c", "1500", "-R", "1000", "-a", "10000")
    t = d["trials"][0]
    for figure, wanted in (("p50", 0), ("p95", 0.5), ("p99", 0.9), ("p99_9", 0.99),
                           ("max", 1), ("mean", 0.05)):
        table.row("freeze of 1 s: %s, s" % figure, wanted, t["latency_ns"][figure] / S,
                  0.01)
    table.row("freeze of 1 s: requests", 10000, t["totals"]["client"]["succeeded"])
    table.done()


def a_queue(stage, arrivals, use):
    work = 0.002
    rate = round(use / work)
    count = rate * SECONDS
    name = "%s/M/1 at %d %%" % ("M" if arrivals == "poisson" else "D", 100 * use)
    with serve("exponential:%d:7" % (work * S)) as s:
        d = load(stage, "http", s.url, "-c", "500", "-R", str(rate), "-a", str(count),
                    "--arrivals", arrivals, "--arrivals-seed", "11", seconds=SECONDS + 60)
    t = d["trials"][0]
    theory = response_theory(rate, work, arrivals)
    errors = sampling_errors(rate, work, arrivals, count)
    table = Table()
    for figure in "mean", "p50", "p90", "p95", "p99":
        ours = t["latency_ns"][figure]
        table.row("%s: %s, ms" % (name, figure), theory[figure] * 1e3, ours / MS,
                  (WAKE + late(s)) / MS, errors[figure] * 1e3)
        # The very same requests: chance has no part in it.
        own = s.account["response_ns"][figure]
        table.row("%s: %s beside the server's own, ms" % (name, figure), own / MS,
                  ours / MS, (WAKE + 0.02 * own) / MS)
    table.row("%s: the server late in the mean, ms" % name, 0, late(s) / MS, 0.5)
    table.row("%s: started a second" % name, rate, count / t["seconds"],
              rate * 0.01, rate / count ** 0.5 if arrivals == "poisson" else 0)
    table.done()


def even_arrivals_at_half_the_capacity(stage):
    a_queue(stage, "even", 0.5)


def even_arrivals_at_four_fifths(stage):
    a_queue(stage, "even", 0.8)


def poisson_arrivals_at_half_the_capacity(stage):
    a_queue(stage, "poisson", 0.5)


def poisson_arrivals_at_four_fifths(stage):
    a_queue(stage, "poisson", 0.8)


def a_lossy_path(stage):
    table = Table()
    for each in 1000, 100, 10, 2:
        option, account = path(stage, "udp", "drop:%d" % each)
        d = load(stage, "run", "udp-cached-series", *option, "--messages", "20000",
                    "--rate", "5000", "--receive-buffer", "4MiB", "--trials", "1",
                    code=None)
        loss, relay = d["trials"][0]["loss"], account()
        table.row("1 of %d dropped: lost" % each, relay["dropped"], loss["lost"])
        table.row("1 of %d dropped: loss, %%" % each, 100 / each, loss["percent"])
    option, account = path(stage, "udp", "twice:10", "swap:7")
    d = load(stage, "run", "udp-cached-series", *option, "--messages", "20000",
                "--rate", "5000", "--receive-buffer", "4MiB", "--trials", "1")
    loss, relay = d["trials"][0]["loss"], account()
    table.row("1 of 10 twice: duplicate", relay["doubled"], loss["duplicate"])
    table.row("1 of 7 behind the next: out of order", relay["swapped"],
              loss["out_of_order"])
    table.row("twice and behind: lost", 0, loss["lost"])
    table.done()


def a_slow_path_for_datagrams(stage):
    """All are sent at once, and wait in the path: the receiver's rate is the path's."""
    table = Table()
    for rate in 2000, 10000:
        option, account = path(stage, "udp", "rate:%d" % rate)
        d = load(stage, "run", "udp-cached-series", *option, "--messages",
                    str(2 * rate), "--receive-buffer", "4MiB", "--trials", "1",
                    "--drain", "1s", code=None)
        t = d["trials"][0]
        account()
        table.row("path of %d datagrams/s: received/s" % rate, rate,
                  t["metrics"]["received_per_second"], rate * 0.01)
        table.row("path of %d datagrams/s: lost" % rate, 0, t["loss"]["lost"])
    table.done()


def a_slow_path_for_a_stream(stage):
    table = Table()
    for mb, room in (5, "room:1000000"), (20, "room:1000000"):
        option, account = path(stage, "tcp", "rate:%d000000" % mb, room)
        d = load(stage, "run", "tcp-bulk", *option, "--direction", "up", "--size",
                    "%d000000" % (3 * mb), "--trials", "1", "--method", "copy",
                    code=None)
        t = d["trials"][0]
        account()
        what = "path of %d MB/s" % mb
        table.row(what + ": throughput up, MB/s", mb,
                  (t["metrics"]["throughput_up"] or 0) / 1e6, mb * 0.02)
        table.row(what + ": received, MB", 3 * mb,
                  t["totals"]["server"]["received_bytes"] / 1e6)
    table.done()


main(cases_of(globals(), skip=("serve",)))
