"""Bad input and faults against the real program: a clear sentence, the right exit code,
and nothing left behind, in bounded time."""
import contextlib
import os
import signal
import socket
import stat
import subprocess
import time

from plimsoll_test import (BUILD, ENGINE, Failure, Skip, await_that, cases_of, check,
                           children,
                           document, main)

OK, USAGE, FAILED, EXHAUSTED, INTERRUPTED = 0, 2, 3, 4, 130
SMALL = ("--size", "1MiB", "--trials", "1")
QUICK = ("--requests", "20", "--trials", "1")


def expect(stage, args, code, *words, **how):
    """Run; the exit code, and a sentence of one line with each of the words."""
    began = time.monotonic()
    got, out, err = stage.run(*args, **how)
    check(got == code, "exit code %d, wanted %d: %s: %s%s" % (got, code, args, out, err))
    for word in words:
        check(word in err, "no '%s' in: %s" % (word, err))
    if code in (USAGE, FAILED):
        check(err.startswith("plimsoll: "), "no sentence:", err)
        check(err.endswith("\n") and len(err.splitlines()) == 1, "not one line:", err)
        check(".." not in err.replace("1..", "").replace("0..", ""), "two full stops:", err)
    check(time.monotonic() - began < 20, "took", time.monotonic() - began, "s")
    return out


# ---- the command line ----

def what_is_typed_wrong_is_refused_and_named(stage):
    bulk, requests = ("run", "tcp-bulk"), ("run", "tcp-requests")
    for args, words in [
        ((), ()),
        (("rum",), ("no command 'rum'", "did you mean 'run'")),
        (("run",), ("which scenario?",)),
        (("run", "--size", "5"), ("which scenario?",)),
        (("run", "tcp-blk"), ("no scenario 'tcp-blk'", "did you mean 'tcp-bulk'")),
        (("run", "xylophone"), ("no scenario 'xylophone'", "list")),
        (bulk + ("--sise", "5"), ("no option --sise", "did you mean --size?")),
        (bulk + ("--trails=5",), ("did you mean --trials?",)),
        (bulk + ("-Z",), ("no option -Z",)),
        (bulk + ("more",), ("'more'",)),
        (bulk + ("--size",), ("--size needs a value",)),
        (bulk + ("--size", "0"), ("--size cannot be '0'",)),
        (bulk + ("--size", "-1"), ("--size cannot be '-1'",)),
        (bulk + ("--size=-1",), ("--size cannot be '-1'",)),
        (bulk + ("--size", "1e9"), ("--size cannot be '1e9'",)),
        (bulk + ("--size", "99999999999999999999999999"), ("--size cannot be",)),
        (bulk + ("--size", "18446744073709551616"), ("--size cannot be",)),
        (bulk + ("--block", "2GiB"), ("--block cannot be '2GiB'",)),
        (bulk + ("--trials", "0"), ("--trials cannot be '0'",)),
        (bulk + ("--workers", "257"), ("--workers cannot be '257'",)),
        (bulk + ("--direction", "sideways"), ("both|up|down",)),
        (bulk + ("--verify=perhaps",), ("on|off",)),
        (requests + ("--requests", "0"), ("--requests cannot be '0'",)),
        (requests + ("--port", "65536"), ("--port cannot be '65536'",)),
        (requests + ("--duration", "ten"), ("--duration cannot be 'ten'",)),
        (requests + ("--timeout", "0"), ("--timeout cannot be '0'",)),
        (requests + ("--workers", "3"), ("cannot share --concurrency 1",)),
        (requests + ("--server-launch", "a 'b"), ("open quote",)),
        (bulk + ("--pin", "x"), ("not a list of CPUs",)),
        (bulk + ("--pin", "0/1-"), ("not a list of CPUs",)),
        (requests + ("--target", "rubbish"), ("not an endpoint",)),
        (requests + ("--target", "tcp:192.0.2.1:80"), ("--remote-target",)),
        (requests + ("--host", "192.0.2.1"), ("loopback",)),
        (("run", "unix-bulk", "--path", "/tmp/" + "x" * 103), ("at most 107",)),
        (("run", "pipe-bulk", "--path", "/tmp/" + "x" * 103), ("at most 107",)),
        (("serve",), ("which server?",)),
        (("serve", "tpc"), ("no server 'tpc'", "did you mean")),
        (("serve", "tcp", "--port", "x"), ("--port cannot be 'x'",)),
        (("doctor", "tcp-blk"), ("no scenario 'tcp-blk'",)),
        (("list", "--jsno"), ("did you mean --json?",)),
    ]:
        got, out, err = stage.run(*args, seconds=10)
        check(got == USAGE, args, "exit code", got, err)
        check(out == "", "said on standard output:", out)
        for word in words:
            check(word in err, args, "no '%s' in: %s" % (word, err))
        check("Sanitizer" not in err, err)


