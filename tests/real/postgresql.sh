# SPDX-License-Identifier: MIT
# The server, whose processes share memory, under pgbench. It is profiled by
# record --outside --children, which must find the sharing between processes and
# name functions: Debian's server has symbols for those that are not static.
needs='pgbench psql setpriv'
working=0
filter_says='times and rates of pgbench'
version() { psql --version | grep -om 1 '[0-9][0-9.]*' | head -1; }
filter() { grep -vE '^(latency|initial connection|tps|pgbench \(|number of failed)|done in|of [0-9]+ tuples'; }
run()
{
	bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
	as=
	[ "$(id -u)" != 0 ] || {
		as='setpriv --reuid=65534 --regid=65534 --clear-groups'
		db=$(mktemp -d) && chown 65534:65534 "$db"
	}
	db=${db:-$(mktemp -d)}
	cd "$db" || return
	export PGHOST=$db PGUSER=bench PGDATABASE=postgres
	$as "$bin/initdb" -D "$db/data" -A trust -U bench >/dev/null
	set -- $as "$bin/postgres" -D "$db/data" -k "$db" -c listen_addresses= \
		-c shared_buffers=32MB -c autovacuum=off -c fsync=off
	if [ -n "$PRELOAD" ]; then
		"$B/reusetrack" record --outside --children -F 1000 -o "$OUT" \
			-- "$@" >server.log 2>&1 &
	else
		"$@" >server.log 2>&1 &
	fi
	server=$!
	for _ in $(seq 300); do
		psql -qtc 'select 1' >/dev/null 2>&1 && break
		sleep 0.1
	done
	pgbench -qi -s 2 2>&1
	pgbench -n -c 8 -j 2 -t 3000 2>&1
	psql -qtc 'select sum(abalance) = (select sum(tbalance) from pgbench_tellers),
		(select count(*) from pgbench_history) from pgbench_accounts'
	kill -INT "$(head -1 "$db/data/postmaster.pid")"
	wait $server
	echo "server ended with $?"
	[ -z "$PRELOAD" ] || between_processes "$OUT"
	rm -rf "$db"
}
# Silent if the report has what it should.
between_processes()
{
	"$B/reusetrack" report --json "$1" | python3 -c '
import json, sys
r = json.load(sys.stdin)
c = r["communication"]
process = lambda t: r["threads"][t]["process"]
between = sum(x["all"] for x in c["cells"]
              if process(x["a"]) != process(x["b"]))
named = sum(s["true"] + s["false"] for s in c["sites"] if s.get("function"))
every = sum(s["true"] + s["false"] for s in c["sites"])
many = [l for l in c["lines"] if len({process(t) for t in l["threads"]}) > 1]
if between < 5 or not many or named < 0.1 * every:
    print("between processes:", between, "detections on", len(many),
          "lines; named", named, "of", every)
'
}
export -f between_processes
