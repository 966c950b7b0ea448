"""Server and clients in two network namespaces of our own, joined by a veth pair: the
launchers put them there, and the bytes really cross. Needs root."""
import os
import shutil
import signal
import subprocess

from plimsoll_test import (Skip, cases_of, check, check_that, children, document, main)
from run_document import check_document

A, B = "plimsoll-a-%d" % os.getpid(), "plimsoll-b-%d" % os.getpid()
ADDRESS = {A: "10.199.8.1", B: "10.199.8.2"}
LAUNCH = ("--server-launch", "ip netns exec " + A, "--client-launch", "ip netns exec " + B,
          "--host", ADDRESS[A], "--port", "0")


def ip(*args):
    p = subprocess.run(["ip", *args], capture_output=True, text=True, check=False)
    if p.returncode != 0:
        raise Skip("ip %s: %s" % (" ".join(args), p.stderr.strip()))
    return p.stdout


def make_namespaces():
    if os.geteuid() != 0:
        raise Skip("not root")
    if not shutil.which("ip"):
        raise Skip("no ip here")
    ip("netns", "add", A)
    ip("netns", "add", B)
    ip("link", "add", "veth0", "netns", A, "type", "veth", "peer", "name", "veth0",
       "netns", B)
    for name in (A, B):
        ip("-n", name, "address", "add", ADDRESS[name] + "/24", "dev", "veth0")
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "set", "veth0", "up")
    # What is sent before the link has come up is dropped.
    for name in (A, B):
        check_that(lambda: "state UP" in ip("-n", name, "link", "show", "veth0"), "no link")


def remove_namespaces():
    for name in (A, B):
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def received_bytes(name):
    """What has come out of the veth pair in a namespace."""
    text = ip("netns", "exec", name, "cat", "/sys/class/net/veth0/statistics/rx_bytes")
    return int(text)


def run(stage, *args, code=0, seconds=30):
    got, out, err = stage.run("run", *args, *LAUNCH, "--json", "-", seconds=seconds)
    check(got == code, args, "exit code", got, err)
    d = document(out)
    check_document(d)
    return d


def bulk_crosses_both_ways(stage):
    before = received_bytes(A), received_bytes(B)
    d = run(stage, "tcp-bulk", "--size", "16MiB", "--trials", "2", "--verify")
    check(d["outcome"] == "completed", d["reason"])
    check({c["name"]: c["ok"] for c in d["checks"]} ==
          {"counts at both ends": True, "checksums": True,
           "rates match the series": True}, d["checks"])
    server = d["trials"][0]["processes"][0]
    check(server["endpoint"].startswith("tcp:%s:" % ADDRESS[A]), server["endpoint"])
    for name, was in zip((A, B), before):
        moved = received_bytes(name) - was
        check(moved > 2 * (16 << 20), "moved", moved, "bytes into", name)


def requests_cross_with_every_kind_of_client(stage):
    for kind in ("process", "connection", "persistent"):
        d = run(stage, "tcp-requests", "--client", kind, "--requests", "60",
                "--concurrency", "4", "-w", "2", "--trials", "1")
        c = d["trials"][0]["totals"]["client"]
        check(d["outcome"] == "completed" and c["succeeded"] == 60, kind, c)
        for p in d["trials"][0]["processes"]:
            check(p["pid"] > 0, p)


def services_and_datagrams_cross(stage):
    d = run(stage, "rest-topper", "--amount", "200")
    check(d["trials"][0]["status"] == {"200": 200}, d["trials"][0]["status"])
    d = run(stage, "udp-cached-series", "--messages", "2000", "--rate", "20k")
    check(d["trials"][0]["loss"]["received"] > 0, d["trials"][0]["loss"])


def one_clock_is_common(stage):
    """Namespaces share the clock: a one-way latency of a datagram is a latency."""
    d = run(stage, "udp-cached-series", "--messages", "500", "--rate", "1k")
    h = d["trials"][0]["latency_ns"]
    check(h and 0 < h["p50"] < 1e9, h)


def what_does_not_work_there_is_told(stage):
    for args, words in (
            (("--server-launch", "ip netns exec plimsoll-none"), ("plimsoll-none",)),
            (("--client-launch", "ip netns exec plimsoll-none"), ("plimsoll-none",)),
            (("--host", "10.199.8.77"), ("10.199.8.77", "Cannot assign")),
            # The client looks for the server in the wrong namespace.
            (("--host", "127.0.0.1"), ("no server listens",))):
        got, out, err = stage.run("run", "tcp-bulk", "--size", "1MiB", "--trials", "1",
                                  *LAUNCH, *args, "-q")
        check(got == 3, args, "exit code", got, err)
        for word in words:
            check(word in err, args, err)


def without_a_launcher_the_address_is_refused(stage):
    got, _, err = stage.run("run", "tcp-bulk", "--host", ADDRESS[A], "-q")
    check(got == 2 and "loopback" in err, got, err)
    got, _, err = stage.run("run", "tcp-bulk", "--target", "tcp:%s:9" % ADDRESS[A], "-q")
    check(got == 2 and "--remote-target" in err, got, err)


def a_killed_worker_leaves_nothing_there(stage):
    for which in (0, -1):
        p = stage.start("run", "tcp-requests", "--client", "connection", "--requests",
                        "100m", "--trials", "1", *LAUNCH, "--json", "-")
        stage.await_measured(p)
        os.kill(children(p.pid)[which], signal.SIGKILL)
        got, out, err = stage.finish(p)
        d = document(out)
        check(got == 3 and "killed by signal 9" in d["reason"], got, d["reason"], err)
        check_document(d)
    check(not ip("netns", "pids", A).split() and not ip("netns", "pids", B).split(),
          "processes are left in the namespaces")


def a_cut_link_is_no_hang(stage):
    p = stage.start("run", "tcp-requests", "--client", "persistent", "--requests", "100m",
                    "--duration", "3s", "--timeout", "500ms", "--trials", "1", *LAUNCH,
                    "--json", "-")
    stage.await_measured(p)
    try:
        ip("-n", A, "link", "set", "veth0", "down")
        got, out, err = stage.finish(p, 25)
    finally:
        ip("-n", A, "link", "set", "veth0", "up")
    d = document(out)
    check_document(d)
    c = d["trials"][0]["totals"]["client"]
    check(c["timed_out"] + c["failed"] + c["unfinished"] > 0 and c["succeeded"] > 0, c)


try:
    make_namespaces()
    main(cases_of(globals()))
except Skip as e:
    print("skip netns:", e)
finally:
    remove_namespaces()
