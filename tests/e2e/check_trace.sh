#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_trace - record a trace of a program under QEMU and simulate it
#
# The program is written so that its instructions and accesses are known. It is
# built static, position-independent and dynamic; each way the region of
# interest must be the same. Recording must not change what the program does.
#
# covers: preload/emu analysis/record analysis/model analysis/cmd src/trace

. "$(dirname "$0")/e2e.sh"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
cd "$WORK" || exit 1

# A thread's region has 5 instructions (call, jump or return around it aside), a
# loop of 3 instructions, 1000 times, with a load in each round.
cat >p.c <<-'EOC'
	#include <pthread.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <unistd.h>
	static long data[4096];
	__attribute__((noinline, noclone)) void begin(void)
	{
		__asm__ volatile("nop" ::: "memory");
	}
	__attribute__((noinline, noclone)) void end(void)
	{
		__asm__ volatile("nop" ::: "memory");
	}
	static void *work(void *arg)
	{
		long n = 1000, x, *p = data;

		begin();
		/* an instruction that crosses a page */
		__asm__ volatile("jmp 2f\n .p2align 12\n .skip 4092, 0x90\n"
				 "2: nop\n mov $0x12345678, %%eax" ::: "eax");
		__asm__ volatile("1: mov (%1),%2\n dec %0\n jne 1b"
				 : "+r"(n), "+r"(p), "=&r"(x)
				 :
				 : "memory");
		end();
		return arg;
	}
	int main(int argc, char **argv)
	{
		pthread_t t;

		work(0);
		pthread_create(&t, 0, work, 0);
		pthread_join(t, 0);
		puts("done");
		fflush(stdout);
		if (argc > 1 && argv[1][0] == 'k')
			kill(getpid(), 9);
		if (argc > 1 && argv[1][0] == 'f') {
			if (!fork())
				work(0);
			else
				wait(0); /* record does not wait for it */
		}
		return argc > 1 ? 7 : 0;
	}
EOC
sed -i 's/#include <unistd.h>/#include <signal.h>\n#include <sys\/wait.h>\n#include <unistd.h>/' p.c
gcc -O2 -pthread -static -no-pie -fno-pie -o p.static p.c 2>/dev/null ||
	skip 'gcc cannot link a static program here'
gcc -O2 -pthread -fpie -pie -o p.pie p.c || fail 'cannot build p.pie'
gcc -O2 -pthread -no-pie -fno-pie -o p.dynamic p.c || fail 'cannot build'

# record OUT ARGUMENT... - its status; stdout and stderr go to files
record()
{
	local out=$1

	shift
	rm -rf "$out" "$out.old"
	"$TOOL" record -s emu -o "$out" "$@" >stdout 2>stderr
}

# says FILE WORDS
says()
{
	grep -q -- "$2" "$1" || fail "'$2' is not in: $(cat "$1")"
}

# simulated DIR EXPRESSION - the value of Python over the simulation s
simulated()
{
	"$TOOL" simulate --json --machine golden-c3 "$1" >json ||
		fail "simulate $1 failed"
	python3 -c 'import json, sys
s = json.load(open("json"))
t = s["threads"]
print(eval(sys.argv[1]))' "$2"
}

for kind in static pie dynamic; do
	record "out.$kind" -m trace --roi begin,end -- "./p.$kind" ||
		fail "$kind: status $?: $(cat stderr)"
	[ "$(cat stdout)" = "done" ] || fail "$kind: it printed $(cat stdout)"
	says stderr 'instructions in the trace out'
	says stderr "next: reusetrack simulate --machine golden-c3 out.$kind"
	"$TOOL" report "out.$kind" | head -3 >answer
	says answer 'This is a trace, '
	# begin's nop and ret, the set-up of the loop, and the call of end
	for i in 0 1; do
		n=$(simulated "out.$kind" "t[$i]['instructions'] - 3000")
		[ "$n" -ge 3 ] && [ "$n" -le 12 ] ||
			fail "$kind: thread $i has $n instructions too many"
	done
	n=$(simulated "out.$kind" 'list(s["unknown"])')
	[ "$n" = "[]" ] || fail "$kind: unknown instructions: $n"
	n=$(simulated "out.$kind" 's["branches"]["conditional"]')
	[ "$n" = 2000 ] || fail "$kind: $n branches, not 2000"
	# each thread has the 1000 loads of the loop and what calls need
	n=$(simulated "out.$kind" \
		'sum(c["accesses"] for c in s["caches"] if c["name"] == "l1d")')
	[ "$n" -ge 2000 ] && [ "$n" -le 2020 ] || fail "$kind: $n accesses"
	n=$(simulated "out.$kind" \
		'all(abs(sum(x["stack"].values()) - x["cycles"]) < 1e-3 for x in t)')
	[ "$n" = True ] || fail "$kind: a stack does not add up"
