/* SPDX-License-Identifier: MIT */
/*
 * http - let other tools fetch what the daemon has found
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "http.h"
#include "clients.h"
#include "microhttpd.h"
#include "pprof_child.h"
#include "analysis/base/util.h"
#include "analysis/outside/now.h"

#define S UINT64_C(1000000000)

enum {
	CONNECTIONS = 16,
	CONNECTION_BYTES = 16 * 1024, /* for a request and its headers */
	CHILD_S = 30,                 /* to make a profile */
	DAEMONS = 2,
};

/* A profile that is waited for. */
struct request {
	struct MHD_Connection *connection;  /* NULL: unused */
	uint64_t since_ms, due, give_up_at; /* ns */
	struct pprof_child child;
	char *answer; /* malloc'ed; NULL: not yet, or it failed */
	size_t bytes;
	bool ready;
};

struct http;

struct listener {
	struct http *http;
	struct MHD_Daemon *daemon;
	bool tcp;
};

struct http {
	const struct microhttpd *mhd;
	struct http_source source;
	struct listener listener[DAEMONS];
	int daemons;
	char *path;
	uint64_t cpu_ns;
	struct request request[HTTP_REQUESTS];
	struct clients clients;
};

static uint64_t real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static enum MHD_Result answer(struct http *h, struct MHD_Connection *c,
			      unsigned int status, const char *type, void *text,
			      size_t bytes, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r =
		h->mhd->create_response_from_buffer(bytes, text, mode);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	h->mhd->add_response_header(r, "Content-Type", type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		h->mhd->add_response_header(r, "Allow", "GET, HEAD");
	done = h->mhd->queue_response(c, status, r);
	h->mhd->destroy_response(r);
	return done;
}

static enum MHD_Result say(struct http *h, struct MHD_Connection *c,
			   unsigned int status, const char *text)
{
	return answer(h, c, status, "text/plain; charset=utf-8", (void *)text,
		      strlen(text), MHD_RESPMEM_PERSISTENT);
}

/* The request of a connection that was resumed, or a free one with NULL. */
static struct request *find(struct http *h, const struct MHD_Connection *c)
{
	for (int i = 0; i < HTTP_REQUESTS; i++)
		if (h->request[i].connection == c)
			return &h->request[i];
	return NULL;
}

static long seconds_of(struct http *h, struct MHD_Connection *c)
{
	const char *text = h->mhd->lookup_connection_value(
		c, MHD_GET_ARGUMENT_KIND, "seconds");
	char *end;
	long n;

	if (!text)
		return HTTP_SECONDS_DEFAULT;
	n = strtol(text, &end, 10);
	return end == text || *end || n > HTTP_SECONDS_MAX ? 0 : n;
}

static enum MHD_Result serve_profile(struct http *h, struct MHD_Connection *c)
{
	struct request *r = find(h, c);
	long seconds;

	if (r) {
		char *text = r->answer;
		size_t bytes = r->bytes;

		memset(r, 0, sizeof(*r));
		if (!text)
			return say(h, c, MHD_HTTP_INTERNAL_SERVER_ERROR,
				   "the profile could not be made\n");
		return answer(h, c, MHD_HTTP_OK, "application/octet-stream",
			      text, bytes, MHD_RESPMEM_MUST_FREE);
	}
	seconds = seconds_of(h, c);
	if (seconds < 1)
		return say(h, c, MHD_HTTP_BAD_REQUEST,
			   "seconds must be from 1 to 60\n");
	r = find(h, NULL);
	if (!r)
		return say(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
			   "too many profiles are being made\n");
	r->connection = c;
	r->since_ms = real_ms();
	r->due = outside_now() + (uint64_t)seconds * S;
	h->mhd->suspend_connection(c);
	return MHD_YES;
}

static const char *header(const struct http *h, struct MHD_Connection *c,
			  const char *name)
{
	return h->mhd->lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* A request's headers have come, with @state NULL; then its body. */
static enum MHD_Result serve(void *ctx, struct MHD_Connection *c,
			     const char *url, const char *method,
			     const char *version, const char *data,
			     size_t *bytes, void **state)
{
	static int seen;
	const struct listener *l = ctx;
	struct http *h = l->http;

	if (!*state) {
		*state = &seen;
		clients_asked(&h->clients, c, outside_now());
		return MHD_YES;
	}
	if (*bytes) { /* we want no body */
		*bytes = 0;
		return MHD_YES;
	}
	/* No browser reaches the UNIX socket. */
	if (l->tcp && !clients_allowed(header(h, c, "Host"),
				       header(h, c, "Sec-Fetch-Site")))
		return say(h, c, MHD_HTTP_FORBIDDEN,
			   "only requests to localhost are served, and none "
			   "of pages of other sites\n");
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return say(h, c, MHD_HTTP_METHOD_NOT_ALLOWED,
			   "only GET is served\n");
	if (!strcmp(url, "/healthz"))
		return say(h, c, MHD_HTTP_OK, "ok\n");
	if (!strcmp(url, "/metrics")) {
		char *text = h->source.metrics(h->source.ctx);

		return answer(h, c, MHD_HTTP_OK,
			      "application/openmetrics-text; version=1.0.0; "
			      "charset=utf-8",
			      text, strlen(text), MHD_RESPMEM_MUST_FREE);
	}
	if (!strcmp(url, "/debug/pprof/sharing"))
		return serve_profile(h, c);
	return say(h, c, MHD_HTTP_NOT_FOUND,
		   "there are /healthz, /metrics and "
		   "/debug/pprof/sharing?seconds=N\n");
}

/* The client has gone, or has its answer. */
static void completed(void *ctx, struct MHD_Connection *c, void **state,
		      enum MHD_RequestTerminationCode code)
{
	struct http *h = ((struct listener *)ctx)->http;
	struct request *r = find(h, c);

	clients_answered(&h->clients, c, outside_now());
	if (!r)
		return;
	h->cpu_ns += pprof_child_kill(&r->child);
	free(r->answer);
	memset(r, 0, sizeof(*r));
}

static void connected(void *ctx, struct MHD_Connection *c, void **state,
		      enum MHD_ConnectionNotificationCode code)
{
	struct http *h = ((struct listener *)ctx)->http;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		clients_end(&h->clients, c);
		return;
	}
	info = h->mhd->get_connection_info(c,
					   MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		clients_begin(&h->clients, c, info->connect_fd, outside_now());
}

static void serve_on(struct http *h, int fd, bool tcp)
{
	struct listener *l = &h->listener[h->daemons];

	if (listen(fd, CONNECTIONS))
		die("cannot listen: %s", strerror(errno));
	l->http = h;
	l->tcp = tcp;
	l->daemon = h->mhd->start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, serve,
		l, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)CLIENTS_SILENT_S, MHD_OPTION_NOTIFY_COMPLETED,
		completed, l, MHD_OPTION_NOTIFY_CONNECTION, connected, l,
		MHD_OPTION_END);
	if (!l->daemon)
		die("cannot serve HTTP: %s", strerror(errno));
	h->daemons++;
}

