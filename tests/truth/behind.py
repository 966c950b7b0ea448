"""A launcher that puts a server behind truth_relay: the words before it are

    python3 behind.py RELAY udp|tcp ACCOUNT [FAULT ...] --

It passes on what the server and its parent say to each other, but for the address, which
becomes the relay's. At the end the relay's account is written to the file ACCOUNT."""
import os
import re
import subprocess
import sys
import threading


def hand_over(descriptor, to):
    while True:
        piece = os.read(descriptor, 65536)
        if not piece:
            break
        to.write(piece)
        to.flush()
    to.close()


def main():
    end = sys.argv.index("--")
    relay_program, kind, account, *faults = sys.argv[1:end]
    server = subprocess.Popen(sys.argv[end + 1:], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE)
    threading.Thread(target=hand_over, args=(0, server.stdin), daemon=True).start()
    address = re.compile(b'"endpoint":"%s:([^"]*):([0-9]+)"' % kind.encode())
    relay = None
    for line in server.stdout:
        found = None if relay else address.search(line)
        if found:
            relay = subprocess.Popen([relay_program, kind, found[2].decode(), *faults],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            port = relay.stdout.readline().strip()
            line = line.replace(found[0], b'"endpoint":"%s:127.0.0.1:%s"' %
                                (kind.encode(), port))
        os.write(1, line)
    if relay:
        said, _ = relay.communicate()
        with open(account, "wb") as f:
            f.write(said)
    sys.exit(server.wait())


main()
