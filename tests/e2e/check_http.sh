#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_http - what the daemon serves over HTTP can be read by other tools
#
# covers: analysis/daemon/http.c analysis/daemon/metrics.c analysis/daemon/pprof_child.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
cd "$WORK" || exit 1
can_attach
pids=
trap 'kill -KILL $pids 2>/dev/null; rm -rf "$WORK"' EXIT

# A name that needs escapes; nothing else on the machine is watched.
name='rth"\'$$
gcc -O2 -g -pthread -o "$name" "$TOP/tests/programs/attach/pair.c" ||
	fail "cannot compile the program"
start "./$name" false; false_pid=$pid
start "./$name" clean; clean_pid=$pid
# Below the ports that the kernel gives away, the first that nobody has.
port=$(python3 - $$ <<'EOF'
import socket, sys
for i in range(12000):
    port = 20000 + (int(sys.argv[1]) + i) % 12000
    try:
        socket.create_server(("127.0.0.1", port)).close()
        print(port)
        break
    except OSError:
        pass
EOF
)
[ "$port" ] || fail "no port is free"
"$TOOL" daemon --name "rth*" --pid "$false_pid,$clean_pid" --budget 100 \
	--slice 1 -F 500 -o daemon --socket socket --listen $port 2>said &
daemon=$!
pids="$false_pid $clean_pid $daemon"

cat >get.py <<'EOF'
"""get.py METHOD URL [PORT] - print the status, then the body to get.body"""
import http.client, socket, sys
c = http.client.HTTPConnection("localhost", timeout=100)
if len(sys.argv) > 3:
    c = http.client.HTTPConnection("127.0.0.1", int(sys.argv[3]), timeout=100)
else:
    c.sock = socket.socket(socket.AF_UNIX)
    c.sock.connect("socket")
c.request(sys.argv[1], sys.argv[2])
r = c.getresponse()
open("get.body", "wb").write(r.read())
print(r.status, r.getheader("Content-Type"))
EOF
get()
{
	python3 get.py "$@"
}

end=$((SECONDS + PATIENCE))
until [ -S socket ]; do
	[ $SECONDS -lt $end ] && kill -0 $daemon || fail "no socket: $(cat said)"
	sleep 0.1
done
[ "$(stat -c %a socket)" = 600 ] || fail "the mode of the socket"
[[ $(get GET /healthz) = 200* ]] && [ "$(cat get.body)" = ok ] || fail "health"
[[ $(get GET /healthz $port) = 200* ]] || fail "health on 127.0.0.1"

# It listens on no other address.
python3 - $port <<'EOF' || fail "it listens on more than 127.0.0.1"
import sys
port = "%04X" % int(sys.argv[1])
lines = open("/proc/net/tcp").read() + open("/proc/net/tcp6").read()
listens = [l.split()[1] for l in lines.split("\n")
           if len(l.split()) > 3 and l.split()[3] == "0A"]
sys.exit([l for l in listens if l.endswith(":" + port)] != ["0100007F:" + port])
EOF

# A page of another site cannot read it: neither under a name of its own that
# leads here, nor by ours. Nobody else reaches the socket.
cat >ask.py <<'EOF'
"""ask.py PORT [HEADER...] - the status of GET /metrics; PORT 0: the socket"""
import socket, sys
port = int(sys.argv[1])
if port:
    s = socket.create_connection(("127.0.0.1", port), timeout=100)
else:
    s = socket.socket(socket.AF_UNIX)
    s.connect("socket")
lines = ["GET /metrics HTTP/1.1"] + sys.argv[2:] + ["Connection: close"]
s.sendall("".join(l + "\r\n" for l in lines + [""]).encode())
print(s.makefile("rb").readline().split()[1].decode())
EOF
asks()	# STATUS PORT HEADER...
{
	local wanted=$1

	shift
	[ "$(python3 ask.py "$@")" = $wanted ] || fail "$*: not $wanted"
}
for host in localhost LOCALHOST:$port 127.0.0.1:$port '[::1]:1'; do
	asks 200 $port "Host: $host"
done
for host in evil.example evil.example:$port localhost.evil.example 10.0.0.1; do
	asks 403 $port "Host: $host"
done
asks 403 $port "Host: localhost" "Sec-Fetch-Site: cross-site"
asks 200 $port "Host: localhost" "Sec-Fetch-Site: none"
asks 200 0 "Host: anything"

# A client that never ends its request is shut out although it goes on sending.
python3 - $port >slow 2>&1 <<'EOF' &
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=100)
s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ")
try:
    for i in range(200):
        s.sendall(b"x")
        time.sleep(0.5)
    print("it was served on")
except OSError:
    print("shut out")
EOF
slow=$!
pids+=" $slow"

# What is not served, and what is too much.
[[ $(get GET /nothing) = 404* ]] || fail "404"
[[ $(get POST /metrics) = 405* ]] || fail "405"
for seconds in 0 -1 61 x 999999999999999999999; do
	[[ $(get GET "/debug/pprof/sharing?seconds=$seconds") = 400* ]] ||
		fail "seconds=$seconds is accepted"
