"""The documents of real runs, however they ended, against the schema that is shipped and
what every document must hold."""
import copy
import json
import os
import signal
import socket

from plimsoll_test import (Failure, Skip, await_that, cases_of, check, children, document,
                           main)
from run_document import check_document, check_schema


def run(stage, *args, code=(0,), **how):
    got, out, err = stage.run("run", *args, "--json", "-", **how)
    check(got in code, args, "exit code", got, err)
    d = document(out)
    check_document(d)
    return d


def completed_runs_hold(stage):
    d = run(stage, "unix-bulk", "--size", "8MiB", "--trials", "2", "--verify")
    check(d["outcome"] == "completed" and len(d["trials"]) == 2, d["outcome"])
    check(d["trials"][0]["totals"]["client"]["received_bytes"] == 8 << 20, "bytes")
    check({c["name"]: c["ok"] for c in d["checks"]}["checksums"], d["checks"])
    for scenario in ("tcp-requests", "pipe-requests"):
        run(stage, scenario, "--requests", "50", "--trials", "1", "--port", "0"
            if scenario.startswith("tcp") else "50")
    d = run(stage, "unix-requests", "--client", "persistent", "--requests", "5k",
            "--concurrency", "4", "-w", "2", "--trials", "3")
    check(len(d["trials"][0]["processes"]) == 3, d["trials"][0]["processes"])
    check(d["statistics"]["requests_per_second"]["n"] == 3, d["statistics"])


def longer_runs_have_seconds(stage):
    d = run(stage, "unix-requests", "--client", "persistent", "--requests", "100m",
            "--duration", "2.3s", "--rate", "2000", "--trials", "1")
    s = d["trials"][0]["per_second"]["requests"]
    check(s["seconds"] >= 2 and 0 < s["mean"] <= s["max"], s)
    check(22 <= len(d["series"]) <= 30, len(d["series"]))
    check(d["trials"][0]["service_ns"], "a run with a rate has both times")


def udp_runs_hold(stage):
    for scenario in ("udp-cached-series", "udp-cached-parallel", "udp-fresh-series"):
        d = run(stage, scenario, "--messages", "3000", "--port", "0")
        loss = d["trials"][0]["loss"]
        check(loss["attempted"] == 3000, loss)
        check(sum(d["trials"][0]["labels"].values()) > 0, d["trials"][0]["labels"])


def services_hold(stage):
    for scenario in ("rest-rest", "rest-topper"):
        d = run(stage, scenario, "--amount", "200", "--port", "0")
        check(d["trials"][0]["status"] == {"200": 200}, d["trials"][0]["status"])
        check(set(d["trials"][0]["totals"]) == {"server", "endpoint", "client"}, "places")


def an_exhausted_run_holds(stage):
    d = run(stage, "udp-fresh-parallel", "--messages", "100000", "--port", "0")
    check(d["outcome"] == "exhausted" and d["reason"], d["outcome"], d["reason"])


def a_stopped_run_holds(stage):
    for begun in (False, True):
        p = stage.start("run", "unix-requests", "--client", "persistent", "--requests",
                        "100m", "--trials", "3", "--json", "-")
        if begun:
            stage.await_measured(p)
        else:
            await_that(lambda: children(p.pid), 5)
        p.send_signal(signal.SIGINT)
        got, out, err = stage.finish(p)
        d = document(out)
        check(got == 130 and d["outcome"] == "stopped", got, d["outcome"], err)
        check(len(d["trials"]) == 1, len(d["trials"]))
        check_document(d)