done

# Numbers of instructions.
record a -m trace --roi 1000,3000 -- ./p.static || fail "$(cat stderr)"
n=$(simulated a 't[0]["instructions"]')
[ "$n" -ge 1900 ] && [ "$n" -le 2100 ] || fail "$n instructions, not 2000"

# Exit status and signals are the program's; a killed one leaves a trace.
record c -m trace -- ./p.static x
[ $? = 7 ] || fail 'the exit status is not the program'\''s'
record c -m trace -- ./p.static k
[ $? = 137 ] || fail 'it did not end as killed'
"$TOOL" simulate --machine golden-c1 c >text 2>err ||
	grep -q 'holds no instructions' err || fail "$(cat err)"

# A followed child has a trace of its own.
record d -m trace --roi begin,end --children -- ./p.static f
[ "$(ls d/*.trace | wc -l)" = 2 ] || fail "no trace of the child: $(ls d)"
for f in d/*.trace; do
	"$TOOL" simulate --machine golden-c1 "$f" >text ||
		fail "cannot simulate $f"
	says text 'Thread 0: 3,'
done

# What is refused, before the program runs.
record e -m trace --roi begin,nothing -- ./p.static
[ $? = 125 ] || fail 'a function that is not there: not refused'
says stderr "has no function 'nothing'"
record e -m comm --roi begin,end -- ./p.static
says stderr 'needs -m trace'
record e -m trace,comm -- ./p.static
says stderr 'trace goes with no other'
record e -m trace --roi 5,5 -- ./p.static
says stderr 'second number must be larger'
"$TOOL" record -m trace -- ./p.static 2>stderr && fail 'clock wrote a trace'
says stderr 'needs the source emu'
[ ! -e e ] || fail 'a refused run left a directory'

# A program instead of a trace: it prints to stderr, and leaves nothing.
mkdir tmp
TMPDIR=$WORK/tmp "$TOOL" simulate --json --machine golden-c3 --roi begin,end \
	-- ./p.static >json 2>err || fail "simulate -- PROGRAM: $(cat err)"
n=$(python3 -c 'import json; print(len(json.load(open("json"))["threads"]))')
[ "$n" = 2 ] || fail "simulate -- PROGRAM: $n threads, not 2"
says err '^done'
grep -q "$WORK/tmp" err && fail "a path that is gone: $(cat err)"
TMPDIR=$WORK/tmp "$TOOL" simulate --json --machine golden-c3 -- env >json 2>err
grep -q TEMPORARY err && fail 'the program sees a variable of ours'
[ -z "$(ls tmp)" ] || fail "simulate -- PROGRAM left $(ls tmp)"
# QEMU may leave a block, execute one instruction in a block of its own, and
# report that one's store for the block that it left.
if command -v xz >/dev/null; then
	seq 4000 >numbers
	record x -m trace -- xz -T2 -0 --block-size=8KiB -kc numbers ||
		fail "xz: $(cat stderr)"
	n=$(simulated x 's["instructions"] > 1e6')
	[ "$n" = True ] || fail "xz: $(cat json)"
fi

# Two threads write one line; one reads more than L1D has, twice.
cat >misses.c <<-'EOC'
	#include <pthread.h>
	static volatile long fought[2] __attribute__((aligned(64)));
	static volatile char wide[2][1 << 17] __attribute__((aligned(64)));
	__attribute__((noinline, noclone)) void begin(void) { __asm__(""); }
	__attribute__((noinline, noclone)) void end(void) { __asm__(""); }
	static void *work(void *arg)
	{
		begin();
		for (int i = 0; i < 20000; i++)
			fought[(long)arg]++; /* line 10 */
		for (int i = 0; arg && i < 2 << 17; i += 64)
			wide[0][i & ((1 << 17) - 1)]; /* line 12 */
		end();
		return 0;
	}
	int main(void)
	{
		pthread_t t;

		pthread_create(&t, 0, work, (void *)1);
		work(0);
		return pthread_join(t, 0);
	}
