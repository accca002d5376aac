# SPDX-License-Identifier: MIT
# The server, with two I/O threads, under its own benchmark.
needs='redis-server redis-benchmark redis-cli'
working=1
filter_says='requests a second of redis-benchmark'
version() { redis-server --version | grep -o 'v=[0-9.]*'; }
filter() { sed -E 's/[0-9.]+ requests per second.*/N requests per second/; s/.*\r//'; }
run()
{
	profiled_exec redis-server --port 0 --unixsocket "$PWD/socket" --save '' \
		--enable-debug-command local --io-threads 2 --io-threads-do-reads yes \
		--daemonize no --dir "$PWD" >server.log 2>&1 &
	server=$!
	for _ in $(seq 100); do
		[ "$(redis-cli -s socket ping 2>/dev/null)" = PONG ] && break
		sleep 0.1
	done
	redis-benchmark -s socket -q -P 16 -n 150000 -r 5000 -c 20 \
		-t set,get,incr,lpush,lpop,sadd,hset,zadd,mset
	redis-cli -s socket flushall
	for i in $(seq 50); do
		echo "set key:$i value:$i"
		echo "zadd scores $((i * 37 % 50)) member:$i"
	done | redis-cli -s socket >/dev/null
	redis-cli -s socket zrange scores 0 -1 withscores
	redis-cli -s socket eval 'local s = 0; for i = 1, 10000000 do s = s + i % 7 end; return s' 0
	redis-cli -s socket debug digest
	redis-cli -s socket --raw object encoding scores
	redis-cli -s socket shutdown nosave
	wait $server
	echo "server ended with $?"
	grep -iE 'crash|assert|bug report' server.log >&2
	return 0
}
