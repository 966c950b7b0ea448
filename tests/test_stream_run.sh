#!/bin/sh
# The stream scenarios from the command line: tests/test_stream_run.py.
set -u
exec python3 tests/test_stream_run.py "$@"
