"""Figures against servers and paths whose answers are known: what holds by construction on
any machine, however busy. Counts are exact; a time has a bound on one side alone."""
from yardstick import MS, S, Server, behind, measure

from plimsoll_test import cases_of, check, main


def web(stage, server, *args, **how):
    return measure(stage, "http", server.url, *args, **how)


def a_delay_is_in_every_latency(stage):
    with Server("http", "delay:%d" % (50 * MS)) as s:
        d = web(stage, s, "-c", "4", "-a", "20")
    t = d["trials"][0]
    check(t["totals"]["client"]["succeeded"] == 20 == s.account["answered"], s.account)
    check(t["latency_ns"]["min"] >= 50 * MS, t["latency_ns"])
    check(t["seconds"] >= 5 * 0.05, t["seconds"])
    check(t["metrics"]["requests_per_second"] <= 4 / 0.05, t["metrics"])


def a_delay_is_in_every_latency_of_a_stream(stage):
    for client in "connection", "persistent", "process":
        with Server("echo:43", "delay:%d" % (20 * MS)) as s:
            d = measure(stage, "run", "tcp-requests", "--target", s.target, "--client",
                        client, "--requests", "20", "--concurrency", "4", "--trials", "1")
        t = d["trials"][0]
        check(t["totals"]["client"]["succeeded"] == 20 == s.account["answered"], client,
              s.account)
        check(t["latency_ns"]["min"] >= 20 * MS, client, t["latency_ns"])


def a_queue_is_in_the_latency_of_a_schedule(stage):
    """Work of 10 ms at 200/s: each waits 5 ms longer than the one before it."""
    with Server("http", "even:%d" % (10 * MS)) as s:
        d = web(stage, s, "-c", "100", "-R", "200", "-a", "100")
    latency = d["trials"][0]["latency_ns"]
    # The k-th, from 0, ends at (k + 1) * 10 ms and was due at k * 5 ms.
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        k = round(q * 100) - 1
        check(latency[name] >= (10 + 5 * k) * MS, name, latency)
    check(latency["max"] >= (10 + 5 * 99) * MS, latency)


def a_freeze_is_in_the_latency_of_a_schedule(stage):
    """1 s of 2.5 s: of 250 requests 100 wait, evenly from 1 s down to nothing."""
    with Server("http", "freeze:%d:%d" % (S // 2, S)) as s:
        d = web(stage, s, "-c", "200", "-R", "100", "-a", "250")
    latency = d["trials"][0]["latency_ns"]
    check(latency["count"] == 250 == s.account["answered"], latency)
    check(latency["max"] >= 0.98 * S, latency)
    # 25 are longer than p90, and each is 10 ms longer than the next.
    check(latency["p90"] >= 0.73 * S, latency)
    check(latency["p75"] >= 0.36 * S, latency)


def a_reply_of_nothing_is_no_success(stage):
    for model in "close", "sink":
        for client in "connection", "process":
            with Server("echo:43", model) as s:
                d = measure(stage, "run", "tcp-requests", "--target", s.target,
                            "--client", client, "--requests", "4", "--trials", "1",
                            code=3)
            t = d["trials"][0]
            client_side = t["totals"]["client"]
            check(client_side["succeeded"] == 0 and client_side["failed"] == 4, model,
                  client, client_side)
            check(t["latency_ns"] is None, t["latency_ns"])
            check(all(e.startswith("receive") for e in t["errors"]), t["errors"])
    with Server("http", "close") as s:
        d = web(stage, s, "-c", "2", "-a", "4", code=3)
    check(d["trials"][0]["totals"]["client"]["failed"] == 4, d["trials"][0]["totals"])


def a_drain_is_no_time_of_load(stage):
    with Server("http", "delay:%d" % (500 * MS)) as s:
        d = web(stage, s, "-c", "100", "-R", "50", "-d", "1s")
    m = d["trials"][0]["metrics"]
    check(m["offered_seconds"] == 1 and m["seconds"] >= 1.4, m)
    check(m["received_seconds"] < 1.4, m)
    with Server("http", "hang:%d" % (500 * MS)) as s:
        d = web(stage, s, "-c", "3", "-d", "1s", code=None)
    m = d["trials"][0]["metrics"]
    check(m["offered_seconds"] == 1 == m["received_seconds"] and m["seconds"] >= 1.9, m)


def what_waits_in_the_path_is_not_received_yet(stage):
    option, account = behind(stage, "udp", "rate:2000")
    d = measure(stage, "run", "udp-cached-series", *option, "--messages", "4000",
                "--receive-buffer", "4MiB", "--trials", "1", "--drain", "2s")
    t = d["trials"][0]
    m, relay = t["metrics"], account()
    check(relay["passed"] == 4000 == t["loss"]["received"], relay, t["loss"])
    # They came over 2 s, whatever the sender took; half of it leaves room for a stall.
    check(m["received_seconds"] > 1, m)
    check(m["received_per_second"] < 4000, m)
    matched = [c for c in t["checks"] if c["name"] == "rates match the series"]
    check(matched[0]["ok"] is True, matched)


def loss_of_a_path_is_counted_and_not_explained(stage):
    option, account = behind(stage, "udp", "drop:10")
    d = measure(stage, "run", "udp-cached-series", *option, "--messages", "5000",
                "--trials", "1", code=None)
    loss, relay = d["trials"][0]["loss"], account()
    check(relay["came"] == 5000 and relay["dropped"] == 500, relay)
    check(loss["accepted"] == 5000, loss)
    check(loss["lost"] >= 500 and loss["unexplained"] >= 500, loss)
    check(loss["lost"] == 500 + loss["receiver_overflow"], loss)


def what_comes_twice_or_behind_is_counted(stage):
    option, account = behind(stage, "udp", "twice:10", "swap:7")
    d = measure(stage, "run", "udp-cached-series", *option, "--messages", "2000",
                "--rate", "20000", "--receive-buffer", "4MiB", "--trials", "1")
    loss, relay = d["trials"][0]["loss"], account()
    check(relay["came"] == 2000, relay)
    if loss["receiver_overflow"]:
        return
    check(loss["lost"] == 0 and loss["received"] == 2000, loss)
    check(loss["duplicate"] == relay["doubled"], loss, relay)
    check(loss["out_of_order"] == relay["swapped"], loss, relay)


main(cases_of(globals(), skip=("web", "measure", "behind")))
