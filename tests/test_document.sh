#!/bin/sh
# The JSON documents of real runs against engine/run.schema.json: tests/test_document.py.
exec python3 tests/test_document.py "$@"
