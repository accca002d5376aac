#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_trace_sync - the synchronization of a program is in its trace
#
# Each program uses some of the functions a known number of times. A second
# reader of traces (tests/oracle/trace_events.py) lists the events. The program
# must do what it does without us, and be simulated to its end.
#
# covers: preload/emu preload/emu/guest analysis/record analysis/model src/trace

. "$(dirname "$0")/e2e.sh"

command -v qemu-x86_64 >/dev/null ||
	skip 'qemu-x86_64 is missing: install the package qemu-user'
command -v zstd >/dev/null ||
	skip 'zstd is missing: install the package zstd'
cd "$WORK" || exit 1

# record PROGRAM [ARGUMENT...] - trace it; its events go to the file events
record()
{
	rm -rf out out.old
	"$TOOL" record -s emu -m trace -o out -- "$@" >stdout 2>stderr ||
		fail "$1: status $?: $(cat stderr)"
	python3 "$TOP/tests/oracle/trace_events.py" out/*.trace >events ||
		fail "$1: the second reader failed"
	"$TOOL" simulate --json --machine golden-c3 out >json 2>err ||
		fail "$1: cannot be simulated: $(cat err)"
}

# counts EVENT N - it is there so often
counts()
{
	local n

	n=$(awk -v e="$1" '$3 == e' events | wc -l)
	[ "$n" = "$2" ] || fail "$n events $1, not $2: $(cut -c1-60 events | head -60)"
}

# says FILE WORDS
says()
{
	grep -q -- "$2" "$1" || fail "'$2' is not in: $(cat "$1")"
}

# simulated EXPRESSION - the value of Python over the simulation s, threads t
simulated()
{
	python3 -c 'import json, sys
s = json.load(open("json"))
t = s["threads"]
print(eval(sys.argv[1]))' "$1"
}

cat >p.c <<'EOC'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, all = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t b;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t s;
static int items, go, onced;
static void work(long n) { while (n--) __asm__ volatile(""); }
static void init(void) { work(1000); onced++; }
static void soon(struct timespec *t)
{
	clock_gettime(CLOCK_REALTIME, t);
	t->tv_nsec += 1000000;
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
}
static void locks(void)
{
	struct timespec t;

	soon(&t);
	pthread_mutex_lock(&m);
	pthread_mutex_unlock(&m);
	if (!pthread_mutex_trylock(&m)) {
		if (pthread_mutex_trylock(&m) != EBUSY) /* no event */
			abort();
		pthread_mutex_unlock(&m);
	}
	t.tv_sec += 100;
	pthread_mutex_timedlock(&m, &t);
	pthread_mutex_unlock(&m);
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_tryrdlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_rwlock_wrlock(&rw);
	pthread_rwlock_unlock(&rw);
	pthread_spin_init(&spin, 0);
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
	pthread_spin_trylock(&spin);
	pthread_spin_unlock(&spin);
}
/* The consumer waits for each item; the producer makes them slowly. */
static void *consume(void *arg)
{
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&m);
		while (!items)
			pthread_cond_wait(&c, &m);
		items--;
		pthread_mutex_unlock(&m);
	}
	return arg;
}
static void produce(void)
{
	for (int i = 0; i < 10; i++) {
		work(20000);
		pthread_mutex_lock(&m);
		items++;
		pthread_cond_signal(&c);
		pthread_mutex_unlock(&m);
	}
}
static void *wait_for_all(void *arg)
{
	pthread_mutex_lock(&m);
	while (!go)
		pthread_cond_wait(&all, &m);
	pthread_mutex_unlock(&m);
	return arg;
}
static void *meet(void *arg)
{
	for (int i = 0; i < 5; i++) {
		work(arg ? 20000 : 10000);
		pthread_barrier_wait(&b);
	}
	pthread_once(&once, init);
	return arg;
}
static void *take(void *arg)
{
	for (int i = 0; i < 3; i++)
		sem_wait(&s);
	return arg;
}
static void *leave(void *arg)
{
	pthread_exit(arg);
}
static void two(void *(*f)(void *), void *(*g)(void *))
{
	pthread_t t[2];

	pthread_create(&t[0], 0, f, 0);
	pthread_create(&t[1], 0, g, &t);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
}
int main(int argc, char **argv)
{
	struct timespec t;
	pthread_t other;

	switch (argc > 1 ? argv[1][0] : 0) {
	case 'l':
		locks();
		break;
	case 'c':
		pthread_create(&other, 0, consume, 0);
		produce();
		pthread_join(other, 0);
		break;
	case 'a':
		for (int i = 0; i < 2; i++) {
			pthread_create(&other, 0, wait_for_all, 0);
			pthread_detach(other);
		}
		usleep(20000);
		pthread_mutex_lock(&m);
		go = 1;
		pthread_cond_broadcast(&all);
		pthread_mutex_unlock(&m);
		usleep(20000);
		break;
	case 't':
		soon(&t);
		pthread_mutex_lock(&m);
		if (pthread_cond_timedwait(&c, &m, &t) != ETIMEDOUT)
			abort();
		pthread_mutex_unlock(&m);
		pthread_cond_signal(&c); /* nobody waits */
		break;
	case 'b':
		pthread_barrier_init(&b, 0, 2);
		two(meet, meet);
		break;
	case 's':
		sem_init(&s, 0, 1);
		pthread_create(&other, 0, take, 0);
		work(20000);
		sem_post(&s);
		sem_post(&s);
		pthread_join(other, 0);
		if (!sem_trywait(&s) || errno != EAGAIN)
			abort();
		break;
	case 'x':
		two(leave, leave);
		break;
	}
	printf("%s %d %d\n", getenv("LD_PRELOAD") ? "preloaded" : "alone", items,
	       onced);
	return 0;
}
EOC
gcc -O2 -pthread -o p p.c || fail 'cannot build p'
gcc -O2 -pthread -static -o p.static p.c 2>/dev/null

