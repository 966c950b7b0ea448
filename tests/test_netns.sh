#!/bin/sh
# Server and clients in network namespaces of their own: tests/test_netns.py.
exec python3 -B tests/test_netns.py "$@"
