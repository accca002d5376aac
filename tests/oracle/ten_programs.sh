#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ten_programs - how many detections have a name, in ten programs
#
#	tests/oracle/ten_programs.sh [NAME...]
#
# Seven are of Debian's sources, compiled again with -O2 -g; their sources are
# fetched below $SOURCES, and stay there. Three are of this project: C, Rust and
# Go. Each is recorded for $SECONDS_EACH s by the clock with heap blocks and
# callers (Go has no blocks of malloc), and tests/oracle/named.py counts and asks
# gdb about $CHECKED detections. $RECORDED keeps the recordings: what is there
# is not recorded again. What cannot be built here is left out, and said.

TOP=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$TOP/build}
SOURCES=${SOURCES:-$B/ten-sources}
RECORDED=${RECORDED:-$B/ten-recorded}
SECONDS_EACH=${SECONDS_EACH:-11}
CHECKED=${CHECKED:-100}
NAMES=$TOP/tests/programs/names
FLAGS="-O2 -g"
mkdir -p "$SOURCES" "$RECORDED"

# source PACKAGE - fetch it, and go into its folder
source_of()
{
	cd "$SOURCES" || return
	if ! ls -d "$1"-[0-9]*/ >/dev/null 2>&1; then
		apt-get -qq source "$1" >/dev/null 2>&1 || {
			echo "$1: no source (is a deb-src line in sources.list?)"
			return 1
		}
	fi
	cd "$(ls -d "$1"-[0-9]*/ | head -n 1)" || return
}

# Each puts the program's file into $PROGRAM.
build_redis()
{
	source_of redis || return
	PROGRAM=$PWD/src/redis-server
	[ -x "$PROGRAM" ] || make -s -j2 MALLOC=libc OPTIMIZATION=-O2
}

build_memcached()
{
	source_of memcached || return
	PROGRAM=$PWD/memcached
	[ -x "$PROGRAM" ] || { ./configure CFLAGS="$FLAGS" && make -s -j2; }
}

build_haproxy()
{
	source_of haproxy || return
	PROGRAM=$PWD/haproxy
	[ -x "$PROGRAM" ] || make -s -j2 TARGET=linux-glibc USE_THREAD=1 \
		DEBUG_CFLAGS=-g CPU_CFLAGS=-O2
}

build_zeromq()
{
	source_of zeromq3 || return
	PROGRAM=$PWD/perf/inproc_thr
	[ -x "$PROGRAM" ] || { ./autogen.sh &&
		./configure CFLAGS="$FLAGS" CXXFLAGS="$FLAGS" --disable-shared \
			--without-docs --disable-Werror &&
		make -s -j2 src/libzmq.la && make -s perf/inproc_thr; }
}

build_x264()
{
	source_of x264 || return
	PROGRAM=$PWD/x264
	[ -x "$PROGRAM" ] || { ./configure --enable-debug --disable-asm \
		--disable-opencl --extra-cflags="$FLAGS" && make -s -j2; }
}

build_zstd()
{
	source_of libzstd || return
	PROGRAM=$PWD/programs/zstd
	[ -x "$PROGRAM" ] || make -s -j2 -C programs zstd CFLAGS="$FLAGS"
}