/* A socket that nobody listens to any more. */
static void remove_stale(const struct sockaddr_un *a)
{
	struct stat st;
	int fd;

	if (lstat(a->sun_path, &st) || !S_ISSOCK(st.st_mode))
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)a, sizeof(*a)) &&
	    errno == ECONNREFUSED)
		unlink(a->sun_path);
	close(fd);
}

static void listen_on_path(struct http *h, const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t mask = umask(0177);

	if (strlen(path) >= sizeof(a.sun_path))
		die("the path of the socket is too long: %s", safe_text(path));
	strcpy(a.sun_path, path);
	remove_stale(&a);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)))
		die("cannot make the socket %s: %s; choose another path",
		    safe_text(path), strerror(errno));
	umask(mask);
	h->path = xstrdup(path);
	serve_on(h, fd, false);
}

static void listen_on_port(struct http *h, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
	    on = 1;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a, sizeof(a)))
		die("cannot listen on 127.0.0.1:%d: %s; choose another port",
		    port, strerror(errno));
	serve_on(h, fd, true);
}

struct http *http_open(const struct http_source *s, const char *path,
		       uint16_t port)
{
	struct http *h = xcalloc(1, sizeof(*h));

	h->mhd = microhttpd();
	h->source = *s;
	if (path)
		listen_on_path(h, path);
	if (port)
		listen_on_port(h, port);
	return h;
}

