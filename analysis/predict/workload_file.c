/* SPDX-License-Identifier: MIT */
/*
 * workload_file - profiles as .profile files
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "workload_codec.h"
#include "workload_file.h"
#include "analysis/base/util.h"
#include "src/base/regular_file.h"

enum {
	ZSTD_LEVEL = 6,
	ZSTD_LEVEL_QUICK = 3,   /* half the time, a fifth more bytes */
	PACKED_BYTES = 1 << 16, /* at least so much room for more */
};

static int fail(char *error, const char *why)
{
	snprintf(error, WORKLOAD_ERROR_BYTES, "%s", why);
	return -EINVAL;
}

/* Content as it is in the file, compressed or not. */
struct packer {
#ifdef HAVE_ZSTD
	ZSTD_CCtx *zstd; /* NULL: it is not compressed */
#endif
	unsigned char *bytes;
	size_t n, room;
	bool failed;
};

#ifdef HAVE_ZSTD
static void make_room(struct packer *p)
{
	if (p->room - p->n >= PACKED_BYTES)
		return;
	p->room = 2 * p->room + PACKED_BYTES;
	p->bytes = realloc(p->bytes, p->room);
	if (!p->bytes)
		die("no memory for a profile: %zu bytes", p->room);
}

static void pack(struct packer *p, const unsigned char *bytes, size_t n,
		 ZSTD_EndDirective then)
{
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out;

		make_room(p);
		out = (ZSTD_outBuffer){ p->bytes + p->n, p->room - p->n, 0 };
		left = ZSTD_compressStream2(p->zstd, &out, &in, then);
		p->n += out.pos;
		p->failed |= ZSTD_isError(left);
	} while (!p->failed &&
		 (in.pos < in.size || (then == ZSTD_e_end && left)));
}

static void take(void *data, const unsigned char *bytes, size_t n)
{
	pack(data, bytes, n, ZSTD_e_continue);
}
#endif

/*
 * Pack the profile where that makes it smaller, piece by piece: the content may
 * be a hundred times as large. Returns how many bytes it has.
 */
static uint64_t pack_all(struct packer *p, struct workload *w)
{
	struct workload_codec c = { .version = WORKLOAD_VERSION };

#ifdef HAVE_ZSTD
	p->zstd = ZSTD_createCCtx();
	if (p->zstd) {
		ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel,
				       w->quick ? ZSTD_LEVEL_QUICK
						: ZSTD_LEVEL);
		c.take = take;
		c.data = p;
		workload_codec_run(&c, w);
		pack(p, c.bytes, c.n, ZSTD_e_end);
		ZSTD_freeCCtx(p->zstd);
		free(c.bytes);
		if (!p->failed && p->n < c.taken + c.n)
			return c.taken + c.n;
		free(p->bytes);
		c = (struct workload_codec){ .version = WORKLOAD_VERSION };
	}
#endif
	workload_codec_run(&c, w);
	p->bytes = c.bytes;
	p->n = c.n;
	return c.n;
}

/* Write a new file; an errno, and then no file is left. */
static int write_new(const char *path, const struct workload_header *h,
		     const void *content)
{
	int fd =
		open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		     0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool good;
	int err;

	if (!f)
		return errno;
	good = fwrite(h, sizeof(*h), 1, f) == 1 &&
	       fwrite(content, 1, h->stored, f) == h->stored && !fflush(f);
	err = errno;
	if (fclose(f) && good) {
		err = errno;
		good = false;
	}
	if (good)
		return 0;
	unlink(path);
	return err;
}

