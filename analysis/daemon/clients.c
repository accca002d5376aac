/* SPDX-License-Identifier: MIT */
/*
 * clients - the connections to the HTTP server: whom it serves, and how long
 */
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "clients.h"

#define S UINT64_C(1000000000)

static bool is_port_or_end(const char *s)
{
	if (!*s)
		return true;
	return *s == ':' && s[1] && !s[1 + strspn(s + 1, "0123456789")];
}

static bool is_local(const char *host)
{
	static const char *const names[] = { "localhost", "127.0.0.1",
					     "[::1]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (!strncasecmp(host, names[i], n) && is_port_or_end(host + n))
			return true;
	}
	return false;
}

bool clients_allowed(const char *host, const char *fetch_site)
{
	if (host && !is_local(host))
		return false;
	return !fetch_site || !strcasecmp(fetch_site, "none") ||
	       !strcasecmp(fetch_site, "same-origin");
}

static struct client *find(struct clients *c, const void *connection)
{
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (c->client[i].connection == connection)
			return &c->client[i];
	return NULL;
}

void clients_begin(struct clients *c, const void *connection, int fd,
		   uint64_t now)
{
	struct client *new = find(c, NULL);

	if (new)
		*new = (struct client){ connection, fd,
					now + CLIENTS_SILENT_S * S };
}

static void extend(struct clients *c, const void *connection, uint64_t until)
{
	struct client *one = find(c, connection);

	if (one)
		one->until = until;
}

void clients_asked(struct clients *c, const void *connection, uint64_t now)
{
	extend(c, connection, now + CLIENTS_SERVED_S * S);
}

void clients_answered(struct clients *c, const void *connection, uint64_t now)
{
	extend(c, connection, now + CLIENTS_SILENT_S * S);
}

void clients_end(struct clients *c, const void *connection)
{
	struct client *one = find(c, connection);

	if (one)
		memset(one, 0, sizeof(*one));
}

void clients_shut_slow(struct clients *c, uint64_t now)
{
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *one = &c->client[i];

		if (!one->connection || now < one->until)
			continue;
		shutdown(one->fd, SHUT_RDWR);
		/* Its end is told to us; it needs no second shutdown. */
		one->until = UINT64_MAX;
	}
}

uint64_t clients_wait(const struct clients *c, uint64_t now)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < CLIENTS_MAX; i++) {
		const struct client *one = &c->client[i];

		if (!one->connection || one->until == UINT64_MAX)
			continue;
		if (one->until <= now)
			return 0;
		if (one->until - now < least)
			least = one->until - now;
	}
	return least;
}
