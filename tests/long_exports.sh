#!/bin/sh
# Exports read by their own communities' programs: a HdrHistogram reader from the npm
# registry, Prometheus's parser. Each is skipped where it cannot be had.
. tests/lib.sh

# At this rate a trial takes two seconds or more, so that there are several intervals.
"$engine" run tcp-requests --no-save --quiet --client persistent --requests 40000 \
    --rate 20000 --trials 2 --json "$scratch/r.json" --hlog "$scratch/r.hlog" --hgrm "$scratch/r.hgrm" \
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

# What a browser makes of the page: its background and the lines of its charts, by their
# colours, in light and in dark.
cat > "$scratch/colours.py" <<'END'
import struct, sys, zlib

def pixels(path):
    raw = open(path, "rb").read()
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(raw):
        size, kind = struct.unpack(">I4s", raw[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", raw[at + 8:at + 18])
            assert depth == 8 and colour in (2, 6)
        if kind == b"IDAT":
            packed += raw[at + 8:at + 8 + size]
        at += size + 12
    step = 3 if colour == 2 else 4
    lines, before, at = zlib.decompress(packed), bytearray(width * step), 0
    for _ in range(height):
        rule, line = lines[at], bytearray(lines[at + 1:at + 1 + width * step])
        at += 1 + width * step
        for i in range(len(line)):
            left = line[i - step] if i >= step else 0
            up, corner = before[i], before[i - step] if i >= step else 0
            if rule == 4:
                p = left + up - corner
                a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                add = left if a <= b and a <= c else up if b <= c else corner
            else:
                add = (0, left, up, (left + up) // 2)[rule]
            line[i] = (line[i] + add) & 255
        yield from (bytes(line[i:i + 3]) for i in range(0, len(line), step))
        before = line

path, ground, *lines = sys.argv[1:]
counts = {}
for p in pixels(path):
    counts[p.hex()] = counts.get(p.hex(), 0) + 1
assert max(counts, key=counts.get) == ground, max(counts, key=counts.get)
for line in lines:
    assert counts.get(line, 0) > 150, (line, counts.get(line, 0))
END
if command -v chromium > /dev/null; then
    "$engine" run unix-requests --no-save --quiet --client persistent --duration 3s \
        --requests 100m --html "$scratch/page.html"
    for scheme in light dark; do
        setting=$([ $scheme = dark ] && echo 0 || echo 1)
        chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
            --blink-settings=preferredColorScheme="$setting" --window-size=1100,1100 \
            --screenshot="$scratch/$scheme.png" "file://$scratch/page.html" \
            > "$scratch/chromium" 2>&1
    done
    check a_browser_draws_it_in_light python3 "$scratch/colours.py" "$scratch/light.png" \
        ffffff 1f66c1 c2570c 1d7f5f 7a4bc4
    check a_browser_draws_it_in_dark python3 "$scratch/colours.py" "$scratch/dark.png" \
        12161c 6aaef5 f0975a 56c7a1 b595f0
else
    echo "skip a_browser_draws_it: no chromium"
fi
