"""What holds of every document of a run: its schema, and what a schema cannot say."""
import json
import math
import os
import statistics

from plimsoll_test import Skip, check

PERCENTILES = ("p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99")
BADNESS = ("completed", "stopped", "exhausted", "failed")


def schema():
    with open(os.path.join(os.path.dirname(__file__), "../engine/report/run.schema.json")) as f:
        return json.load(f)


def check_schema(d):
    try:
        import jsonschema
    except ImportError:
        raise Skip("python3-jsonschema is not installed")
    validator = jsonschema.Draft7Validator(schema())
    validator.check_schema(validator.schema)
    for error in validator.iter_errors(d):
        where = "/".join(str(p) for p in error.absolute_path)
        check(False, "schema: at", where, error.message[:300])


def near(a, b, by=1e-9):
    return math.isclose(a, b, rel_tol=by, abs_tol=1e-12)


def check_latencies(h, what):
    if h is None:
        return
    check(h["min"] <= h["mean"] * (1 + 1e-9) and h["mean"] <= h["max"] * (1 + 1e-9), what,
          "mean", h)
    values = [h["min"]] + [h[p] for p in PERCENTILES] + [h["max"]]
    check(values == sorted(values), what, "order of percentiles", h)
    check(h["stdev"] <= (h["max"] - h["min"]) * (1 + 1e-9), what, "stdev", h)


def reported(t, place=None):
    """Whether all processes (of a place) told their totals."""
    return all(p["outcome"] != "not reported" and p["pid"] > 0 and
               not p["reason"].startswith(("was killed", "ended with"))
               for p in t["processes"] if place in (None, p["role"]))


def check_counts(t):
    c = t["totals"].get("client")
    if c is None or not reported(t, "client"):
        return
    check(c["attempted"] == c["succeeded"] + c["failed"] + c["timed_out"] +
          c["unfinished"], "identity", c)
    if t["loss"] is None:
        check(sum(t["errors"].values()) == c["failed"], "errors by kind", t["errors"], c)
    if t["latency_ns"] and t["loss"] is None:
        check(t["latency_ns"]["count"] == c["succeeded"], "latencies", t["latency_ns"], c)
    for name in ("identity",):
        for row in t["checks"]:
            check(row["name"] != name or row["ok"] is True, row)


def check_loss(t):
    loss = t["loss"]
    if loss is None or loss["lost"] is None:
        return
    check(loss["accepted"] == loss["received"] + loss["lost"], loss)
    check(loss["lost"] == loss["receiver_overflow"] + loss["unexplained"], loss)
    if loss["accepted"]:
        check(near(loss["percent"], 100 * loss["lost"] / loss["accepted"]), loss)


def check_metrics(t):
    m, c = t["metrics"], t["totals"].get("client")
    check(m["seconds"] == t["seconds"], "seconds", m["seconds"], t["seconds"])
    if m["requests_per_second"] is not None:
        check(near(m["requests_per_second"] * m["received_seconds"], c["succeeded"]), m, c)
    if None not in (m["offered_seconds"], m["received_seconds"]):
        check(m["offered_seconds"] <= m["received_seconds"] * (1 + 1e-9), m)
    if m["latency_p50_ns"] is not None:
        for p in PERCENTILES:
            check(m["latency_%s_ns" % p] == t["latency_ns"][p], p, m)
    for name in ("requests", "received", "throughput", "read_bytes"):
        s = t["per_second"][name]
        if s["seconds"]:
            check(s["mean"] <= s["max"] * (1 + 1e-9), name, s)
        else:
            check(s["mean"] is None and s["max"] is None, name, s)


def check_statistics(d):
    completed = [t for t in d["trials"] if t["outcome"] == "completed"]
    for name, s in d["statistics"].items():
        values = []
        for trials in (completed, d["trials"]):
            values = values or [t["metrics"][name] for t in trials
                                if t["metrics"][name] is not None]
        check(s["n"] == len(values), name, s, values)
        check(near(s["median"], statistics.median(values)), name, s, values)
        check(near(s["mean"], statistics.fmean(values)), name, s, values)
        check(s["min"] == min(values) and s["max"] == max(values), name, s, values)
        if s["n"] > 1:
            check(math.isclose(s["stdev"], statistics.stdev(values), rel_tol=1e-6,
                               abs_tol=1e-9 * max(values)), name, s, values)
            if s["bound"] or min(values) == 0 < max(values) and len(values) < 6:
                check(s["ci95"] is None, name, s)
            else:
                check(0 <= s["ci95"][0] <= s["median"] <= s["ci95"][1], name, s)


def check_series(d):
    step = d["series_step"]
    for i, slot in enumerate(d["series"]):
        check(near(slot["t"], i * step), "step", i, slot["t"])
        if slot["p50_ns"] is not None:
            check(slot["p50_ns"] <= slot["p99_ns"] <= slot["max_ns"], slot)
    # What the series shows is what the totals say: nothing is lost on the way.
    for place in ("server", "endpoint", "client"):
        if not all(reported(t, place) for t in d["trials"]):
            continue
        for counter in ("sent_bytes", "received_bytes", "succeeded", "unique", "overflow"):
            shown = sum(s[place][counter] for s in d["series"] if place in s)
            told = sum(t["totals"][place][counter] for t in d["trials"]
                       if place in t["totals"])
            check(shown == told, "series of", place, counter, shown, told)


def check_document(d):
    check_schema(d)
    check([t["number"] for t in d["trials"]] == list(range(1, len(d["trials"]) + 1)),
          "numbers of trials")
    if d["trials"]:
        worst = max((t["outcome"] for t in d["trials"]), key=BADNESS.index)
        check(d["outcome"] == worst, "outcome", d["outcome"], worst)
        check(d["checks"] == d["trials"][-1]["checks"], "checks")
    check(bool(d["reason"]) == (d["outcome"] != "completed"), d["outcome"], d["reason"])
    for t in d["trials"]:
        check(bool(t["reason"]) == (t["outcome"] != "completed"), t["outcome"], t["reason"])
        for name, h in t["histograms"].items():
            check_latencies(h, name)
        check_latencies(t["latency_ns"], "latency")
        check_latencies(t["service_ns"], "service")
        check_counts(t)
        check_loss(t)
        check_metrics(t)
    check_statistics(d)
    check_series(d)
    for figure in d["reference"]["figures"]:
        if d["trials"]:
            check(figure["metric"] in d["trials"][0]["metrics"], figure)
