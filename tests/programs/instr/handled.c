/* SPDX-License-Identifier: MIT */
/*
 * handled - a handler with hooks interrupts the program's accesses
 *
 *	handled ROUNDS
 *
 * Each round stores to each of a thousand bytes, so a byte is used again after
 * a thousand accesses plus the few that handlers made. The handler of a timer
 * stores to another byte, some thousand times a second.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum {
	BYTES = 1000,
	INTERVAL_US = 150,
};

static volatile char data[BYTES], ticked;

static void tick(int sig)
{
	ticked = 1;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = tick,
				    .sa_flags = SA_RESTART };
	struct itimerval interval = {
		.it_interval.tv_usec = INTERVAL_US,
		.it_value.tv_usec = INTERVAL_US,
	};
	long rounds = argc > 1 ? atol(argv[1]) : 1000;

	if (sigaction(SIGALRM, &action, NULL) ||
	    setitimer(ITIMER_REAL, &interval, NULL))
		return 1;
	for (long i = 0; i < rounds; i++)
		for (long k = 0; k < BYTES; k++)
			data[k] = 1;
	return 0;
}
