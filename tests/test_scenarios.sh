#!/bin/sh
# Every scenario of the catalogue, quick: tests/test_scenarios.py.
exec python3 -B tests/test_scenarios.py "$@"
