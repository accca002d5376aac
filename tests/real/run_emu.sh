#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run_emu - real programs behave the same under record -s emu
#
#	tests/real/run_emu.sh [--keep FILE] [NAME...]
#
# Each program runs natively, then sampled, and if $exactly has its name, with
# --exact as well, each time in a fresh directory and on an input that is always
# the same. Stdout, stderr and exit status must be the same, apart from the
# lines of record itself. The report must show that the program was profiled:
# every process is complete, at least $working threads have 100 samples, and
# with --exact there are transfers between threads.
#
# --keep FILE appends the table, in Markdown, to FILE. The last line is
# "N passed, N failed, N skipped".

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
export LC_ALL=C.UTF-8 PATH=/usr/bin:/bin:/usr/sbin:/sbin
unset "${!COMDET_@}"
limit=${LIMIT:-900}
exactly=' pigz xz zstd sort '
keep=
if [ "$1" = --keep ]; then
	keep=$2
	shift 2
fi
names=${*:-pigz xz zstd sort python3 sqlite3 java}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

# For each program, prepare_NAME writes its input to the current directory,
# which is $DATA later, and run_NAME runs it after the words "$@" in an empty
# one.
prepare_pigz() { "$B/tests/programs/help_text" 16 >text; }
run_pigz()
{
	"$@" pigz -9 -p 2 -c "$DATA/text" >text.gz
	echo "status $?"
	sha256sum <text.gz
}

prepare_xz() { "$B/tests/programs/help_text" 8 >text; }
run_xz()
{
	"$@" xz -T2 -1 --block-size=1MiB -c "$DATA/text" >text.xz
	echo "status $?"
	sha256sum <text.xz
}

prepare_zstd() { "$B/tests/programs/help_text" 16 >text; }
run_zstd()
{
	"$@" zstd -q -T2 -6 -c "$DATA/text" >text.zst
	echo "status $?"
	sha256sum <text.zst
}

prepare_sort() { "$B/tests/programs/help_text" 6 | tr ' ' '\n' >lines; }
run_sort()
{
	LC_ALL=C "$@" sort --parallel=2 -S 1G "$DATA/lines"
	echo "status $?"
}

