#!/bin/sh
# The stream scenarios from the command line: tests/test_stream_run.py.
set -u
exec python3 -B tests/test_stream_run.py "$@"
