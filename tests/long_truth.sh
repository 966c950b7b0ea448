#!/bin/sh
# Figures against theory, as a table: tests/truth/table.py.
set -u
exec python3 -B tests/truth/table.py "$@"
