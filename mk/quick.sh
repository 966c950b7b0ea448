#!/bin/sh
# What `make run` does where there is no terminal: one quick scenario of each group,
# without a screen. Usage: quick.sh ENGINE
set -eu
engine=$1
for scenario in unix-bulk tcp-requests udp-cached-parallel rest-topper; do
    "$engine" run "$scenario" --quick
    echo
done
echo "There is no terminal here, so the console was not started: run build/plimsoll in one."