build_tbb()
{
	source_of onetbb || return
	PROGRAM=$PWD/preorder
	[ -x "$PROGRAM" ] || g++ -std=c++17 $FLAGS -w -D__TBB_BUILD=1 -mrtm \
		-mwaitpkg -Iinclude -Isrc -Iexamples -o preorder src/tbb/*.cpp \
		examples/parallel_for_each/parallel_preorder/*.cpp -lpthread
}

build_histogram()
{
	PROGRAM=$SOURCES/histogram
	[ -x "$PROGRAM" ] || cp "$B/microbench/histogram" "$PROGRAM"
}

build_rust()
{
	PROGRAM=$SOURCES/waits-rust
	[ -x "$PROGRAM" ] ||
		rustc -C opt-level=2 -g -o "$PROGRAM" "$NAMES/waits.rs"
}

build_go()
{
	PROGRAM=$SOURCES/waits-go
	[ -x "$PROGRAM" ] || GOCACHE=$SOURCES/cache \
		go build -o "$PROGRAM" "$NAMES/waits.go"
}

# record NAME COMMAND... - for $SECONDS_EACH
record()
{
	local out=$RECORDED/$1

	shift
	timeout -s TERM "$SECONDS_EACH" "$B/reusetrack" record -F 10000 \
		"${OBJECTS[@]}" -g -o "$out" -- "$@" >"$out.log" 2>&1
	tail -n 1 "$out.log"
}

# serve NAME CLIENT COMMAND... - a server, while the client runs, which is started
# again until it finds the server
serve()
{
	local name=$1 client=$2 pid

	shift 2
	record "$name" "$@" &
	pid=$!
	timeout "$SECONDS_EACH" bash -c "sleep 1; until $client; do sleep 1; done" \
		>/dev/null 2>&1
	wait "$pid"
}

run_redis()
{
	serve redis "while ${PROGRAM%server}benchmark -p 7777 -n 1000000 -c 50 \
		-P 16 -t set,get,incr,lpush,lpop -q; do :; done" "$PROGRAM" \
		--port 7777 --save "" --io-threads 4 --io-threads-do-reads yes
}

run_memcached()
{
	serve memcached "$SOURCES/load 7779 memcached $SECONDS_EACH" \
		"$PROGRAM" -t 4 -p 7779 -U 0 -u root
}

run_haproxy()
{
	cat >"$SOURCES/haproxy.cfg" <<-'EOF'
	global
	  nbthread 3
	  maxconn 200
	defaults
	  mode http
	  timeout client 10s
	  timeout server 10s
	  timeout connect 5s
	frontend f
	  bind 127.0.0.1:7781
	  stick-table type ip size 1k expire 30s store http_req_cnt,conn_cnt
	  http-request track-sc0 src
	  http-request return status 200 content-type text/plain string "hello@"
	EOF
	serve haproxy "$SOURCES/load 7781 http $SECONDS_EACH" \
		"$PROGRAM" -f "$SOURCES/haproxy.cfg"
}

run_zeromq()
{
	record zeromq "$PROGRAM" 30 100000000
}

# A film of noise that moves: no file is needed.
film()
{
	[ -f "$SOURCES/film" ] || python3 - "$SOURCES/film" <<-'PYTHON'
	import random, sys
	random.seed(1)
	picture = random.randbytes(352 * 288 * 3 // 2)
	with open(sys.argv[1], "wb") as film:
	    for i in range(600):
	        picture = picture[-352 * 3:] + picture[:-352 * 3]
	        film.write(picture)
	PYTHON
}

run_x264()
{
	film
	record x264 "$PROGRAM" --threads 4 --preset ultrafast \
		--input-res 352x288 -o /dev/null "$SOURCES/film"
}

run_zstd()
{
	film
	record zstd "$PROGRAM" -T3 -b1 -i60 "$SOURCES/film"
}

run_tbb()
{
	record tbb "$PROGRAM" 2 4000 2000
}

run_histogram()
{
	record histogram "$PROGRAM" --threads 2
}

run_rust()
{
	record rust "$PROGRAM" 2000000
}

run_go()
{
	OBJECTS=()
	record go "$PROGRAM" 2000000000
	OBJECTS=(--objects on)
}

[ $# -gt 0 ] || set -- redis memcached haproxy zeromq x264 zstd tbb \
	histogram rust go
cc -O2 -pthread -o "$SOURCES/load" "$NAMES/load.c" || exit 1
OBJECTS=(--objects on)
runs=()
for name; do
	if (PROGRAM=; "build_$name" >"$SOURCES/$name.log" 2>&1); then
		[ "${BUILD_ONLY:-}" ] && continue
		"build_$name" >/dev/null
		[ -d "$RECORDED/$name" ] || "run_$name"
		runs+=("$name=$RECORDED/$name")
	else
		echo "$name: not built, see $SOURCES/$name.log"
	fi
done
[ ${#runs[@]} -gt 0 ] || exit 0
python3 "$TOP/tests/oracle/named.py" -n "$CHECKED" -t "$B/reusetrack" "${runs[@]}"
