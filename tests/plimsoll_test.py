"""What the test scripts in Python share: run the engine in a place of its own, and see
that nothing is left of it. Prints `ok NAME`, `not ok NAME`, `skip NAME: reason`."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

BUILD = os.path.abspath(os.environ.get("PLIMSOLL_BUILD", "build"))
ENGINE = os.path.join(BUILD, "plimsoll-engine")
MARK = "PLIMSOLL_TEST=%d-%d" % (os.getpid(), int(time.time()))


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failure(" ".join(str(w) for w in what))


class Stage:
    """A scratch directory with the runtime directory of the programs under test."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="plimsoll-test-")
        os.chmod(self.directory, 0o755)
        self.runtime = self.path("runtime")
        os.mkdir(self.runtime)
        os.chmod(self.runtime, 0o777)
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.runtime, LC_ALL="C.UTF-8",
                        XDG_STATE_HOME=self.path("state"),
                        XDG_CONFIG_HOME=self.path("config"))
        name, value = MARK.split("=")
        self.env[name] = value
        self.started = []

    def path(self, name):
        return os.path.join(self.directory, name)

    def start(self, *args, program=ENGINE, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        earlier = set(self.recordings())
        p = subprocess.Popen([program, *args], env=self.env, **how)
        p.earlier = earlier
        self.started.append(p)
        return p

    def recordings(self):
        directory = self.path("state/plimsoll/runs")
        try:
            return [os.path.join(directory, name) for name in os.listdir(directory)]
        except FileNotFoundError:
            return []

    def await_measured(self, p, seconds=20.0):
        """Until a run, the one started last, has recorded what a client of it has done."""
        def is_measured():
            for path in set(self.recordings()) - p.earlier:
                with open(path, "rb") as f:
                    if any(b'"type":"sample"' in line and b'"succeeded":' in line
                           for line in f):
                        return True
            return p.poll() is not None

        check_that(is_measured, "nothing was measured", seconds)
        check(p.poll() is None, "the run has ended already")

    def run(self, *args, seconds=30, **how):
        p = self.start(*args, **how)
        return self.finish(p, seconds)

    def finish(self, p, seconds=30):
        """Its exit code, standard output and standard error."""
        try:
            out, err = p.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            raise Failure("did not end within %s s: %s" % (seconds, said(err)))
        return p.returncode, said(out), said(err)

    def done(self):
        """Nothing may be left: no process, no file in the runtime directory."""
        for p in self.started:
            if p.poll() is None:
                p.kill()
                p.wait()
        try:
            left = await_none(own_processes)
            check(not left, "processes left:", left)
            left = os.listdir(self.runtime)
            check(not left, "files left:", left)
        finally:
            for pid, _ in own_processes():
                os.kill(pid, signal.SIGKILL)
            subprocess.run(["rm", "-rf", self.directory], check=False)


def said(stream):
    return (stream or b"").decode("utf-8", "replace")


def own_processes():
    """(pid, command line) of everything that a stage has started, zombies apart."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as f:
                if MARK.encode() not in f.read().split(b"\0"):
                    continue
            with open("/proc/%s/cmdline" % name, "rb") as f:
                found.append((int(name), said(f.read().replace(b"\0", b" "))))
        except OSError:
            pass
    return found


def await_none(what, seconds=3.0):
    """Until what() gives nothing; else what it still gives after that time."""
    return await_that(lambda: not what(), seconds) or what()


def await_that(condition, seconds=10.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        value = condition()
        if value:
            return None if value is True else value
        time.sleep(0.005)
    return None


def check_that(condition, what, seconds=10.0):
    """await_that, and a failure when it did not come."""
    until = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < until, what)
        time.sleep(0.005)


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(n) for n in f.read().split()]
    except OSError:
        return []


def document(out):
    """The one JSON document that the output is."""
    try:
        return json.loads(out)
    except ValueError as e:
        raise Failure("not one JSON document: %s: %.200s" % (e, out))


class Serving:
    """A server of `plimsoll serve`, and where it is."""

    def __init__(self, stage, *args):
        self.stage = stage
        self.p = stage.start("serve", *args)
        self.endpoint = None
        while not self.endpoint:
            line = self.p.stdout.readline().decode()
            if not line:
                raise Failure("no server: " + self.p.stderr.read().decode())
            if " serving " in line:
                self.endpoint = line.split(" at ")[1].split(";")[0]
        self.port = self.endpoint.rsplit(":", 1)[-1]

    def end(self, sent=signal.SIGINT):
        self.p.send_signal(sent)
        got, out, err = self.stage.finish(self.p, 10)
        check(got == 0 and not err, "serve ended with", got, out, err)
        return out


def cases_of(names, skip=()):
    """The functions of one parameter, `stage`, in their order."""
    def is_case(f):
        code = getattr(f, "__code__", None)
        return (code and code.co_argcount == 1 and code.co_varnames[0] == "stage" and
                not code.co_flags & 4)  # no *args

    return [f for name, f in names.items() if name not in skip and is_case(f)]


def main(cases):
    """Each case is a function of a stage; its docstring or name says what holds."""
    wanted = sys.argv[1:]
    failed = False
    for case in cases:
        name = case.__name__
        if wanted and not any(w in name for w in wanted):
            continue
        stage = Stage()
        began = time.monotonic()
        try:
            try:
                case(stage)
            finally:
                stage.done()
            print("ok", name)
        except Skip as e:
            print("skip %s: %s" % (name, e))
        except Failure as e:
            failed = True
            print("not ok %s: %s" % (name, e))
        except Exception:
            failed = True
            print("not ok %s" % name)
            traceback.print_exc(file=sys.stdout)
        if time.monotonic() - began > 3:
            print("# %s took %.1f s" % (name, time.monotonic() - began))
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
