/* SPDX-License-Identifier: MIT */
/*
 * trace_live - a trace that comes through a pipe while it is recorded
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_live.h"
#include "analysis/base/util.h"
#include "src/base/zero_pages.h"

enum {
	KEPT_MAX = 64 << 20, /* bytes of chunks until the program waits */
	BLOCKS_BYTES = TRACE_BLOCKS_MAX * sizeof(struct trace_block),
	THREADS_BYTES = TRACE_THREADS_MAX * sizeof(struct trace_thread),
};

#define INSNS_BYTES ((size_t)TRACE_SITES_MAX * sizeof(struct trace_insn))

struct kept {
	struct trace_chunk head;
	uint64_t offset;
	size_t unread; /* simulations that have not read it */
	unsigned char data[];
};

struct sender {
	struct kept **chunk; /* NULL: all have read it */
	size_t chunks, room;
	bool created;
};

struct trace_live {
	struct trace *t;
	int fd;
	pthread_t feeder;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	struct sender *sender; /* by number of the thread */
	size_t threads;        /* indices */
	size_t known, kept;    /* threads, bytes */
	size_t readers;        /* that have not left */
	unsigned int jobs, running, waiting;
	bool over;       /* nothing more comes */
	bool ended;      /* the last chunk has come */
	bool failed;     /* a simulation has */
	uint64_t offset; /* of the feeder alone */
	char error[TRACE_ERROR_BYTES];
};

static int fail(struct trace_live *l, uint64_t offset, const char *why)
{
	snprintf(l->error, sizeof(l->error), "offset %llu: %s",
		 (unsigned long long)offset, why);
	return -EINVAL;
}