prepare_python3()
{
	cat >work.py <<-'PYTHON'
		import hashlib, subprocess, sys, threading
		results = {}
		def digest(n):
		    h = hashlib.sha256()
		    for _ in range(40):
		        h.update(bytes([n]) * (1 << 20))
		    results[n] = h.hexdigest()
		def primes(n):
		    results[n] = [k for k in range(3, n, 2) if all(
		        k % d for d in range(3, int(k ** 0.5) + 1, 2))][-1]
		threads = [threading.Thread(target=digest, args=(n,)) for n in (1, 2)]
		threads += [threading.Thread(target=primes, args=(n,))
		            for n in (30000, 20000)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
		print(sorted(results.items()))
		out = subprocess.run([sys.executable, "-c", "import sys;"
		    "print(sum(range(100000))); sys.stderr.write('error'); sys.exit(3)"],
		    capture_output=True, text=True)
		print(out.returncode, out.stdout, out.stderr)
		dead = subprocess.Popen(["sleep", "100"])
		dead.kill()
		print(dead.wait())
		print("to stderr", file=sys.stderr)
		sys.exit(5)
	PYTHON
}
run_python3() { "$@" python3 "$DATA/work.py"; }

prepare_sqlite3()
{
	cat >queries.sql <<-'SQL'
		PRAGMA threads = 2;
		CREATE TABLE item (id INTEGER PRIMARY KEY, kind INT, name TEXT);
		WITH RECURSIVE n(i) AS
			(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
		INSERT INTO item SELECT i, i * 7919 % 101,
			'item ' || i * 104729 % 999983 FROM n;
		CREATE INDEX by_name ON item (name);
		SELECT kind, count(*), min(name) FROM item GROUP BY kind ORDER BY 3;
		SELECT count(*) FROM item a JOIN item b ON b.id = a.kind;
		DELETE FROM item WHERE id % 3 = 0;
		PRAGMA integrity_check;
		SELECT name FROM item WHERE name LIKE '%99%' ORDER BY name LIMIT 20;
		SELECT no_such_column FROM item;
	SQL
}
run_sqlite3()
{
	"$@" sqlite3 :memory: <"$DATA/queries.sql"
	echo "status $?"
}

prepare_java()
{
	cat >Main.java <<-'JAVA'
		import java.util.TreeMap;
		import java.util.concurrent.ConcurrentHashMap;
		import java.util.concurrent.atomic.AtomicLong;

		public class Main {
		    static final AtomicLong shared = new AtomicLong();
		    static final ConcurrentHashMap<Integer, Long> sums =
		        new ConcurrentHashMap<>();

		    static void compute(int id) {
		        long s = 0;
		        double x = id + 1;
		        for (int i = 1; i < 3_000_000; i++) {
		            x = Math.sqrt(x * x + i % 7) * 0.999;
		            s += Double.doubleToLongBits(x) & 15;
		            if (i % 1000 == 0)
		                shared.addAndGet(s & 3);
		        }
		        StringBuilder b = new StringBuilder();
		        for (int i = 0; i < 100_000; i++)
		            b.append("word ").append(i);
		        sums.merge(id % 2, s + b.length(), Long::sum);
		    }

		    public static void main(String[] args) throws Exception {
		        Thread[] threads = new Thread[4];
		        for (int i = 0; i < threads.length; i++) {
		            final int id = i;
		            threads[i] = new Thread(() -> compute(id), "compute-" + id);
		            threads[i].start();
		        }
		        for (Thread t : threads)
		            t.join();
		        System.out.println(shared.get() + " " + new TreeMap<>(sums));
		        int caught = 0;
		        String none = args.length > 5 ? "" : null;
		        for (int i = 0; i < 20000; i++) {
		            try {
		                caught += none.length();
		            } catch (NullPointerException e) {
		                caught++;
		            }
		        }
		        System.out.println("caught " + caught);
		        Process p = new ProcessBuilder("sh", "-c",
		            "echo child; exit 3").start();
		        System.out.println(new String(
		            p.getInputStream().readAllBytes()).trim() + " " + p.waitFor());
		        System.err.println("to stderr");
		        System.exit(7);
		    }
		}
	JAVA
	javac -d . Main.java
}
run_java() { "$@" java -cp "$DATA" Main; }

# run_once NAME HOW COMMAND... - write $dir/NAME/HOW.{out,err,status}, set $took
run_once()
{
	local name=$1 how=$2 at=$dir/$1 start

	shift 2
	mkdir "$at/$how"
	start=$(date +%s%N)
	(
		cd "$at/$how" || exit 99
		export DATA=$at/data B TOP
		export -f "run_$name"
		exec timeout -k 10 "$limit" bash -c "run_$name \"\$@\"" bash "$@"
	) >"$at/$how.out" 2>"$at/$how.raw_err" </dev/null
	echo $? >"$at/$how.status"
	took=$((($(date +%s%N) - start) / 100000000))
	grep -av '^reusetrack: ' "$at/$how.raw_err" >"$at/$how.err"
	rm -rf "${at:?}/$how"
}

# same NAME HOW - true if all is the same; else $detail is the difference
same()
{
	local at=$dir/$1 what

	for what in out err status; do
		cmp -s "$at/native.$what" "$at/$2.$what" && continue
		detail="$2: another $what
$(diff -a "$at/native.$what" "$at/$2.$what" | head -n 20)"
		return 1
	done
	[ -s "$at/$2.out" ] && return
	detail="$2: no output to compare"
	return 1
}

# profiled PROFILE WORKING EXACT - print "ACCESSES SAMPLES TRANSFERS", or the
# fault
profiled()
{
	"$B/reusetrack" report --json "$1" >"$dir/json" 2>"$dir/json.err" || {
		cat "$dir/json.err"
		return 1
	}
	python3 - "$dir/json" "$2" "$3" <<-'PYTHON'
		import json, sys
		r = json.load(open(sys.argv[1]))
		samples = [t["samples"]["uniform"] for t in r["threads"]]
		exact = r.get("exact", {}).get("all", 0)
		print(sum(t["accesses"] for t in r["threads"]), sum(samples), exact)
		if not r["run"]["complete"]:
		    sys.exit("not complete")
		if sum(n >= 100 for n in samples) < int(sys.argv[2]):
		    sys.exit("too few threads with 100 samples: %s" % samples)
		if sys.argv[3] == "exact" and not exact:
		    sys.exit("no transfers")
	PYTHON
}

# check NAME - print its row of the table; if it fails, set $detail
check()
{
	local name=$1 at=$dir/$1 how options working=1 times row= counts

	case $name in pigz | xz | sort | java) working=2 ;; esac
	mkdir -p "$at/data"
	(cd "$at/data" && "prepare_$name") >"$at/prepared" 2>&1 || {
		detail="its input cannot be made: $(cat "$at/prepared")"
		return 1
	}
	run_once "$name" native
	times=$took
	for how in sampled exact; do
		case $how in
		sampled) options= ;;
		exact)
			[[ $exactly = *" $name "* ]] || continue
			options=--exact
			;;
		esac
		run_once "$name" $how "$B/reusetrack" record -s emu -p 100000 \
			$options -o "$at/$how.profile" --
		times+=" $took"
		same "$name" $how || return 1
		counts=$(profiled "$at/$how.profile" $working $how 2>&1) || {
			detail="$how: $counts"
			return 1
		}
		row=$counts
	done
	echo "$name $(cat "$at/native.status") $times $row" | awk '{
		n = NF - 2
		for (i = 3; i < n; i++)
			t = t (i > 3 ? ", " : "") sprintf("%.1f", $i / 10)
		printf "| %s | same | %s | %s | %.0f | %d | %s |\n", $1, $2, t,
			$n / 1e6, $(n + 1), (i - 3 > 2 ? $(n + 2) : "") }' \
		>>"$dir/table"
}

passed=0 failed=0 skipped=0
{
	echo '| program | output, stderr, status | exit | seconds native, sampled, exact | million accesses | samples | exact transfers |'
	echo '|---|---|---|---|---|---|---|'
} >"$dir/table"
command -v qemu-x86_64 >/dev/null || {
	echo 'qemu-x86_64 is missing: install the package qemu-user'
	exit 77
}
for name in $names; do
	if [ "$(type -t "run_$name")" != function ]; then
		echo "no program $name"
		failed=$((failed + 1))
	elif ! command -v "$name" >/dev/null; then
		echo "skip $name: it is not installed"
		skipped=$((skipped + 1))
	elif detail= && check "$name"; then
		echo "$name same"
		passed=$((passed + 1))
	else
		echo "$name FAIL: $detail"
		failed=$((failed + 1))
	fi
	rm -rf "${dir:?}/$name"
done
echo
cat "$dir/table"
if [ -n "$keep" ]; then
	{
		echo
		echo '## Real programs under QEMU'
		echo
		echo "\`make check-programs-emu\` on $(date +%F), Linux" \
			"$(uname -r | cut -d- -f1), $(nproc) CPUs."
		echo "Under \`record -s emu\`, sampled every 100,000 accesses," \
			"and with \`--exact\`."
		echo
		cat "$dir/table"
	} >>"$keep"
fi
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
