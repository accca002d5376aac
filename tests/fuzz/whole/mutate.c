/* SPDX-License-Identifier: MIT */
/*
 * mutate - change bytes of a file, at random but the same for the same numbers
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

enum {
	ROOM_MORE = 65536, /* that one mutation may add */
};

/* Words that break arithmetic, lengths and comparisons; also as doubles. */
static const uint64_t words[] = {
	0,
	1,
	2,
	7,
	8,
	63,
	64,
	255,
	256,
	4095,
	4096,
	65535,
	65536,
	UINT32_MAX,
	1ull << 31,
	1ull << 32,
	1ull << 47,
	1ull << 48,
	1ull << 53,
	INT64_MAX,
	1ull << 63,
	UINT64_MAX,
	UINT64_MAX - 1,
	UINT64_MAX - 4095,
	0x7ff0000000000000, /* infinity */
	0x7ff8000000000000, /* not a number */
	0xbff0000000000000, /* -1 */
	0x7fefffffffffffff, /* the largest double */
	1,                  /* the smallest */
};

static const char *const texts[] = {
	"\033[31m",
	"\302\233",
	"\342\200\256",
	"\377",
	"%s%n",
	"/dev/zero",
	"/dev/tty",
	"/proc/self/mem",
	"../../etc/passwd",
	"\"}],",
	"\n",
	";",
	"-1",
	"99999999999999999999",
	"1e999",
	"nan",
	"core",
	"cache",
	"socket",
	" in ",
	"0-4294967295",
};

/* What the grammars of texts know; the last byte is 0. */
static const char letters[] = "0123456789 \t\n;#-.eLsock";

void input_read(struct input *in, const char *path)
{
	FILE *f = fopen(path, "re");

	if (!f)
		goto fail;
	*in = (struct input){ .room = ROOM_MORE };
	in->bytes = malloc(in->room);
	while (in->bytes && (in->n += fread(in->bytes + in->n, 1,
					    in->room - in->n, f)) == in->room) {
		in->room *= 2;
		in->bytes = realloc(in->bytes, in->room);
	}
	if (!in->bytes || ferror(f))
		goto fail;
	fclose(f);
	return;
fail:
	fprintf(stderr, "fuzz-whole: cannot read %s\n", path);
	exit(2);
}

void input_copy(struct input *to, const struct input *from)
{
	if (to->room < from->n + ROOM_MORE) {
		to->room = from->n + ROOM_MORE;
		to->bytes = realloc(to->bytes, to->room);
		if (!to->bytes)
			exit(2);
	}
	memcpy(to->bytes, from->bytes, from->n);
	to->n = from->n;
}

static size_t below(struct rng *rng, size_t n)
{
	return n ? rng_next(rng) % n : 0;
}

/* A place: anywhere, or near the start of a unit, where its header is. */
static size_t place(const struct input *in, size_t unit, struct rng *rng)
{
	size_t at;

	if (!unit || rng_next(rng) % 4 == 0)
		return below(rng, in->n);
	at = below(rng, in->n / unit + 1) * unit + below(rng, 512);
	return at < in->n ? at : below(rng, in->n);
}

static void put_word(struct input *in, size_t unit, struct rng *rng)
{
	static const size_t sizes[] = { 1, 2, 4, 8, 8, 8 };
	size_t size = sizes[below(rng, 6)];
	size_t at = place(in, unit, rng) / size * size;
	uint64_t word = words[below(rng, sizeof(words) / sizeof(words[0]))];

	if (rng_next(rng) % 4 == 0)
		word = rng_next(rng) >> below(rng, 64);
	if (at + size <= in->n)
		memcpy(in->bytes + at, &word, size);
}

static void put_text(struct input *in, size_t unit, struct rng *rng)
{
	const char *text = texts[below(rng, sizeof(texts) / sizeof(texts[0]))];
	size_t at = place(in, unit, rng), n = strlen(text);

	if (at + n <= in->n)
		memcpy(in->bytes + at, text, n);
}

/* Replace the bytes from @at on by @n others, and keep what follows. */
static void insert(struct input *in, size_t at, const unsigned char *bytes,
		   size_t n)
{
	if (in->n + n > in->room)
		return;
	memmove(in->bytes + at + n, in->bytes + at, in->n - at);
	memmove(in->bytes + at, bytes, n);
	in->n += n;
}

static void move_part(struct input *in, const struct input *other, size_t unit,
		      struct rng *rng)
{
	const struct input *from = rng_next(rng) % 2 ? other : in;
	size_t step = unit && rng_next(rng) % 2 ? unit : 1;
	size_t source = place(from, unit, rng) / step * step;
	size_t to = place(in, unit, rng) / step * step;
	size_t n = step > 1 ? step : 1 + below(rng, unit ? 256 : 16);

	if (source + n <= from->n && to + n <= in->n)
		memmove(in->bytes + to, from->bytes + source, n);
}

static void mutate_once(struct input *in, const struct input *other,
			size_t unit, struct rng *rng)
{
	size_t at = place(in, unit, rng), n;

	switch (rng_next(rng) % 16) {
	case 0:
	case 1:
	case 2:
		if (in->n)
			in->bytes[at] ^= 1u << below(rng, 8);
		break;
	case 3:
		if (in->n)
			in->bytes[at] = (unsigned char)rng_next(rng);
		break;
	case 4:
		put_text(in, unit, rng);
		break;
	case 5:
	case 6:
		move_part(in, other, unit, rng);
		break;
	case 7: /* cut the end, rarely, or a piece */
		if (rng_next(rng) % 4 == 0) {
			in->n = at;
			break;
		}
		n = below(rng, unit ? 64 : 16);
		if (at + n <= in->n) {
			memmove(in->bytes + at, in->bytes + at + n,
				in->n - at - n);
			in->n -= n;
		}
		break;
	case 8:
		n = below(rng, unit ? 64 : 16);
		if (at + n <= in->n)
			insert(in, at, in->bytes + at, n);
		break;
	case 9:
		n = below(rng, 256);
		if (at + n <= in->n)
			memset(in->bytes + at, rng_next(rng) % 2 ? 0 : 0xff, n);
		break;
	default:
		if (unit)
			put_word(in, unit, rng);
		else if (in->n)
			in->bytes[at] = letters[below(rng, sizeof(letters))];
	}
}

void input_mutate(struct input *in, const struct input *other, size_t unit,
		  struct rng *rng)
{
	int n = 1;

	/* A text with two changes is seldom one. */
	while (n < 8 && rng_next(rng) % (unit ? 2 : 4) == 0)
		n++;
	while (n--)
		mutate_once(in, other, unit, rng);
}
