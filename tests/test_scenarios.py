"""Every scenario of the catalogue, as small as `--quick` makes it: it completes, its
checks hold, and its document is what every document must be."""
import http.server
import tempfile
import threading

from plimsoll_test import cases_of, check, document, main
from run_document import check_document

# What a busy machine or a run of a second may fail by no fault of the result.
MAY_FAIL = ("generator not saturated", "rate kept", "loss explained")


def catalogue(stage):
    got, out, err = stage.run("list", "--json")
    check(got == 0, err)
    return document(out)


def every_scenario_is_in_the_catalogue(stage):
    rows = catalogue(stage)
    names = [row["name"] for row in rows]
    check(len(names) == len(set(names)) >= 13, names)
    for row in rows:
        check(row["parameters"] and row["title"] and row["about"], row["name"])
        for p in row["parameters"]:
            check(p["help"] and p["range"] and p["name"], row["name"], p)
    _, text, _ = stage.run("list")
    _, markdown, _ = stage.run("list", "--markdown")
    for name in names:
        check(" %s " % name in text, name)
        check("| `%s` |" % name in markdown, name)


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\n")

    def log_message(self, *args):
        pass


def run_quick(stage, scenario, *more):
    got, out, err = stage.run(*scenario, "--quick", "--json", "-", *more, seconds=60)
    check(got == 0, scenario, "exit code", got, err)
    d = document(out)
    check_document(d)
    check(d["outcome"] == "completed", scenario, d["outcome"], d["reason"])
    for row in d["checks"]:
        check(row["ok"] is not False or row["name"] in MAY_FAIL, scenario, row)
    c = d["trials"][0]["totals"]["client"]
    check(c["attempted"] == c["succeeded"] > 0, scenario, c)
    return d


def every_scenario_completes(stage):
    for row in catalogue(stage):
        if row["group"] == "own":
            continue
        more = ("--port", "0") if any(p["name"] == "port" for p in row["parameters"]) else ()
        d = run_quick(stage, ("run", row["name"]), *more)
        check(d["scenario"] == row["name"], d["scenario"])
        for figure in d["reference"]["figures"]:
            # What was documented is measured as well, where a quick run can.
            value = d["trials"][0]["metrics"][figure["metric"]]
            check(value is not None or figure["metric"].endswith(("_stdev", "_max")),
                  row["name"], figure["metric"], "was not measured")
        if row["group"] == "service":
            counts = [c for c in d["checks"] if c["name"] == "counts at both ends"]
            check(len(counts) == 1 and counts[0]["ok"] is True, row["name"], counts)
        print("# %-20s %s" % (row["name"], d["trials"][0]["seconds"]))


def the_documents_own_values_are_comparable(stage):
    """The faithful run is compared; what our defaults do in another way is noted."""
    faithful = run_quick(stage, ("run", "udp-cached-series"), "--as-documented", "--port",
                         "0", "--messages", "100000")
    check(faithful["reference"]["comparable"], faithful["reference"])
    check(faithful["reference"]["differences"] == [], faithful["reference"])
    check(faithful["parameters"]["payload"] == "plain", faithful["parameters"])
    small = run_quick(stage, ("run", "tcp-bulk"), "--size", "1MiB", "--port", "0",
                      "--trials", "1")
    kinds = {d["parameter"]: (d["kind"], d["here"], d["documented"])
             for d in small["reference"]["differences"]}
    m = small["trials"][0]["metrics"]
    check(m["seconds_command"] > m["seconds"], m)
    check(not small["reference"]["comparable"], small["reference"])
    check(kinds["size"] == ("departure", "1MiB", "1GiB"), kinds)
    check(kinds["congestion"][0] == "note" and kinds["congestion"][1] != "auto", kinds)
    check(kinds["method"][0] == "note" and kinds["method"][1] != "auto", kinds)


def a_file_counts_by_its_size(stage):
    with tempfile.NamedTemporaryFile() as f:
        f.truncate(3 << 20)
        f.flush()
        d = run_quick(stage, ("run", "unix-bulk"), "--file", f.name, "--trials", "1",
                      "--method", "copy", "--block", "64KiB")
    check(d["reference"]["differences"] == [{
        "parameter": "size", "kind": "departure", "here": "3MiB", "documented": "1GiB",
    }], d["reference"])


def a_server_of_ones_own_is_loaded(stage):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = "http://127.0.0.1:%d/x" % server.server_port
        d = run_quick(stage, ("http", url), "-c", "4")
        check(d["trials"][0]["status"].keys() == {"200"}, d["trials"][0]["status"])
    finally:
        server.shutdown()
        server.server_close()


def tables_name_the_documented_figures(stage):
    for row in catalogue(stage):
        if not row["documented"]:
            continue
        more = ("--port", "0") if any(p["name"] == "port" for p in row["parameters"]) else ()
        got, out, err = stage.run("run", row["name"], "--quick", *more, seconds=60)
        check(got == 0 and out.startswith(row["name"] + ": completed\n"), got, out, err)
        check("documented elsewhere" in out and row["documented"] in out, out)
        check("\033" not in out and "\033" not in err, "escapes in a pipe")
        if row["group"] == "stream":
            break  # one with figures is enough; all of them ran above


main(cases_of(globals(), skip=("catalogue",)))