def help_is_no_error(stage):
    for args in (("--help",), ("--version",), ("list",), ("run", "--help"),
                 ("run", "tcp-bulk", "--help"), ("serve", "--help"), ("doctor",),
                 ("serve", "tcp", "--help"), ("doctor", "tcp-bulk", "--json")):
        got, out, err = stage.run(*args, seconds=10)
        check(got == OK and out and not err, args, got, err)


# ---- addresses and files ----

def a_tcp_address_in_use_is_told(stage):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = str(s.getsockname()[1])
        for scenario in ("tcp-bulk", "tcp-requests"):
            expect(stage, ("run", scenario, "--port", port, "--trials", "1", "--quick",
                           "-q"), FAILED,
                   "server", "Address already in use", port)
        got, _, err = stage.run("serve", "tcp", "--port", port)
        check(got == FAILED and "Address already in use" in err, got, err)


def a_socket_in_use_is_told_and_left_alone(stage):
    path = stage.path("socket")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(path)
        s.listen()
        expect(stage, ("run", "unix-bulk", *SMALL, "--path", path, "-q"), FAILED,
               "a server listens at " + path)
        check(stat.S_ISSOCK(os.stat(path).st_mode), "the socket is gone")


def a_stale_socket_is_replaced(stage):
    path = stage.path("socket")
    for scenario, more in (("unix-bulk", SMALL), ("unix-requests", QUICK)):
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(path)
        expect(stage, ("run", scenario, *more, "--path", path, "-q"), OK)
        check(not os.path.exists(path), "the socket file is left")


def a_stale_fifo_is_replaced(stage):
    path = stage.path("fifo")
    for scenario, more in (("pipe-bulk", SMALL), ("pipe-requests", QUICK)):
        os.mkfifo(path)
        os.mkfifo(path + ".me.up")
        os.mkfifo(path + ".me.down")
        expect(stage, ("run", scenario, *more, "--path", path, "-q"), OK)
        check(os.listdir(stage.directory) == ["runtime"] or
              not [n for n in os.listdir(stage.directory) if n.startswith("fifo")],
              "FIFOs are left:", os.listdir(stage.directory))


def a_file_that_is_no_socket_is_left_alone(stage):
    path = stage.path("precious")
    for scenario in ("unix-bulk", "pipe-bulk"):
        with open(path, "w") as f:
            f.write("precious")
        expect(stage, ("run", scenario, *SMALL, "--path", path, "-q"), FAILED,
               "left alone")
        with open(path) as f:
            check(f.read() == "precious", "the file was changed")


def a_directory_that_does_not_exist_is_told(stage):
    for scenario in ("unix-bulk", "pipe-bulk"):
        expect(stage, ("run", scenario, *SMALL, "--path", "/no/such/dir/x", "-q"), FAILED,
               "/no/such/dir/x", "No such file or directory")