int workload_file_write(const struct workload *w, const char *path,
			char error[WORKLOAD_ERROR_BYTES])
{
	struct workload_header h = { .magic = WORKLOAD_MAGIC,
				     .version = WORKLOAD_VERSION,
				     .header_bytes = sizeof(h),
				     .flags = w->quick ? WORKLOAD_QUICK : 0 };
	struct workload copy = *w; /* what is written is not changed */
	struct packer p = { .n = 0 };
	int err;

	h.bytes = pack_all(&p, &copy);
	h.stored = p.n;
	if (h.bytes > WORKLOAD_BYTES_MAX) {
		free(p.bytes);
		return fail(error, "the profile is too large to be read again; "
				   "record a shorter part with --roi");
	}
	h.check = trace_check(p.bytes, (uint32_t)h.stored);
	err = write_new(path, &h, p.bytes);
	if (err)
		snprintf(error, WORKLOAD_ERROR_BYTES, "%s", strerror(err));
	free(p.bytes);
	return -err;
}

static bool read_all(int fd, void *to, size_t bytes)
{
	char *at = to;

	while (bytes) {
		ssize_t n = read(fd, at, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		bytes -= (size_t)n;
	}
	return true;
}

static const char *wrong_with(const struct workload_header *h, int fd)
{
	struct stat st;

	if (memcmp(h->magic, WORKLOAD_MAGIC, sizeof(WORKLOAD_MAGIC)))
		return "not a profile: the first bytes are not CDPROFL";
	if (h->version < WORKLOAD_UNSHARED || h->version > WORKLOAD_VERSION ||
	    h->header_bytes != sizeof(*h))
		return "a profile of another version; record it with this "
		       "reusetrack";
	if (h->bytes > WORKLOAD_BYTES_MAX || h->stored > h->bytes)
		return "offset 16: an impossible length";
	if (fstat(fd, &st) || (uint64_t)st.st_size != sizeof(*h) + h->stored)
		return "the profile was cut short, or something follows it";
	return NULL;
}

/* Uncompress @from into @to; what is wrong, or NULL. */
static const char *unpack(const struct workload_header *h,
			  const unsigned char *from, unsigned char *to)
{
	if (trace_check(from, (uint32_t)h->stored) != h->check)
		return "offset 64: the check sum is wrong";
	if (h->stored == h->bytes) {
		memcpy(to, from, h->bytes);
		return NULL;
	}
#ifdef HAVE_ZSTD
	if (ZSTD_decompress(to, h->bytes, from, h->stored) != h->bytes)
		return "offset 64: the compressed bytes are damaged";
	return NULL;
#else
	return "it is compressed, and this build cannot read it: it was built "
	       "without libzstd";
#endif
}

static const char *read_content(struct workload *w,
				const struct workload_header *h, int fd)
{
	unsigned char *stored = xcalloc(1, h->stored + 1);
	struct workload_codec c = { .reads = true,
				    .version = h->version,
				    .n = h->bytes };

	c.bytes = xcalloc(1, c.n + 1);
	if (!read_all(fd, stored, h->stored))
		c.wrong = "it cannot be read";
	if (!c.wrong)
		c.wrong = unpack(h, stored, c.bytes);
	free(stored);
	if (!c.wrong)
		workload_codec_run(&c, w);
	free(c.bytes);
	return c.wrong;
}

int workload_file_read(struct workload *w, const char *path,
		       char error[WORKLOAD_ERROR_BYTES])
{
	int fd = regular_file_open(path);
	const char *wrong = NULL;
	struct workload_header h;

	memset(w, 0, sizeof(*w));
	if (fd < 0)
		return fail(error, regular_file_error(fd));
	if (!read_all(fd, &h, sizeof(h)))
		wrong = "too short for a profile";
	if (!wrong)
		wrong = wrong_with(&h, fd);
	if (!wrong)
		wrong = read_content(w, &h, fd);
	close(fd);
	if (!wrong && !w->threads)
		wrong = "it has no threads";
	w->quick = !wrong && h.flags & WORKLOAD_QUICK;
	if (!wrong)
		return 0;
	workload_release(w);
	return fail(error, wrong);
}

bool workload_file_is(const char *path)
{
	int fd = regular_file_open(path);
	char magic[sizeof(WORKLOAD_MAGIC)] = "";
	bool is = fd >= 0 && read_all(fd, magic, sizeof(magic)) &&
		  !memcmp(magic, WORKLOAD_MAGIC, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}
