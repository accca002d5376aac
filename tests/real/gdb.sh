# SPDX-License-Identifier: MIT
# gdb is profiled, not the program it debugs: breakpoints with conditions, a
# hardware and a software watchpoint, which need the same debug registers.
needs='gdb gcc'
filter_says='process and thread ids; when gdb hears of the end of a thread'
version() { gdb --version | grep -om 1 '[0-9.]*$'; }
# gdb writes the message of a thread's end in pieces, and the program may write
# a line in between.
filter()
{
	sed -E 's/process [0-9]+/process N/; s/\(LWP [0-9]+\)/(LWP N)/
		s/Thread 0x[0-9a-f]+/Thread N/' |
		sed -z -E 's/\[Thread N \(LWP N\) exited\]\n//g
			s/\[([^]\n]*\n)Thread N \(LWP N\) exited\]\n/\1/g
			s/\[Thread N \(LWP N\)([^]\n]*\n) exited\]\n/\1/g'
}
prepare()
{
	cat >debuggee.c <<'C'
#include <pthread.h>
#include <stdio.h>

int counter, total;
char text[32];

__attribute__((noinline)) int bump_counter(int i)
{
	counter++;
	return i * 3 % 11;
}

static void *worker(void *arg)
{
	snprintf(text, sizeof(text), "thread %d", *(int *)arg);
	return NULL;
}

int main(void)
{
	pthread_t t;
	int i, n = 5;

	for (i = 0; i < 45000; i++)
		total += bump_counter(i);
	pthread_create(&t, NULL, worker, &n);
	pthread_join(t, NULL);
	printf("%d %d %s\n", counter, total, text);
	return 6;
}
C
	gcc -O0 -g -pthread -o debuggee debuggee.c
	cat >commands <<'GDB'
set pagination off
set confirm off
set debuginfod enabled off
break main
run
break bump_counter if i == 18000
continue
backtrace
print counter
info registers rip
watch counter
continue
continue
delete
set can-use-hw-watchpoints 0
watch total
continue
continue
delete
set can-use-hw-watchpoints 1
rwatch total
watch text[0]
continue
info threads
delete
continue
print $_exitcode
info line bump_counter
ptype worker
GDB
}
run()
{
	profiled gdb -nx -batch -x "$DATA/commands" "$DATA/debuggee"
	echo "status $?"
}
