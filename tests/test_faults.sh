#!/bin/sh
# Bad input and faults against the real program: tests/test_faults.py.
set -u
exec python3 -B tests/test_faults.py "$@"
