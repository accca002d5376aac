/* SPDX-License-Identifier: MIT */
/*
 * trace_file - the .trace file of this process, chunk by chunk
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "trace_file.h"
#include "now.h"
#include "say.h"
#include "state.h"
#include "turns.h"
#include "src/store/outdir.h"
#include "src/store/store.h"
#include "src/trace/trace_format.h"

enum {
	LEVEL = 1,
	ROOM = TRACE_CHUNK_BYTES + (TRACE_CHUNK_BYTES >> 8) + 64, /* zstd's */
	ENDED_BYTES = 2 * TRACE_NUMBER_BYTES,
	ENDED_MAX = TRACE_CHUNK_BYTES / ENDED_BYTES - 1,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;
static unsigned char ended[TRACE_CHUNK_BYTES]; /* content of the last chunk */
static uint32_t ended_bytes, ended_threads;

static void give_up(int error)
{
	if (!emu.config.pipe || error != EPIPE) /* else it has said why */
		emu_say("the trace is cut short: %s", strerror(error));
	close(fd);
	fd = -1;
}

static void write_vector(struct iovec *v, int n)
{
	while (n && fd >= 0) {
		ssize_t done = writev(fd, v, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			give_up(done < 0 ? errno : EIO);
			return;
		}
		for (; n && (size_t)done >= v->iov_len; v++, n--)
			done -= (ssize_t)v->iov_len;
		if (n) {
			v->iov_base = (char *)v->iov_base + done;
			v->iov_len -= (size_t)done;
		}
	}
}

/* Without a reader a pipe gives an error, and no signal to the program. */
static void write_pipe(struct iovec *v, int n)
{
	static const struct timespec none;
	sigset_t broken, before;

	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &broken, &before);
	atomic_fetch_add(&emu_turns.writing, 1);
	write_vector(v, n);
	atomic_fetch_sub(&emu_turns.writing, 1);
	if (fd < 0 && !sigismember(&before, SIGPIPE))
		sigtimedwait(&broken, NULL, &none);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void write_all(struct iovec *v, int n)
{
	if (fd < 0)
		return;
	if (emu.config.pipe)
		write_pipe(v, n);
	else
		write_vector(v, n);
}

/*
 * Compress @data to @to; returns how many bytes, or 0 if that is no gain. Call
 * with the lock.
 */
static uint32_t compress(const unsigned char *data, uint32_t bytes,
			 unsigned char *to)
{
#ifdef HAVE_ZSTD
	/* With a new context its memory would be cleared for each chunk. */
	static ZSTD_CCtx *context;
	size_t n;

	if (!context)
		context = ZSTD_createCCtx();
	if (!context)
		return 0;
	n = ZSTD_compressCCtx(context, to, ROOM, data, bytes, LEVEL);
	return ZSTD_isError(n) || n >= bytes ? 0 : (uint32_t)n;
#else
	return 0;
#endif
}

/* Call with the lock. */
static void write_chunk(struct trace_chunk chunk, const unsigned char *data)
{
	static unsigned char packed[ROOM];
	uint32_t n;

	if (fd < 0)
		return;
	n = compress(data, chunk.bytes, packed);
	chunk.magic = TRACE_CHUNK_MAGIC;
	chunk.stored = n ? n : chunk.bytes;
	chunk.check = trace_check(n ? packed : data, chunk.stored);
	write_all(
		(struct iovec[]){ { &chunk, sizeof(chunk) },
				  { n ? packed : (void *)data, chunk.stored } },
		2);
}

static void write_locked(struct trace_chunk chunk, const unsigned char *data)
{
	pthread_mutex_lock(&lock);
	write_chunk(chunk, data);
	pthread_mutex_unlock(&lock);
}

void emu_trace_file_blocks(const unsigned char *data, uint32_t bytes)
{
	write_locked(
		(struct trace_chunk){ .kind = TRACE_BLOCKS, .bytes = bytes },
		data);
}

void emu_trace_file_thread(uint32_t thread, const unsigned char *data,
			   uint32_t bytes, uint64_t instructions)
{
	write_locked((struct trace_chunk){ .kind = TRACE_THREAD,
					   .thread = thread,
					   .bytes = bytes,
					   .instructions = instructions },
		     data);
}

void emu_trace_file_ended(uint32_t thread, uint64_t instructions)
{
	pthread_mutex_lock(&lock);
	if (ended_threads < ENDED_MAX) {
		unsigned char *to = ended + ended_bytes;

		to = trace_put(trace_put(to, thread), instructions);
		ended_bytes = (uint32_t)(to - ended);
		ended_threads++;
	}
	pthread_mutex_unlock(&lock);
}

void emu_trace_file_finish(void)
{
	pthread_mutex_lock(&lock);
	if (fd >= 0) {
		write_chunk((struct trace_chunk){ .kind = TRACE_END,
						  .bytes = ended_bytes },
			    ended);
		close(fd);
	}
	fd = -1;
	ended_bytes = ended_threads = 0;
	pthread_mutex_unlock(&lock);
}

void emu_trace_file_forget(void)
{
	pthread_mutex_init(&lock, NULL);
	if (fd >= 0)
		close(fd);
	fd = -1;
	ended_bytes = ended_threads = 0;
}

static int open_pipe(void)
{
	fd = open(emu.config.pipe, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : 0;
}

static int create(void)
{
	char name[sizeof(emu.file) + sizeof(OUTDIR_TRACE)];
	int dir = outdir_open(emu.out, NULL), err = 0;

	if (dir < 0)
		return dir;
	snprintf(name, sizeof(name), "%.*s%s",
		 (int)(strlen(emu.file) - strlen(".cdp")), emu.file,
		 OUTDIR_TRACE);
	fd = openat(dir, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW |
			    O_APPEND,
		    0600);
	if (fd < 0)
		err = -errno;
	close(dir);
	return err;
}

int emu_trace_file_open(void)
{
	struct trace_header h = {
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.header_bytes = sizeof(h),
		.pid = (uint64_t)emu.pid,
		.start_real = emu_now_ns(CLOCK_REALTIME),
	};
	int err = emu.config.pipe ? open_pipe() : create();

	if (err)
		return err;
	fd = store_move_high(fd);
	write_all((struct iovec[]){ { &h, sizeof(h) } }, 1);
	return fd < 0 ? -EIO : 0;
}
