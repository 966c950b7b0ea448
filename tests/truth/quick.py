"""Figures against servers and paths whose answers are known: what holds by construction on
any machine, however busy. Counts are exact; a time has a bound on one side alone."""
import os
import signal
import time

from yardstick import MS, S, Server, behind, measure

from plimsoll_test import cases_of, check, children, document, main
from run_document import check_document


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
        with Server("echo:44", "delay:%d" % (20 * MS)) as s:
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
            with Server("echo:44", model) as s:
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
    check(m["received_seconds"] < m["seconds"] - 0.25, m)  # the first came after 0.5 s
    with Server("http", "hang:%d" % (500 * MS)) as s:
        d = web(stage, s, "-c", "3", "-d", "1s", code=None)
    m = d["trials"][0]["metrics"]
    check(m["offered_seconds"] == 1 and m["seconds"] >= 1.9, m)
    check(m["received_seconds"] < m["seconds"] - 0.5, m)


HELD = ("--threshold", "p99<50ms", "--threshold", "errors<=0%")


def verdicts(d):
    return {v["text"]: v["ok"] for v in d["thresholds"]}


def a_hang_is_seen_in_a_closed_loop(stage):
    """Each of ten connections waits for all of the load and of the drain."""
    with Server("http", "hang:0") as s:
        d = web(stage, s, "-c", "10", "-d", "1s", *HELD, code=3)
    t = d["trials"][0]
    check(t["totals"]["client"]["unfinished"] == 10, t["totals"])
    check(t["metrics"]["unfinished_percent"] == 100, t["metrics"])
    check(t["metrics"]["error_percent"] == 100, t["metrics"])
    for p in "p50", "p99", "max":
        check(t["latency_ns"][p] >= S, p, t["latency_ns"])
        check("latency_%s_ns" % p in t["bounds"], t["bounds"])
    check(verdicts(d) == {"p99<50ms": False, "errors<=0%": False}, d["thresholds"])