def failed_runs_hold(stage):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        d = run(stage, "tcp-bulk", "--size", "1MiB", "--port", str(s.getsockname()[1]),
                code=(3,))
    check(d["outcome"] == "failed" and "in use" in d["reason"], d["reason"])
    d = run(stage, "tcp-bulk", "--size", "1MiB", "--port", "0", "--client-launch", "false",
            code=(3,))
    check("client" in d["reason"] and "client" not in d["trials"][0]["totals"], d["reason"])
    for which in (0, -1):
        p = stage.start("run", "unix-requests", "--client", "connection", "--requests",
                        "100m", "--json", "-")
        stage.await_measured(p)
        os.kill(children(p.pid)[which], signal.SIGKILL)
        got, out, err = stage.finish(p)
        d = document(out)
        check(got == 3 and "killed by signal 9" in d["reason"], got, d["reason"], err)
        check_document(d)


def a_target_of_others_holds(stage):
    p = stage.start("serve", "unix", "--path", stage.path("socket"))
    check(b" serving " in p.stdout.readline(), "no server")
    d = run(stage, "unix-requests", "--target", "unix:" + stage.path("socket"),
            "--requests", "30", "--trials", "1")
    check(set(d["trials"][0]["totals"]) == {"client"}, d["trials"][0]["totals"])
    check(d["trials"][0]["metrics"]["server_cpu_percent"] is None, "server CPU")
    p.send_signal(signal.SIGINT)
    stage.finish(p)


def thresholds_are_told(stage):
    d = run(stage, "unix-requests", "--requests", "30", "--trials", "1",
            "--threshold", "p50<1h", "--threshold", "p99<1ns", code=(1,))
    check([t["ok"] for t in d["thresholds"]] == [True, False], d["thresholds"])


def odd_texts_stay_valid(stage):
    odd = "\x01\t\"\\\n</script> \u2028 \U0001f6a2"
    d = run(stage, "unix-requests", "--requests", "3", "--trials", "1", "--message", odd)
    check(d["parameters"]["message"] == odd, ascii(d["parameters"]["message"]))
    broken = b"\xff\xfe caf\xe9"
    got, out, err = stage.run(b"run", b"unix-requests", b"--requests", b"3", b"--trials",
                              b"1", b"--message", broken, b"--json", b"-")
    d = document(out)
    check(d["parameters"]["message"] == "\ufffd\ufffd caf\ufffd", ascii(out[:400]))
    check_document(d)


def a_locale_with_a_comma_changes_nothing(stage):
    stage.env["LC_ALL"] = "de_DE.UTF-8"
    run(stage, "unix-requests", "--requests", "3", "--trials", "1")


def the_schema_is_strict(stage):
    """A document that is wrong somewhere is refused: else the schema proves nothing."""
    d = run(stage, "unix-requests", "--requests", "30", "--trials", "1")

    def wrong(change):
        broken = copy.deepcopy(d)
        change(broken)
        try:
            check_schema(broken)
        except Failure:
            return
        raise Failure("not refused: %s" % json.dumps(broken)[:100])

    wrong(lambda x: x.update(more=1))
    wrong(lambda x: x.pop("reason"))
    wrong(lambda x: x.update(schema="plimsoll.run/2"))
    wrong(lambda x: x.update(outcome="fine"))
    wrong(lambda x: x["trials"][0].update(more=1))
    wrong(lambda x: x["trials"][0]["totals"]["client"].update(attempted=-1))
    wrong(lambda x: x["trials"][0]["totals"]["client"].update(attempted=None))
    wrong(lambda x: x["trials"][0]["totals"]["client"].pop("late"))
    wrong(lambda x: x["trials"][0]["totals"].update(other={}))
    wrong(lambda x: x["trials"][0]["latency_ns"].update(p99="1"))
    wrong(lambda x: x["trials"][0]["metrics"].update(seconds="1"))
    wrong(lambda x: x["trials"][0]["processes"][0].update(pid=1.5))
    wrong(lambda x: x["series"][0].update(t=-1))
    wrong(lambda x: x["statistics"]["seconds"].update(ci95=[1]))
    wrong(lambda x: x["checks"][0].update(ok="yes"))
    wrong(lambda x: x["environment"].update(cpus=0))


main(cases_of(globals()))