def targets_without_a_peer_are_told(stage):
    fifo, plain = stage.path("fifo"), stage.path("plain")
    os.mkfifo(fifo)
    with open(plain, "w"):
        pass
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
        for scenario, target, words in [
            ("pipe-bulk", "pipe:" + fifo, ("no server reads the named pipe",)),
            ("pipe-bulk", "pipe:" + plain, ("is not a named pipe",)),
            ("pipe-bulk", "pipe:" + stage.path("none"), ("No such file",)),
            ("unix-bulk", "unix:" + stage.path("none"), ("No such file",)),
            ("unix-bulk", "unix:" + plain, ("Connection refused",)),
            ("tcp-bulk", "tcp:127.0.0.1:%d" % port, ("no server listens at",)),
        ]:
            got, out, err = stage.run("run", scenario, *SMALL, "--target", target, "-q")
            check(got == FAILED, target, "exit code", got, err)
            for word in words:
                check(word in err or "no server" in err, target, word, err)


def requests_to_nobody_end(stage):
    fifo = stage.path("fifo")
    os.mkfifo(fifo)
    for kind in ("process", "connection", "persistent"):
        got, out, err = stage.run("run", "pipe-requests", *QUICK, "--client", kind,
                                  "--target", "pipe:" + fifo, "--json", "-", seconds=20)
        d = document(out)
        t = d["trials"][-1]["totals"]["client"]
        check(t["attempted"] == t["succeeded"] + t["failed"] + t["timed_out"] +
              t["unfinished"], kind, t)
        check(t["succeeded"] == 0, kind, t)
        check(got in (OK, FAILED), kind, got, err)


def a_file_that_cannot_be_read_is_told(stage):
    expect(stage, ("run", "unix-bulk", "--file", stage.path("none"), "-q"), USAGE,
           stage.path("none"), "No such file or directory")
    expect(stage, ("run", "unix-bulk", "--file", stage.directory, "-q"), USAGE,
           stage.directory)
    path = stage.path("secret")
    with open(path, "w") as f:
        f.write("secret")
    os.chmod(path, 0)
    if os.geteuid() != 0:
        expect(stage, ("run", "unix-bulk", "--file", path, "-q"), USAGE,
               path, "Permission denied")
        return

    def become_nobody():
        os.setgid(65534)
        os.setuid(65534)

    probe = subprocess.run(["test", "-x", ENGINE], preexec_fn=become_nobody, check=False)
    if probe.returncode != 0:
        raise Skip("another user cannot run " + ENGINE)
    expect(stage, ("run", "unix-bulk", "--file", path, "-q"), USAGE,
           path, "Permission denied", preexec_fn=become_nobody)


def an_empty_file_is_no_hang(stage):
    path = stage.path("empty")
    with open(path, "w"):
        pass
    expect(stage, ("run", "unix-bulk", "--trials", "1", "--file", path, "-q"), USAGE,
           path, "is empty")


# ---- limits ----

def limited(n):
    return lambda: __import__("resource").setrlimit(
        __import__("resource").RLIMIT_NOFILE, (n, n))


def too_few_descriptors_are_refused_before_the_start(stage):
    for scenario in ("tcp-requests", "pipe-requests"):
        expect(stage, ("run", scenario, "--requests", "500", "--concurrency", "500"),
               FAILED, "needs", "open files and has 100", "ulimit -Hn",
               preexec_fn=limited(100), seconds=5)


def what_just_fits_is_carried_out(stage):
    """The need that is told is enough: neither too little nor refused in vain."""
    kinds = [("run", "%s-requests" % transport, "--requests", "600", "--concurrency", "100",
              "--trials", "1", "--client", kind, *workers)
             for transport in ("unix", "pipe")
             for kind, workers in (("process", ()), ("connection", ()),
                                   ("persistent", ("-w", "2")))]
    kinds.append(("run", "rest-topper", "--amount", "600", "-c", "100", "--port", "0"))
    kinds.append(("run", "unix-bulk", "--size", "1KiB", "--trials", "1", "-w", "40"))
    for args in kinds:
        got, _, err = stage.run(*args, "-q", preexec_fn=limited(60))
        check(got == FAILED, args, got, err)
        need = int(err.split(" needs ")[1].split()[0])
        got, _, err = stage.run(*args, "-q", preexec_fn=limited(need - 1))
        check(got == FAILED and "needs %d open files" % need in err, args, got, err)
        expect(stage, args + ("-q",), OK, preexec_fn=limited(need))