def a_hang_fails_what_asks_for_no_errors(stage):
    """However many were answered before it."""
    with Server("http", "hang:%d" % (S // 2)) as s:
        d = web(stage, s, "-c", "10", "-d", "1s", *HELD, code=1)
    t = d["trials"][0]
    client = t["totals"]["client"]
    check(client["unfinished"] == 10 and client["succeeded"] == s.account["answered"],
          client, s.account)
    check(t["latency_ns"]["unfinished"] == 10, t["latency_ns"])
    check(t["latency_ns"]["max"] >= S, t["latency_ns"])  # what the drain is
    check("latency_max_ns" in t["bounds"], t["bounds"])
    check(verdicts(d)["errors<=0%"] is False, d["thresholds"])
    [unanswered] = [c for c in t["checks"] if c["name"] == "answered to the end"]
    check(unanswered["ok"] is False, unanswered)
    little = [c for c in t["checks"] if c["name"] == "Little's law"]
    check(little[0]["ok"] is True, little)
    # Ten were under way in the drain, which is a half of the time.
    check(float(little[0]["detail"].split("= ")[1].split()[0]) > 4.9, little)
    with Server("http", "hang:%d" % (S // 2)) as s:
        d = web(stage, s, "-c", "10", "-d", "1s", "--unfinished", "ignore",
                "--threshold", "errors<=0%")
    check(d["trials"][0]["metrics"]["unfinished_percent"] > 0, d["trials"][0]["metrics"])


def a_hang_on_a_schedule_is_no_small_thing(stage):
    """Of 200 due in 1 s the half is never answered: most of it never begun."""
    with Server("http", "hang:%d" % (S // 2)) as s:
        d = web(stage, s, "-c", "10", "-R", "200", "-d", "1s", *HELD, code=1)
    t = d["trials"][0]
    client, m = t["totals"]["client"], t["metrics"]
    check(client["attempted"] + client["never_begun"] == 200, client)
    check(client["unfinished"] == 10, client)
    unanswered = 200 - s.account["answered"]
    check(m["unfinished_percent"] == 100 * unanswered / 200 == m["error_percent"], m)
    check("latency_p99_ns" in t["bounds"], t["bounds"])
    check(t["latency_ns"]["max"] >= S, t["latency_ns"])
    check("unfinished" in d["thresholds"][0]["detail"], d["thresholds"])


def every_export_says_what_is_a_bound(stage):
    paths = {name: stage.path(name) for name in
             ("json", "csv", "openmetrics", "junit", "markdown", "html")}
    with Server("http", "hang:%d" % (S * 3 // 4)) as s:
        code, report, _ = stage.run("http", s.url, "-c", "10", "-R", "200", "-d", "1s",
                                    *HELD, *("--%s=%s" % p for p in paths.items()))
    check(code == 1, code)
    said = {}
    for name, path in paths.items():
        with open(path) as f:
            said[name] = f.read()
    live = document(said["json"])
    check_document(live)
    check("unfinished, which have waited that long at least" in report, report)
    check("p99 >= " in report and "p50 >= " not in report, report)
    check("FAIL    answered to the end" in report, report)
    rows = [line.split(",") for line in said["csv"].splitlines()]
    check(["latency_p99_ns", ">="] in [[r[4], r[7]] for r in rows], said["csv"])
    check(["latency_p50_ns", ""] in [[r[4], r[7]] for r in rows], said["csv"])
    check('quantile="0.99",bound=">="}' in said["openmetrics"], said["openmetrics"])
    check('quantile="0.5"}' in said["openmetrics"], said["openmetrics"])
    check("latency_p99_ns &gt;= " in said["junit"] and "unfinished" in said["junit"],
          said["junit"])
    check("| `latency_p99_ns` | >= " in said["markdown"], said["markdown"])
    check("&gt;= " in said["html"] or ">= " in said["html"])
    # A saved run is as it was.
    code, out, err = stage.run("show", "last", "--json")
    saved = document(out)
    check(code == 0 and saved["trials"] == live["trials"], err)
    check(saved["statistics"] == live["statistics"] and
          saved["thresholds"] == live["thresholds"], saved["thresholds"])


def a_client_that_was_stopped_is_told(stage):
    """For 1 s: what it shows then is its own, though every reply came at once."""
    with Server("http", "delay:0") as s:
        p = stage.start("http", s.url, "-c", "50", "-R", "200", "-a", "600",
                        "--quiet", "--json", "-")
        stage.await_measured(p)
        [client] = children(p.pid)
        os.kill(client, signal.SIGSTOP)
        time.sleep(1)  # what is measured: for how long it is stopped
        os.kill(client, signal.SIGCONT)
        code, out, _ = stage.finish(p)
    d = document(out)
    t = d["trials"][0]
    check(code == 0 and t["totals"]["client"]["succeeded"] == 600, t["totals"])
    ok = {c["name"]: c["ok"] for c in t["checks"]}
    check(ok["nobody held up"] is False and ok["generator in time"] is False, t["checks"])
    check(t["processes"][0]["clock_late_s"] >= 0.8, t["processes"])
    check(t["histograms"]["client_generator_ns"]["max"] >= 0.9 * S, t["histograms"])


def slow_replies_that_are_cut_off_count_as_long(stage):
    """All take 1.2 s; those begun last are seen for 1 s of it. None is faster."""
    with Server("http", "delay:%d" % (1200 * MS)) as s:
        d = web(stage, s, "-c", "100", "-R", "50", "-d", "1s", "--threshold",
                "errors<=0%")
    t = d["trials"][0]
    client = t["totals"]["client"]
    check(client["attempted"] + client["never_begun"] == 50, client)
    for p in "min", "p50", "p99":
        check(t["latency_ns"][p] >= 1200 * MS, p, t["latency_ns"])
    check(t["metrics"]["error_percent"] == 0, t["metrics"])


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