for how in l c a t b s x; do
	./p $how >native
	record ./p $how
	cmp -s native stdout ||
		fail "p $how printed $(cat stdout), natively $(cat native)"
done

record ./p l
counts lock 6
counts read_lock 2
counts unlock 8
record ./p c
counts create 1
counts begin 1
counts join 1
counts lock 20
counts cond_wait "$(awk '$3 == "pair" && $4 != "0x0"' events | wc -l)"
n=$(awk '$3 == "cond_wait"' events | wc -l)
[ "$n" -ge 5 ] && [ "$n" -le 10 ] || fail "$n waits for 10 items"
# every wait names a signal that is there
awk '$3 == "pair" { print $4 }' events | while read -r pair; do
	awk -v p=$((pair)) '$3 == "cond_signal" && $5 == p' events | grep -q . ||
		echo "$pair"
done >lost
[ ! -s lost ] || fail "waits end with signals that are not there: $(cat lost)"
# the waits are no work of the program: 20 calls and a loop around them
n=$(awk '$1 == 1 && $3 == "unlock" { n = $2 } END { print n }' events)
[ "$n" -lt 20000 ] || fail "the consumer has $n instructions"
n=$(simulated 't[1]["stack"]["sync"] / t[1]["cycles"] > 0.5')
[ "$n" = True ] || fail "the consumer does not wait: $(cat json)"

record ./p a
counts cond_broadcast 1
counts cond_wait 2
[ "$(awk '$3 == "pair"' events | cut -d' ' -f4 | sort -u | wc -l)" = 1 ] ||
	fail "two waits do not end with one broadcast: $(cat events)"
record ./p t
counts cond_wait 1
counts cond_signal 0
grep -q 'pair 0x0' events || fail "a wait whose time ran out: $(cat events)"
record ./p b
counts barrier 10
awk '$3 == "barrier" && $5 != 2' events | grep . && fail 'a barrier is not for 2'
counts set 1
counts await 2
n=$(simulated '0.3 < t[1]["stack"]["sync"] / t[1]["cycles"] < 0.6')
[ "$n" = True ] || fail "one of two does half of the work: $(cat json)"
n=$(simulated 't[2]["stack"]["sync"] / t[2]["cycles"] < 0.1')
[ "$n" = True ] || fail "the other should not wait: $(cat json)"
record ./p s
counts sem_init 1
counts sem_wait 3
counts sem_post 2
record ./p x
counts join 2