int http_polls(struct http *h, struct pollfd *p)
{
	int n = 0;

	for (int i = 0; i < h->daemons; i++)
		p[n++] = (struct pollfd){
			.fd = h->mhd->get_daemon_info(h->listener[i].daemon,
						      MHD_DAEMON_INFO_EPOLL_FD)
				      ->listen_fd,
			.events = POLLIN,
		};
	for (int i = 0; i < HTTP_REQUESTS; i++)
		if (h->request[i].child.child.pid)
			p[n++] = (struct pollfd){
				.fd = h->request[i].child.child.fd,
				.events = POLLIN,
			};
	return n;
}

uint64_t http_wait(struct http *h)
{
	uint64_t now = outside_now(), least = clients_wait(&h->clients, now);
	MHD_UNSIGNED_LONG_LONG ms;

	for (int i = 0; i < h->daemons; i++)
		if (h->mhd->get_timeout(h->listener[i].daemon, &ms) ==
			    MHD_YES &&
		    ms < least / 1000000)
			least = ms * 1000000;
	for (int i = 0; i < HTTP_REQUESTS; i++) {
		const struct request *r = &h->request[i];
		uint64_t at = r->child.child.pid ? r->give_up_at : r->due;

		if (r->connection && !r->ready &&
		    (at <= now || at - now < least))
			least = at > now ? at - now : 0;
	}
	return least;
}

static void resume(struct http *h, struct request *r)
{
	r->ready = true;
	h->mhd->resume_connection(r->connection);
}

static void begin_profile(struct http *h, struct request *r, uint64_t now)
{
	const char *path;
	uint64_t from = UINT64_MAX, until = 0;

	/* Without a slice the profile is empty. */
	if (!h->source.ended(h->source.ctx, r->since_ms, &path, &from, &until))
		path = NULL;
	if (pprof_child_begin(&r->child, path, from, until))
		resume(h, r);
	r->give_up_at = now + CHILD_S * S;
}

static void advance(struct http *h, struct request *r, uint64_t now)
{
	if (!r->connection || r->ready)
		return;
	if (!r->child.child.pid) {
		if (now >= r->due)
			begin_profile(h, r, now);
		return;
	}
	if (now >= r->give_up_at)
		h->cpu_ns += pprof_child_kill(&r->child);
	else if (!child_has_ended(&r->child.child))
		return;
	else
		h->cpu_ns += pprof_child_end(&r->child, &r->answer, &r->bytes);
	resume(h, r);
}

void http_work(struct http *h)
{
	uint64_t now = outside_now();

	for (int i = 0; i < HTTP_REQUESTS; i++)
		advance(h, &h->request[i], now);
	clients_shut_slow(&h->clients, now);
	for (int i = 0; i < h->daemons; i++)
		h->mhd->run(h->listener[i].daemon);
}

uint64_t http_cpu_ns(const struct http *h)
{
	return h->cpu_ns;
}

void http_close(struct http *h)
{
	/* A connection that is suspended must not be. */
	for (int i = 0; i < HTTP_REQUESTS; i++) {
		struct request *r = &h->request[i];

		if (!r->connection || r->ready)
			continue;
		h->cpu_ns += pprof_child_kill(&r->child);
		resume(h, r);
	}
	for (int i = 0; i < h->daemons; i++) {
		h->mhd->run(h->listener[i].daemon);
		h->mhd->stop_daemon(h->listener[i].daemon);
	}
	if (h->path)
		unlink(h->path);
	free(h->path);
	free(h);
}
