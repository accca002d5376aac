# SPDX-License-Identifier: MIT
# Two worker threads under a client of our own with four connections.
needs='memcached python3'
working=2
version() { memcached --version | cut -d' ' -f2; }
prepare()
{
	cat >client.py <<'PYTHON'
import socket
import sys
import time
import zlib

CONNECTIONS, ROUNDS, KEYS = 4, 1500, 1000


def connect(path):
    for _ in range(100):
        try:
            s = socket.socket(socket.AF_UNIX)
            s.connect(path)
            return s
        except OSError:
            time.sleep(0.1)
    sys.exit("no server")


def ask(s, request, end, count):
    """Send, and read until @end was seen @count times; returns the answer."""
    s.sendall(request)
    answer = b""
    while answer.count(end) < count:
        part = s.recv(1 << 20)
        if not part:
            sys.exit("the server hung up")
        answer += part
    return answer


connections = [connect(sys.argv[1]) for _ in range(CONNECTIONS)]
sums = [0] * CONNECTIONS
for n, s in enumerate(connections):
    stored = b"".join(b"set c%d:%d 0 0 20\r\n%020d\r\n" % (n, k, k * k)
                      for k in range(KEYS))
    ask(s, stored, b"STORED\r\n", KEYS)
for r in range(ROUNDS):
    for n, s in enumerate(connections):
        s.sendall(b"".join(b"get c%d:%d\r\n" % ((n + r) % CONNECTIONS, k)
                           for k in range(KEYS)))
    for n, s in enumerate(connections):
        sums[n] = zlib.crc32(ask(s, b"", b"END\r\n", KEYS), sums[n])
print(sums)
for line in ask(connections[0], b"stats\r\n", b"END\r\n", 1).decode().split("\r\n"):
    if line.split(" ")[1:2] in (["cmd_get"], ["cmd_set"], ["get_hits"],
                                ["curr_items"], ["threads"]):
        print(line)
PYTHON
}
run()
{
	profiled_exec memcached -u root -t 2 -s "$PWD/socket" -m 64 2>server.log &
	server=$!
	python3 "$DATA/client.py" "$PWD/socket"
	kill -TERM $server
	wait $server
	echo "server ended with $?"
	cat server.log >&2
}