/* Returns how many of @bytes there were before the end. */
static size_t take(struct trace_live *l, void *to, size_t bytes)
{
	size_t done = 0;

	while (done < bytes) {
		ssize_t n = read(l->fd, (char *)to + done, bytes - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	l->offset += done;
	return done;
}

/* The program's code: no simulation has met what is new in it. */
static int take_blocks(struct trace_live *l, const struct kept *k)
{
	unsigned char *content = xcalloc(1, TRACE_CHUNK_BYTES);
	const char *wrong = trace_chunk_unpack(&k->head, k->data, content);

	if (!wrong && !trace_add_blocks(l->t, content, k->head.bytes))
		wrong = "a damaged block";
	free(content);
	return wrong ? fail(l, k->offset, wrong) : 0;
}

static bool begins_created(const struct kept *k)
{
	unsigned char *content = xcalloc(1, TRACE_CHUNK_BYTES);
	uint64_t token = 0;

	if (!trace_chunk_unpack(&k->head, k->data, content))
		trace_get(content, content + k->head.bytes, &token);
	free(content);
	token &= ~((uint64_t)TRACE_OUTSIDE << TRACE_TOKEN_BITS);
	return token ==
	       ((uint64_t)TRACE_BEGIN << TRACE_TOKEN_BITS | TRACE_EVENT);
}

static void keep(struct trace_live *l, struct kept *k)
{
	struct sender *s = &l->sender[k->head.thread];

	if (!s->chunks) {
		s->created = begins_created(k);
		l->known++;
		l->t->thread[k->head.thread].id = k->head.thread;
	}
	s->chunk = grow(s->chunk, s->chunks, &s->room, sizeof(*s->chunk));
	s->chunk[s->chunks++] = k;
	k->unread = l->readers;
	l->kept += k->head.stored;
	if (l->threads <= k->head.thread)
		l->threads = k->head.thread + 1;
}

/* Take one chunk. Returns 1, 0 at the end, or -EINVAL. */
static int take_chunk(struct trace_live *l)
{
	uint64_t offset = l->offset;
	struct trace_chunk head;
	const char *wrong;
	struct kept *k;
	int err = 0;

	if (take(l, &head, sizeof(head)) < sizeof(head))
		return 0;
	wrong = trace_chunk_wrong(&head);
	if (wrong)
		return fail(l, offset, wrong);
	k = xcalloc(1, sizeof(*k) + head.stored);
	k->head = head;
	k->offset = offset;
	if (take(l, k->data, head.stored) < head.stored) {
		free(k);
		return 0;
	}
	pthread_mutex_lock(&l->lock);
	if (head.kind == TRACE_BLOCKS)
		err = take_blocks(l, k);
	else if (head.kind == TRACE_THREAD)
		keep(l, k);
	else
		l->ended = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	if (head.kind != TRACE_THREAD)
		free(k);
	return err ? err : 1;
}

/* Enough is kept, and a simulation can go on with it. */
static bool is_full(const struct trace_live *l)
{
	return l->kept >= KEPT_MAX && l->waiting < l->readers && !l->failed;
}

static void *feed(void *data)
{
	struct trace_live *l = data;
	struct trace_header h;
	int more = 1;

	if (take(l, &h, sizeof(h)) < sizeof(h))
		more = fail(l, 0, "the program left no trace");
	else if (trace_header_wrong(&h))
		more = fail(l, 0, trace_header_wrong(&h));
	while (more > 0) {
		more = take_chunk(l);
		pthread_mutex_lock(&l->lock);
		while (is_full(l))
			pthread_cond_wait(&l->changed, &l->lock);
		pthread_mutex_unlock(&l->lock);
	}
	pthread_mutex_lock(&l->lock);
	l->over = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	close(l->fd); /* a program that still writes gets an error */
	return NULL;
}

static void *reserve(size_t bytes)
{
	void *p = zero_pages(bytes);

	if (!p)
		die("no memory for a trace: %zu bytes", bytes);
	return p;
}

static int wait_for_threads(struct trace_live *l, char *error)
{
	size_t indices;

	if (trace_live_threads(l, 0, &indices))
		return 0;
	snprintf(error, TRACE_ERROR_BYTES, "%s",
		 l->error[0] ? l->error
			     : "holds no instructions; did the program reach "
			       "the region of interest?");
	return -EINVAL;
}

int trace_live_open(struct trace *t, int fd, size_t readers, unsigned int jobs,
		    char error[TRACE_ERROR_BYTES])
{
	struct trace_live *l = xcalloc(1, sizeof(*l));
	int err;

	memset(t, 0, sizeof(*t));
	t->live = l;
	t->block = reserve(BLOCKS_BYTES);
	t->insn = reserve(INSNS_BYTES);
	t->thread = reserve(THREADS_BYTES);
	t->blocks_room = TRACE_BLOCKS_MAX + 1;
	t->insns_room = TRACE_SITES_MAX + 1;
	l->t = t;
	l->fd = fd;
	l->readers = readers;
	l->jobs = jobs;
	l->sender = xcalloc(TRACE_THREADS_MAX, sizeof(*l->sender));
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	if (pthread_create(&l->feeder, NULL, feed, l))
		die("cannot start a thread");
	err = wait_for_threads(l, error);
	if (err)
		trace_live_close(t);
	return err;
}

void trace_live_close(struct trace *t)
{
	struct trace_live *l = t->live;

	pthread_mutex_lock(&l->lock);
	l->failed = true; /* the feeder waits for nobody */
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	pthread_join(l->feeder, NULL);
	for (size_t i = 0; i < l->threads; i++) {
		while (l->sender[i].chunks)
			free(l->sender[i].chunk[--l->sender[i].chunks]);
		free(l->sender[i].chunk);
	}
	munmap(t->block, BLOCKS_BYTES);
	munmap(t->insn, INSNS_BYTES);
	munmap(t->thread, THREADS_BYTES);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	free(l->sender);
	free(l);
	memset(t, 0, sizeof(*t));
}

/* With the lock. */
static void run_on(struct trace_live *l)
{
	while (l->running >= l->jobs)
		pthread_cond_wait(&l->changed, &l->lock);
	l->running++;
}

void trace_live_enter(struct trace_live *l)
{
	pthread_mutex_lock(&l->lock);
	run_on(l);
	pthread_mutex_unlock(&l->lock);
}

void trace_live_leave(struct trace_live *l, bool failed)
{
	pthread_mutex_lock(&l->lock);
	l->running--;
	l->readers--;
	l->failed |= failed;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

/* A simulation lets others run while it waits. With the lock. */
static void wait_for_more(struct trace_live *l)
{
	l->running--;
	l->waiting++;
	pthread_cond_broadcast(&l->changed);
	pthread_cond_wait(&l->changed, &l->lock);
	l->waiting--;
	run_on(l);
}

size_t trace_live_threads(struct trace_live *l, size_t known, size_t *indices)
{
	pthread_mutex_lock(&l->lock);
	while (l->known <= known && !l->over && !l->failed)
		if (l->running)
			wait_for_more(l);
		else
			pthread_cond_wait(&l->changed, &l->lock);
	known = l->known;
	*indices = l->threads;
	pthread_mutex_unlock(&l->lock);
	return known;
}

bool trace_live_knows(struct trace_live *l, size_t thread)
{
	bool known;

	pthread_mutex_lock(&l->lock);
	known = l->sender[thread].chunks;
	pthread_mutex_unlock(&l->lock);
	return known;
}

void trace_live_await(struct trace_live *l, uint64_t thread)
{
	if (thread >= TRACE_THREADS_MAX)
		return;
	pthread_mutex_lock(&l->lock);
	while (!l->sender[thread].chunks && !l->over && !l->failed)
		wait_for_more(l);
	pthread_mutex_unlock(&l->lock);
}

bool trace_live_is_created(struct trace_live *l, size_t thread)
{
	bool created;

	pthread_mutex_lock(&l->lock);
	created = l->sender[thread].created;
	pthread_mutex_unlock(&l->lock);
	return created;
}

static int take_next(struct trace_live *l, size_t thread, size_t number,
		     struct trace_live_chunk *to, char *error)
{
	const struct sender *s = &l->sender[thread];
	const struct kept *k;

	while (s->chunks <= number && !l->over && !l->failed)
		wait_for_more(l);
	if (l->failed)
		return -ECANCELED;
	if (s->chunks <= number) {
		snprintf(error, TRACE_ERROR_BYTES, "%s", l->error);
		return l->error[0] ? -EINVAL : 0;
	}
	k = s->chunk[number];
	if (!k) {
		snprintf(error, TRACE_ERROR_BYTES,
			 "too few threads for so many machines");
		return -EINVAL;
	}
	*to = (struct trace_live_chunk){ .head = k->head,
					 .offset = k->offset,
					 .data = k->data,
					 .blocks = l->t->blocks,
					 .insns = l->t->insns };
	return 1;
}

int trace_live_next(struct trace_live *l, size_t thread, size_t number,
		    struct trace_live_chunk *to, char error[TRACE_ERROR_BYTES])
{
	int r;

	pthread_mutex_lock(&l->lock);
	r = take_next(l, thread, number, to, error);
	pthread_mutex_unlock(&l->lock);
	return r;
}

void trace_live_done(struct trace_live *l, size_t thread, size_t number)
{
	struct sender *s = &l->sender[thread];
	struct kept *k;

	pthread_mutex_lock(&l->lock);
	k = s->chunk[number];
	if (!--k->unread) {
		s->chunk[number] = NULL;
		l->kept -= k->head.stored;
		free(k);
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
}

int trace_live_end(struct trace_live *l, char error[TRACE_ERROR_BYTES])
{
	int r;

	pthread_mutex_lock(&l->lock);
	while (!l->over && !l->failed)
		wait_for_more(l);
	r = l->failed ? -ECANCELED : l->error[0] ? -EINVAL : l->ended;
	snprintf(error, TRACE_ERROR_BYTES, "%s", l->error);
	pthread_mutex_unlock(&l->lock);
	return r;
}
