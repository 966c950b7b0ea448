#!/bin/sh
# Figures against servers and paths with known answers: tests/truth/quick.py.
set -u
exec python3 -B tests/truth/quick.py "$@"