# The region of interest: events outside are marked, and take no time.
rm -rf out
"$TOOL" record -s emu -m trace --roi init,meet -o out -- ./p b >stdout 2>stderr
python3 "$TOP/tests/oracle/trace_events.py" out/*.trace >events
grep -q 'barrier\*' events || fail "no event outside the region: $(cat events)"

if [ -x p.static ]; then
	record ./p.static c
	says stderr 'only the futex calls'
	grep -q ' set ' events || fail "no futex wakes another thread: $(cat events)"
	grep -q ' await ' events || fail "no futex waits: $(cat events)"
	counts lock 0
	counts create 1
fi
record ./p c
grep -q 'futex calls' stderr && fail "a dynamic program: $(cat stderr)"

# What the user preloads stays, for the program and in its environment.
printf '#include <stdio.h>\n__attribute__((constructor)) static void f(void) { fputs("user\\n", stderr); }\n' >u.c
gcc -shared -fPIC -o user.so u.c || fail 'cannot build user.so'
LD_PRELOAD=$WORK/user.so "$TOOL" record -s emu -m trace -o out.u -- ./p l \
	>stdout 2>stderr
says stdout preloaded
says stderr '^user'

# A program that executes another one, which is traced as well.
rm -rf out
"$TOOL" record -s emu -m trace -o out -- sh -c 'exec ./p l' >stdout 2>stderr ||
	fail "exec: $(cat stderr)"
says stdout alone
for f in out/*.trace; do
	python3 "$TOP/tests/oracle/trace_events.py" "$f"
done >events
counts read_lock 2

# ---- OpenMP ----
cat >o.c <<'EOC'
#include <omp.h>
#include <stdio.h>
static double a[4096];
static int count;
static omp_lock_t l;
static int fib(int n)
{
	int x, y;

	if (n < 8)
		return n < 2 ? n : fib(n - 1) + fib(n - 2);
	#pragma omp task shared(x)
	x = fib(n - 1);
	#pragma omp task shared(y)
	y = fib(n - 2);
	#pragma omp taskwait
	return x + y;
}
int main(void)
{
	double s = 0;
	int f = 0, o = 0;

	omp_init_lock(&l);
	#pragma omp parallel num_threads(4)
	{
		int c;

		#pragma omp for schedule(static) reduction(+:s)
		for (int i = 0; i < 4096; i++)
			s += a[i] = i; /* a barrier */
		#pragma omp for schedule(dynamic, 64) nowait
		for (int i = 0; i < 4096; i++)
			a[i] *= 2;
		#pragma omp barrier
		#pragma omp critical
		count++;
		#pragma omp critical(x)
		count++;
		omp_set_lock(&l);
		count++;
		omp_unset_lock(&l);
		#pragma omp single
		f = fib(16); /* a barrier */
		#pragma omp single copyprivate(c)
		c = 5; /* two barriers */
		#pragma omp for ordered
		for (int i = 0; i < 8; i++) {
			#pragma omp ordered
			o = o * 3 + i + c - 5;
		} /* a barrier */
	} /* a barrier */
	#pragma omp parallel for num_threads(3) schedule(dynamic)
	for (int i = 0; i < 30; i++)
		a[i] += 1; /* a barrier */
	#pragma omp parallel num_threads(2) reduction(task, +:s)
	s += 1;
	printf("%g %d %d %d\n", s, count, f, o);
	return 0;
}
EOC
if gcc -O2 -fopenmp -o o o.c 2>/dev/null; then
	./o >native
	record ./o
	cmp -s native stdout ||
		fail "OpenMP printed $(cat stdout), natively $(cat native)"
	counts create 3
	counts lock 12
	counts unlock 12
	n=$(awk '$3 == "barrier" && $5 == 4' events | wc -l)
	[ "$n" = 28 ] || fail "$n barriers of 4, not 28: $(cat events)"
	n=$(awk '$3 == "barrier" && $5 == 3' events | wc -l)
	[ "$n" = 3 ] || fail "$n barriers of 3, not 3"
	# the tasks are in the trace: 987 calls of fib and what calls them
	n=$(simulated 's["instructions"] > 20000')
	[ "$n" = True ] || fail "the tasks are missing: $(cat json)"
fi
echo "events of threads, locks, waits and OpenMP are in traces"
