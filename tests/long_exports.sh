#!/bin/sh
# Exports read by their own communities' programs: a HdrHistogram reader from the npm
# registry, Prometheus's parser. Each is skipped where it cannot be had.
set -u
build=$(cd "${PLIMSOLL_BUILD:-build}" && pwd)
engine=$build/plimsoll-engine
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

check() {
    name=$1
    shift
    if "$@" > "$scratch/said" 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name"
        cat "$scratch/said"
    fi
}

"$engine" run tcp-requests --no-save --quiet --client persistent --requests 60000 \
    --trials 2 --json "$scratch/r.json" --hlog "$scratch/r.hlog" --hgrm "$scratch/r.hgrm" \
    --openmetrics "$scratch/r.prom" --junit "$scratch/r.xml"

cat > "$scratch/read.js" <<'END'
const fs = require('fs');
const hdr = require('hdr-histogram-js');
const [dir] = process.argv.slice(2);
const text = name => fs.readFileSync(dir + '/' + name, 'utf8');
const doc = JSON.parse(text('r.json'));
const reader = new hdr.HistogramLogReader(text('r.hlog'));
const total = hdr.build({lowestDiscernibleValue: 1, highestTrackableValue: 3600e9,
                         numberOfSignificantValueDigits: 3, bitBucketSize: 64});
let intervals = 0;
for (let h; (h = reader.nextIntervalHistogram()); intervals++)
  total.add(h);
const equal = (what, a, b) => {
  if (a !== b)
    throw new Error(`${what}: ${a} and not ${b}`);
};
const latencies = doc.trials.map(t => t.latency_ns);
equal('count', total.totalCount, latencies.reduce((n, l) => n + l.count, 0));
const max = Math.max(...latencies.map(l => l.max));
equal('max', total.maxValue, total.highestEquivalentValue(max));
if (intervals < 2)
  throw new Error(`${intervals} intervals`);
// Its own percentile print of what it read is our .hgrm, number by number. Ours has
// six decimals, its three, and its last line's value is that of the bucket's end.
const rows = t => t.split('\n').filter(l => /^ +[0-9]/.test(l))
                   .map(l => l.trim().split(/ +/).map(Number));
const ours = rows(text('r.hgrm')), theirs = rows(total.outputPercentileDistribution(5, 1e6));
equal('lines', ours.length, theirs.length);
ours.forEach((row, i) => {
  equal('percentile', Math.abs(row[1] - theirs[i][1]) < 2e-12, true);
  equal('count', row[2], theirs[i][2]);
  if (Math.abs(row[0] - theirs[i][0]) > 0.0006 + row[0] / 1000)
    throw new Error(`line ${i}: ${row} and not ${theirs[i]}`);
});
END
if command -v npm > /dev/null &&
    (cd "$scratch" && npm install --no-audit --no-fund hdr-histogram-js) > "$scratch/npm" 2>&1; then
    check hdrhistogram_reads_logs_and_percentiles \
        sh -c "cd '$scratch' && node read.js '$scratch'"
else
    echo "skip hdrhistogram_reads_logs_and_percentiles: no npm or no registry"
fi

# Debian's python has the package, whatever other python comes first in the path.
if /usr/bin/python3 -c 'import prometheus_client' 2> /dev/null; then
    check prometheus_reads_openmetrics /usr/bin/python3 - "$scratch" <<'END'
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
d = sys.argv[1]
doc = json.load(open(d + "/r.json"))
families = {f.name: f for f in parse(open(d + "/r.prom").read())}
for trial in doc["trials"]:
    number = str(trial["number"])
    [sample] = [s for s in families["plimsoll_requests_per_second"].samples
                if s.labels["trial"] == number]
    assert abs(sample.value / trial["metrics"]["requests_per_second"] - 1) < 1e-15
    [sample] = [s for s in families["plimsoll_latency_seconds"].samples
                if s.labels["trial"] == number and s.labels.get("quantile") == "0.99"]
    assert abs(sample.value * 1e9 - trial["latency_ns"]["p99"]) < 1e-3
assert len(families) > 30
END
else
    echo "skip prometheus_reads_openmetrics: no python3-prometheus-client"
fi
