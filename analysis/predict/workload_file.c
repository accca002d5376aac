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
	ZSTD_LEVEL = 6
};

static int fail(char *error, const char *why)
{
	snprintf(error, WORKLOAD_ERROR_BYTES, "%s", why);
	return -EINVAL;
}

/* Compress the content, where that makes it smaller. */
static void pack(struct workload_header *h, struct workload_codec *c)
{
#ifdef HAVE_ZSTD
	size_t room = ZSTD_compressBound(c->n);
	unsigned char *to = xcalloc(1, room);
	size_t n = ZSTD_compress(to, room, c->bytes, c->n, ZSTD_LEVEL);

	if (!ZSTD_isError(n) && n < c->n) {
		free(c->bytes);
		c->bytes = to;
		h->stored = n;
	} else {
		free(to);
	}
#endif
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
	struct workload_codec c = { .version = WORKLOAD_VERSION };
	struct workload copy = *w; /* what is written is not changed */
	int err;

	workload_codec_run(&c, &copy);
	if (c.n > WORKLOAD_BYTES_MAX) {
		free(c.bytes);
		return fail(error, "the profile is too large to be read again; "
				   "record a shorter part with --roi");
	}
	h.bytes = h.stored = c.n;
	pack(&h, &c);
	h.check = trace_check(c.bytes, (uint32_t)h.stored);
	err = write_new(path, &h, c.bytes);
	if (err)
		snprintf(error, WORKLOAD_ERROR_BYTES, "%s", strerror(err));
	free(c.bytes);
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