EOC
gcc -O1 -g -pthread -o misses misses.c || fail 'cannot build misses.c'
rm -rf x
"$TOOL" record -s emu -m trace --roi begin,end -o x -- ./misses \
	>stdout 2>stderr || fail "misses: $(cat stderr)"
"$TOOL" simulate --misses --machine golden-c3 x >text 2>err ||
	fail "--misses: $(cat err)"
says text 'misses.c:12, work: wide'
"$TOOL" simulate --json --misses --machine golden-c3 x >json 2>err ||
	fail "--misses: $(cat err)"
python3 - json <<-'EOC' || fail "--misses: $(cat text)"
	import json, sys
	s = json.load(open(sys.argv[1]))
	m = s['misses']
	def row(rows, **want):
	    return next(r for r in rows
	                if all(r[k].endswith(v) for k, v in want.items()))
	wide = row(m['lines'], location='misses.c:12', object='wide')
	# 2,048 lines, and once more; a few of L1D's 512 may be left
	assert wide["why"]["cold"] == 2048, wide
	assert wide['why']['capacity'] == wide['from']['l2'], wide
	assert 1500 < wide['why']['capacity'] <= 2048, wide
	fought = row(m['lines'], location='misses.c:10', object='fought')
	assert fought['why']['coherence'] > 100, fought
	assert fought['from']['core'] == fought['why']['coherence'], fought
	assert row(m['objects'], object='wide')['misses'] == wide['misses']
	assert m['misses'] == sum(c['misses'] for c in s['caches']
	                          if c['name'] == 'l1d'), m
EOC
"$TOOL" simulate --misses --what-if --machine golden-c3 x 2>err &&
	fail '--misses with --what-if was accepted'
cp x/*.trace alone.trace
"$TOOL" simulate --misses --machine golden-c3 alone.trace >text 2>err ||
	fail "--misses without names: $(cat err)"
says err 'without alone.cdp'

# The same from the pipe as from a file, on several machines. The region of a
# static program has the same addresses each time.
for m in '' '--misses' '--jobs=1' '--what-if'; do
	set -- --json --machine golden-c1 --machine golden-c3 $m
	"$TOOL" simulate "$@" out.static >file 2>file.err ||
		fail "$m: $(cat file.err)"
	TMPDIR=$WORK/tmp "$TOOL" simulate "$@" --roi begin,end -- ./p.static \
		>piped 2>piped.err
	cmp -s file piped || fail "$m: $(cat file piped piped.err)"
done

# A killed program, and a simulation that ends before its program.
TMPDIR=$WORK/tmp "$TOOL" simulate --machine golden-c1 -- ./p.dynamic k \
	>text 2>err
[ $? = 1 ] || fail "a killed program: $(cat text err)"
says err 'was killed by signal 9'
says text 'instructions'
[ -z "$(ls tmp)" ] || fail "a killed program left $(ls tmp)"
TMPDIR=$WORK/tmp "$TOOL" simulate --machine golden-c1 -- \
	sh -c 'exec ./p.dynamic' 2>err && fail 'two programs were one trace'
says err 'became another one'
[ -z "$(ls tmp)" ] || fail "two programs left $(ls tmp)"

TMPDIR=$WORK/tmp "$TOOL" simulate --machine golden-c3 -- sleep 60 2>err &
job=$!
for ((i = 0; i < 300; i++)); do
	ls tmp/*/out/*.cdp >/dev/null 2>&1 && break
	sleep 0.1
done
[ -z "$(find tmp -name '*.trace')" ] || fail 'a trace is on the disk'
kill -TERM $job
wait $job
[ $? = 143 ] || fail "simulate -- PROGRAM, ended: $(cat err)"
[ -z "$(ls tmp)" ] || fail "simulate -- PROGRAM, ended, left $(ls tmp)"
"$TOOL" simulate --machine golden-c3 -- ./nothing 2>err &&
	fail 'a program that is not there was simulated'
says err 'cannot find'
"$TOOL" simulate --machine golden-c3 --roi begin,end a 2>err &&
	fail '--roi with a trace was accepted'

# A damaged trace names the offset.
cp a/*.trace bad.trace
printf 'x' | dd of=bad.trace bs=1 seek=200 conv=notrunc 2>/dev/null
"$TOOL" simulate --machine golden-c1 bad.trace >text 2>err &&
	fail 'a damaged trace was simulated'
says err 'offset 64'
"$TOOL" simulate --machine golden-c1 p.c 2>err && fail "C was simulated"
says err 'not a trace'
echo "traces of static, position-independent and dynamic programs agree"