def a_low_soft_limit_is_raised(stage):
    import resource

    def soft():
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))

    expect(stage, ("run", "unix-requests", "--requests", "300", "--concurrency", "100",
                   "--client", "connection", "--trials", "1", "-q"), OK,
           preexec_fn=soft)


def hardly_any_descriptors_are_no_crash(stage):
    for n in range(8, 26): # with fewer the program itself cannot be loaded
        got, out, err = stage.run("run", "unix-bulk", *SMALL, "-q",
                                  preexec_fn=limited(n), seconds=20)
        check(got in (OK, FAILED), n, "descriptors: exit code", got, err)
        if got == FAILED:
            check(err.startswith("plimsoll: "), n, "descriptors:", err)


# ---- a machine without /proc ----

def a_missing_proc_is_named(stage):
    words = ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c",
             'mount -t tmpfs none /proc && exec "$@"', "sh"]
    try:
        subprocess.run(words + ["true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise Skip("/proc cannot be taken away")
    got, _, err = stage.run(*words[1:], ENGINE, "run", "unix-requests", *QUICK, "-q",
                            program=words[0])
    if "Sanitizer" in err:
        raise Skip("a sanitizer needs /proc")
    check(got == FAILED and "/proc/self/exe" in err and err.count("\n") == 1, got, err)


# ---- launchers ----

def launchers_that_do_not_work_are_told(stage):
    for which, place in (("--server-launch", "server"), ("--client-launch", "client")):
        for launcher, words in [
            ("/no/such/launcher", ("'/no/such/launcher'", "No such file")),
            ("no-such-launcher", ("'no-such-launcher'", "No such file")),
            ("false", ("ended with exit status 1",)),
            ("sh -c 'echo no route to host >&2; exit 255'",
             ("exit status 255", "no route to host")),
            ("echo", ("ended with exit status 0", "worker")),
            ("timeout 0.2", None),
        ]:
            args = ("run", "tcp-bulk", *SMALL, "--port", "0", which, launcher, "-q")
            if words is None:
                got, _, err = stage.run(*args, "--size", "64MiB")
                check(got in (OK, FAILED), launcher, got, err)
                continue
            expect(stage, args, FAILED, place, *words)


def launchers_that_work_are_no_difference(stage):
    for launcher in ("env", "nice -n 1", "sh -c '\"$@\"' sh", "sh -c 'exec \"$@\"' sh",
                     "setsid -w", "sh -c 'cat | \"$0\" \"$@\"'",
                     "sh -c '\"$0\" \"$@\" | cat'"):
        expect(stage, ("run", "unix-requests", *QUICK, "--server-launch", launcher,
                       "--client-launch", launcher, "-q"), OK)


# ---- death at any moment ----

RUNS = (("unix-bulk", "--file", "SPARSE", "--trials", "2"),
        ("pipe-requests", "--requests", "100000", "--concurrency", "4", "--trials", "1"),
        ("tcp-requests", "--requests", "1000000", "--concurrency", "20", "--client",
         "connection", "--port", "0", "--trials", "1", "-w", "2"))


def runs_of(stage):
    """The same with a file that takes no time to make and a second to send."""
    path = stage.path("sparse")
    with open(path, "w") as f:
        f.truncate(2 << 30)
    return [[path if word == "SPARSE" else word for word in args] for args in RUNS]


def workers(pid):
    return children(pid)


def check_ended(stage, p, code, outcomes):
    got, out, err = stage.finish(p, 20)
    d = document(out)
    check(d["outcome"] in outcomes, d["outcome"], d["reason"], err)
    check(got == {"completed": OK, "stopped": INTERRUPTED,
                  "failed": code}[d["outcome"]], got, d["outcome"], err)
    return d


def a_worker_is_killed_at_any_moment(stage):
    for args in runs_of(stage):
        for which in (0, -1):
            for delay in (0, 0.005, 0.02, 0.1, 0.3):
                p = stage.start("run", *args, "--json", "-")
                pids = await_that(lambda: workers(p.pid) or p.poll() is not None, 5)
                time.sleep(delay)
                pids = workers(p.pid)
                if pids:
                    with contextlib.suppress(ProcessLookupError): # it ended just now
                        os.kill(pids[which], signal.SIGKILL)
                d = check_ended(stage, p, FAILED, ("completed", "failed"))
                if d["outcome"] == "failed":
                    check(d["reason"], "no reason")
                check(not os.listdir(stage.runtime), args, which, delay, "left:",
                      os.listdir(stage.runtime))


def the_reason_names_the_killed_worker(stage):
    for which, place in ((0, "server"), (-1, "client")):
        p = stage.start("run", *RUNS[2], "--json", "-")
        stage.await_measured(p)
        os.kill(workers(p.pid)[which], signal.SIGKILL)
        d = check_ended(stage, p, FAILED, ("failed",))
        check("the %s process was killed by signal 9" % place in d["reason"], d["reason"])
        check(len(d["trials"]) == 1 and d["trials"][0]["outcome"] == "failed", d["reason"])
        # What was measured until then stays.
        check(d["trials"][0]["totals"]["client"]["attempted"] > 0, d["trials"][0]["totals"])


def the_engine_is_killed_at_any_moment(stage):
    for args in runs_of(stage):
        for delay in (0, 0.02, 0.1, 0.3):
            p = stage.start("run", *args, "-q")
            await_that(lambda: workers(p.pid), 5)
            time.sleep(delay)
            p.kill()
            p.wait()
            left = await_that(lambda: not os.listdir(stage.runtime), 5)
            check(not os.listdir(stage.runtime), args, delay, left)
    # stage.done looks for processes.


def a_worker_that_is_stopped_does_not_stop_the_end(stage):
    for which in (0, -1):
        p = stage.start("run", *RUNS[2], "--json", "-")
        stage.await_measured(p)
        os.kill(workers(p.pid)[which], signal.SIGSTOP)
        p.send_signal(signal.SIGINT)
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        check_ended(stage, p, INTERRUPTED, ("stopped",))


# ---- Ctrl-C ----

def interrupting_is_possible_in_each_state(stage):
    for args in runs_of(stage):
        for delay in (0, 0.01, 0.03, 0.1, 0.3):
            for times in (1, 2):
                p = stage.start("run", *args, "--json", "-")
                await_that(lambda: workers(p.pid) or p.poll() is not None, 5)
                time.sleep(delay)
                began = time.monotonic()
                for _ in range(times):
                    p.send_signal(signal.SIGINT)
                    time.sleep(0.01)
                d = check_ended(stage, p, INTERRUPTED, ("completed", "stopped"))
                check(time.monotonic() - began < 8, args, delay, times, "took",
                      time.monotonic() - began)
                check(not os.listdir(stage.runtime), "left:", os.listdir(stage.runtime))
                for t in d["trials"]:
                    c = t["totals"].get("client")
                    if c and t["processes"][-1]["outcome"] in ("stopped", "completed"):
                        check(c["attempted"] == c["succeeded"] + c["failed"] +
                              c["timed_out"] + c["unfinished"], args, delay, c)


def interrupting_waits_for_no_launcher(stage):
    p = stage.start("run", "tcp-bulk", *SMALL, "--server-launch", "sh -c 'sleep 60'",
                    "--json", "-")
    check(await_that(lambda: workers(p.pid), 5), "no launcher")
    p.send_signal(signal.SIGINT)
    began = time.monotonic()
    check_ended(stage, p, INTERRUPTED, ("stopped",))
    check(time.monotonic() - began < 6, "took", time.monotonic() - began, "s")


def termination_is_an_interruption(stage):
    for sent in (signal.SIGTERM, signal.SIGHUP):
        p = stage.start("run", *RUNS[2], "--json", "-")
        stage.await_measured(p)
        p.send_signal(sent)
        check_ended(stage, p, INTERRUPTED, ("stopped",))


def under_nohup_a_hangup_is_ignored(stage):
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    p = stage.start("run", "unix-requests", "--client", "persistent", "--requests", "100m",
                    "--duration", "1s", "--trials", "1", "--json", "-", preexec_fn=ignore)
    stage.await_measured(p)
    p.send_signal(signal.SIGHUP)
    check_ended(stage, p, FAILED, ("completed",))


def cores_that_are_not_there_are_told(stage):
    expect(stage, ("run", "unix-bulk", *SMALL, "--pin", "0/900", "-q"), USAGE, "--pin",
           "900")
    expect(stage, ("run", "unix-bulk", *SMALL, "--pin", "0,900", "-q"), USAGE, "--pin",
           "not all of the CPUs 0,900")
    expect(stage, ("run", "unix-bulk", *SMALL, "--pin", "0", "-q"), OK)


def an_interrupted_run_still_prints_its_table(stage):
    p = stage.start("run", *RUNS[2])
    stage.await_measured(p)
    p.send_signal(signal.SIGINT)
    got, out, err = stage.finish(p)
    check(got == INTERRUPTED, got, err)
    check("tcp-requests: stopped" in out and "requests_per_second" in out, out)


def a_terminals_interrupt_reaches_the_engine_alone(stage):
    """The workers are in groups of their own, so Ctrl-C does not cut their report."""
    p = stage.start("run", *RUNS[2], "--json", "-", start_new_session=True)
    stage.await_measured(p)
    os.killpg(p.pid, signal.SIGINT)
    d = check_ended(stage, p, INTERRUPTED, ("stopped",))
    check(all(x["outcome"] == "stopped" or x["outcome"] == "completed"
              for x in d["trials"][0]["processes"]), d["trials"][0]["processes"])


def inherited_signals_do_not_matter(stage):
    def block():
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    def ignore():
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)

    for prepare in (block, ignore):
        for kind in ("process", "persistent"):
            expect(stage, ("run", "unix-requests", *QUICK, "--client", kind, "-q"), OK,
                   preexec_fn=prepare)
    p = stage.start("run", *RUNS[2], "--json", "-", preexec_fn=block)
    await_that(lambda: len(workers(p.pid)) == 3, 5)
    p.send_signal(signal.SIGINT)
    check_ended(stage, p, INTERRUPTED, ("stopped",))


# ---- standard input and output ----

def closed(*fds):
    return lambda: [os.close(fd) for fd in fds]


def standard_input_does_not_matter(stage):
    args = ("run", "unix-requests", *QUICK, "-q")
    expect(stage, args, OK, preexec_fn=closed(0))
    with open(stage.path("x"), "w+") as f:
        expect(stage, args, OK, stdin=f)
    r, w = os.pipe()
    expect(stage, args, OK, stdin=r)
    os.close(r)
    os.close(w)


def output_that_cannot_be_written_is_a_failure(stage):
    run = ("run", "unix-requests", *QUICK)
    for args in (run, run + ("--json", "-"), ("list",), ("list", "--json"), ("--help",),
                 ("--version",), ("doctor",), ("run", "tcp-bulk", "--help")):
        with open("/dev/full", "w") as full:
            p = stage.start(*args, stdout=full)
            got, _, err = stage.finish(p)
            check(got == FAILED, "/dev/full", args, got, err)
            check("standard output could not be written" in err, err)
        got, _, err = stage.run(*args, preexec_fn=closed(1))
        check(got == FAILED, "closed", args, got, err)
        check("standard output could not be written" in err, args, err)
        got, _, _ = stage.run(*args, preexec_fn=closed(0, 1, 2))
        check(got == FAILED, "all closed", args, got)
    expect(stage, run + ("-q",), OK, preexec_fn=closed(0, 1, 2))


def a_result_goes_to_no_full_device(stage):
    got, out, err = stage.run("run", "unix-requests", *QUICK, "-q", "--json", "/dev/full")
    check(got == FAILED and "No space left" in err, got, err)
    got, out, err = stage.run("run", "unix-requests", *QUICK, "-q", "--json",
                              "/no/such/dir/x")
    check(got == USAGE and "No such file" in err, got, err)


def a_reader_may_leave(stage):
    for args in (("list", "--json"), ("run", "unix-requests", *QUICK),
                 ("run", "unix-bulk", *SMALL, "--json", "-")):
        r, w = os.pipe()
        p = stage.start(*args, stdout=w)
        os.close(w)
        check(os.read(r, 1), "no output")
        os.close(r)
        got, _, err = stage.finish(p)
        check(got == OK and not err, args, got, err)


def a_reader_may_be_slow(stage):
    """The output is larger than a pipe holds, and nobody reads it for a while."""
    p = stage.start("run", "unix-requests", "--requests", "30", "--trials", "40",
                    "--client", "persistent", "--json", "-")
    time.sleep(2.0)
    got, out, err = stage.finish(p)
    check(got == OK and len(out) > 100000, got, len(out), err)
    check(len(document(out)["trials"]) == 40, "trials")


def the_engine_may_be_stopped_for_a_while(stage):
    """Workers do not wait for it: their next sample covers the time."""
    p = stage.start("run", "unix-requests", "--duration", "2s", "--requests", "100m",
                    "--client", "persistent", "--trials", "1", "--json", "-")
    stage.await_measured(p)
    p.send_signal(signal.SIGSTOP)
    time.sleep(2.5)
    p.send_signal(signal.SIGCONT)
    d = check_ended(stage, p, FAILED, ("completed",))
    t = d["trials"][0]
    check(1.9 < t["seconds"] < 3, t["seconds"])
    series = sum(s["client"]["succeeded"] for s in d["series"] if "client" in s)
    check(series == t["totals"]["client"]["succeeded"], series, t["totals"]["client"])


# ---- the worker itself ----

def speak(stage, text, **how):
    p = stage.start("worker", stdin=subprocess.PIPE, **how)
    out, err = p.communicate(text.encode(), timeout=10)
    return p.returncode, out.decode(), err.decode()


def a_worker_answers_what_it_does_not_understand(stage):
    got, out, _ = speak(stage, '{"type":"hello","version":99,"role":"bulk-server"}\n')
    check(got == FAILED and "different versions" in out, got, out)
    got, out, _ = speak(stage, '{"type":"hello","version":2,"role":"no-such-role"}\n')
    check(got == FAILED and "no role 'no-such-role'" in out, got, out)
    got, out, _ = speak(stage, 'rubbish\n{}\n[1]\n{"type":"later"}\n{"type":"start"}\n'
                        '{"type":"stop"}\n{"type":"set","name":"rate","value":1}\n'
                        '{"type":"pause"}\n\x00\x01\n')
    check(got == OK and out == "", got, out)
    got, out, _ = speak(stage, "")
    check(got == OK and out == "", got, out)


def a_worker_ends_with_its_input(stage):
    hello = ('{"type":"hello","version":2,"role":"requests-server",'
             '"values":{"transport":"unix"}}\n')
    got, out, err = speak(stage, hello)
    check(got == OK and '"ready"' in out, got, out, err)
    check(not os.listdir(stage.runtime), "left:", os.listdir(stage.runtime))
    got, out, err = speak(stage, hello + '{"type":"set","name":"rate","value":5}\n')
    check(got == OK and '{"type":"set","name":"rate","errno":95}' in out, got, out, err)
    got, out, err = speak(stage, hello + '{"type":"start","at_ns":1,"delay_ns":0}\n' +
                          '{"type":"stop"}\n')
    check(got == OK, got, out, err)


# ---- the server alone ----

def a_server_alone_ends_by_signal(stage):
    for args, times in ((("serve", "unix"), 1), (("serve", "tcp", "--port", "0"), 1),
                        (("serve", "pipe"), 1), (("serve", "unix"), 2)):
        for sent in (signal.SIGINT, signal.SIGTERM):
            p = stage.start(*args)
            line = await_that(lambda: "serving" in p.stdout.readline().decode(), 5)
            for _ in range(times):
                p.send_signal(sent)
            got, out, err = stage.finish(p, 10)
            check(got == OK and "served 0 connections" in out, args, got, out, err)


main(cases_of(globals(), skip=("runs_of",)))
