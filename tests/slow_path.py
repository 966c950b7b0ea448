"""A launcher that puts a TCP server behind a path that buffers, and is slow: the words
before it are

    python3 slow_path.py SECONDS --

Each connection is taken at once and read to its end; only then is one to the server made,
to which the bytes go in SECONDS, in twenty equal pieces (never, where SECONDS is "never").
What the server sends goes back as it comes."""
import os
import re
import socket
import subprocess
import sys
import threading
import time

PIECES = 20


def pass_on(read, write, end):
    while True:
        piece = read()
        if not piece:
            break
        write(piece)
    end()


def carry(client, port, seconds):
    held = bytearray()
    pass_on(lambda: client.recv(1 << 20), held.extend, lambda: None)
    if seconds == "never":
        return
    with socket.create_connection(("127.0.0.1", port)) as server:
        back = threading.Thread(target=pass_on, args=(
            lambda: server.recv(1 << 20), client.sendall,
            lambda: client.shutdown(socket.SHUT_WR)))
        back.start()
        for i in range(PIECES):
            time.sleep(float(seconds) / PIECES)
            server.sendall(held[len(held) * i // PIECES:len(held) * (i + 1) // PIECES])
        server.shutdown(socket.SHUT_WR)
        back.join()
    client.close()


def accept(listener, port, seconds):
    kept = []  # or the end of a connection that is never passed on would be told
    while True:
        kept.append(listener.accept()[0])
        threading.Thread(target=carry, args=(kept[-1], port, seconds),
                         daemon=True).start()


def main():
    seconds = sys.argv[1]
    server = subprocess.Popen(sys.argv[3:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    threading.Thread(target=pass_on, args=(lambda: os.read(0, 1 << 16),
                                           lambda piece: os.write(server.stdin.fileno(),
                                                                  piece),
                                           server.stdin.close), daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    for line in server.stdout:
        port = re.search(rb'"endpoint":"tcp:127.0.0.1:([0-9]+)"', line)
        if port:
            line = line.replace(port[1], b"%d" % listener.getsockname()[1])
            threading.Thread(target=accept, args=(listener, int(port[1]), seconds),
                             daemon=True).start()
        os.write(1, line)
    sys.exit(server.wait())


main()
