#!/bin/sh
# plimsoll call: tests/test_call.py.
set -u
exec python3 -B tests/test_call.py "$@"
