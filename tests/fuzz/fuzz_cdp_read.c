/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cdp_read - bytes of a fuzzer as a .cdp file (make fuzz)
 *
 * The input is page 0 and what follows, put into a file in memory. So that
 * the fuzzer gets beyond the checks of the header, bit 0 of the input's length
 * chooses whether page 0 is first replaced by a good one.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/store/cdp_read.h"
#include "src/engine/reuse_histogram.h"
#include "src/store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int reuse_makes_sense(const struct cdp_reuse *r)
{
	if (r->kind != CDP_REUSE_CACHE)
		return r->bin < REUSE_BINS;
	return r->bin && cdp_cache_sets(r->end_ip) && cdp_cache_ways(r->end_ip);
}

/* Touch every byte, and believe what the reader vouches for. */
static int use(void *ctx, const void *record)
{
	enum cdp_section section = *(enum cdp_section *)ctx;
	const unsigned char *p = record;
	unsigned sum = 0;

	for (uint32_t i = 0; i < cdp_record_bytes(section); i++)
		sum += p[i];
	__asm__ volatile("" : : "r"(sum));
	if (section == CDP_THREADS &&
	    strlen(((const struct cdp_thread *)record)->name) > 15)
		abort();
	if (section == CDP_MAPS &&
	    strlen(((const struct cdp_map *)record)->path) > 255)
		abort();
	if (section == CDP_PAIRS &&
	    ((const struct cdp_pair *)record)->sharing >= SHARING_KINDS)
		abort();
	if (section == CDP_REUSE && !reuse_makes_sense(record))
		abort();
	return 0;
}

/* A header as the writer makes it. */
static const void *good_page(void)
{
	static char page[CDP_PAGE_BYTES];
	char dir[] = "/tmp/comdet-fuzz-XXXXXX";
	struct store s;
	int fd;

	if (page[0])
		return page;
	if (!mkdtemp(dir) || (fd = open(dir, O_RDONLY | O_DIRECTORY)) < 0 ||
	    store_create(&s, fd, "a.cdp", 1 << 20))
		abort();
	s.header->pages = 1 << 20;
	s.header->bytes = 0;
	memcpy(page, s.header, sizeof(page));
	store_release(&s);
	unlinkat(fd, "a.cdp", 0);
	close(fd);
	rmdir(dir);
	return page;
}

/* Not a memfd by its /proc name: the reader follows no link. */
static char path[] = "/dev/shm/comdet-fuzz-XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	enum cdp_section section;
	struct cdp_reader r;
	uint64_t at = 0;

	if (fd < 0) {
		fd = mkstemp(path);
		atexit(remove_file);
		if (fd < 0)
			abort();
	}
	if (ftruncate(fd, 0))
		abort();
	if (size & 1) {
		if (pwrite(fd, good_page(), CDP_PAGE_BYTES, 0) < 0)
			abort();
		at = CDP_PAGE_BYTES;
	}
	if (pwrite(fd, data, size, at) < 0)
		abort();
	/* The reader looks at whole pages. */
	if (at && ftruncate(fd, (at + size + CDP_PAGE_BYTES - 1) /
					CDP_PAGE_BYTES * CDP_PAGE_BYTES))
		abort();
	if (cdp_open(&r, AT_FDCWD, path))
		return 0;
	for (section = CDP_FREE; section <= CDP_SECTIONS; section++)
		cdp_each(&r, section, use, &section, NULL);
	cdp_close(&r);
	return 0;
}
