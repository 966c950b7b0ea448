#!/bin/sh
# The JSON documents of real runs against engine/report/run.schema.json: tests/test_document.py.
exec python3 -B tests/test_document.py "$@"