done

# The profile: several clients, one of which goes away; more than may wait.
profile()
{
	get GET "/debug/pprof/sharing?seconds=$1" >status && [[ $(<status) = 200* ]] ||
		fail "no profile: $(cat status)"
}
timeout 0.5 python3 get.py GET '/debug/pprof/sharing?seconds=60' >/dev/null
samples()
{
	go tool pprof -sample_index=false_sharing -top -unit=detections \
		get.body 2>/dev/null >top && grep -q 'add.*pair.c' top
}
if command -v go >/dev/null; then
	until profile 2 && samples; do
		[ $SECONDS -lt $end ] || fail "go tool pprof: $(cat top)"
	done
	grep -q 'counters' top || fail "go tool pprof: $(cat top)"
else
	profile 2
fi
for i in 1 2 3 4 5 6; do
	timeout 60 python3 get.py GET '/debug/pprof/sharing?seconds=3' >many.$i &
	many+=" $!"
done
wait $many
grep -q ^503 many.* && [ "$(cat many.* | grep -c ^200)" -ge 1 ] &&
	[ "$(cat many.* | grep -c ^200)" -le 4 ] || fail "six profiles: $(cat many.*)"

# The metrics, by the parser of Prometheus' client for Python.
[[ $(get GET /metrics) = "200 application/openmetrics-text; version=1.0.0; "* ]] ||
	fail "metrics"
cp get.body metrics
[ "$(tail -1 metrics)" = "# EOF" ] || fail "metrics have no end"
parser=
for python in python3 /usr/bin/python3; do
	$python -c 'import prometheus_client' 2>/dev/null && parser=$python && break
done
if [ "$parser" ]; then
	$parser - metrics "$name" $false_pid $clean_pid <<'EOF' || fail "metrics: $(cat metrics)"
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
name, false_pid, clean_pid = sys.argv[2:]
found = {f.name: f for f in
         text_string_to_metric_families(open(sys.argv[1]).read())}
d = {(s.labels["pid"], s.labels["kind"]): s
     for s in found["comdet_detections"].samples}
assert d[false_pid, "false"].value > 0 and d[false_pid, "true"].value == 0, d
assert d[clean_pid, "false"].value == d[clean_pid, "true"].value == 0, d
assert d[false_pid, "false"].labels["comm"] == name, d
assert found["comdet_samples"].samples[0].value > 0
assert found["comdet_cpu_seconds"].samples[0].value > 0
assert {s.labels["cause"] for s in found["comdet_lost"].samples} > {"no_access"}
allowed = {"pid", "comm", "kind", "cause"}
assert all(set(s.labels) <= allowed for f in found.values() for s in f.samples)
EOF
else
	echo "python3-prometheus-client is missing: metrics are not parsed"
fi

# Garbage, and many connections that say nothing, do not stop it.
python3 - <<'EOF' || fail "garbage"
import os, socket
socks = []
for i in range(40):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(1)
    try:
        s.connect("socket")
        s.send(os.urandom(1000) if i % 2 else b"GET /" + b"x" * 100000)
    except OSError:
        pass
    socks.append(s)
EOF
[[ $(get GET /healthz) = 200* ]] || fail "health after garbage"
kill -0 $daemon || fail "it ended: $(cat said)"

# Requests that are too long, and a thousand connections that say nothing: it
# takes no more of them than it serves, and serves others when they have gone.
long=$(head -c 20000 /dev/zero | tr '\0' x)
asks 431 $port "Host: localhost" "X: $long"
[[ $(get GET "/$long" $port) = 414* ]] || fail "a long request line"
python3 - $port $daemon >many <<'EOF' || fail "many connections: $(cat many)"
import os, resource, socket, sys
port, daemon = map(int, sys.argv[1:])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
fds = "/proc/%d/fd" % daemon
before = len(os.listdir(fds))
socks = []
for family, to in (socket.AF_INET, ("127.0.0.1", port)), (socket.AF_UNIX, "socket"):
    for i in range(500):
        s = socket.socket(family)
        s.setblocking(False)
        try:
            s.connect(to)
        except OSError: # its queue is full
            pass
        socks.append(s)
most = len(os.listdir(fds))
print("descriptors:", before, most)
sys.exit(most > before + 40)
EOF
[[ $(get GET /healthz) = 200* ]] || fail "health after many connections"
[[ $(get GET /healthz $port) = 200* ]] || fail "health after many on 127.0.0.1"
wait $slow
[ "$(cat slow)" = "shut out" ] || fail "a slow client: $(cat slow)"

# It ends while a profile is waited for, and takes its socket along.
python3 get.py GET '/debug/pprof/sharing?seconds=60' >late 2>&1 &
late=$!
sleep 0.5
kill -TERM $daemon
wait $daemon || fail "status $?: $(cat said)"
wait $late
[ ! -e socket ] || fail "the socket is left"
echo ok
