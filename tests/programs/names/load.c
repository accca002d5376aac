/* SPDX-License-Identifier: MIT */
/*
 * load - eight connections that ask a server of this machine without a pause
 *
 *	load PORT memcached|http SECONDS
 *
 * memcached: set a key, get it, count another one up. http: fetch a page, which
 * has one "@".
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	CONNECTIONS = 8,
	TOGETHER = 16, /* requests that are sent before the answers are read */
	BYTES = 65536
};

struct load {
	const char *request;
	char end;    /* how an answer ends, or each part of it */
	int answers; /* such ends of a request */
};

static const struct load memcached = {
	"set k 0 0 5\r\nhello\r\nget k\r\nset n 0 0 1\r\n1\r\nincr n 1\r\n",
	'\n', 6
};
static const struct load http = { "GET / HTTP/1.1\r\nHost: x\r\n\r\n", '@', 1 };

static const struct load *load;
static uint16_t port;

static void *client(void *unused)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons(port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t bytes = TOGETHER * strlen(load->request);
	char *all = calloc(1, bytes + 1), *got = malloc(BYTES);

	if (!all || !got || connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		perror("load");
		exit(1);
	}
	for (int i = 0; i < TOGETHER; i++)
		strcat(all, load->request);
	while (write(fd, all, bytes) == (ssize_t)bytes) {
		int left = TOGETHER * load->answers;

		while (left > 0) {
			ssize_t n = read(fd, got, BYTES);

			if (n <= 0)
				exit(0);
			while (n--)
				left -= got[n] == load->end;
		}
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 4) {
		fputs("usage: load PORT memcached|http SECONDS\n", stderr);
		return 2;
	}
	port = (uint16_t)atoi(argv[1]);
	load = argv[2][0] == 'h' ? &http : &memcached;
	for (int i = 0; i < CONNECTIONS; i++)
		pthread_create(&thread, NULL, client, NULL);
	sleep((unsigned)atoi(argv[3]));
	return 0;
}
