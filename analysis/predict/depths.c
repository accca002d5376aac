/* SPDX-License-Identifier: MIT */
/*
 * depths - where a line is among those of its set, for each number of sets
 */
#include <immintrin.h>
#include <sys/mman.h>

#include "depths.h"
#include "analysis/base/util.h"
#include "src/base/zero_pages.h"

enum {
	LANES = 4, /* lines in a vector */
	VECTORS = DEPTH_WAYS / LANES,
	WIDE_LANES = 8, /* the same of AVX2 */
	FETCHED = 8,    /* the smaller numbers of sets stay in the caches */
};
_Static_assert(DEPTH_WAYS == 6 * LANES, "find_in looks at six vectors");
_Static_assert(DEPTH_WAYS == 3 * WIDE_LANES, "use_wide looks at three");

struct depths {
	/*
	 * The ids, set after set, from the fewest sets to the most. No vector
	 * crosses a cache line.
	 */
	__m128i line[((1 << DEPTH_SIZES) - 1) << DEPTH_SETS_MIN][VECTORS];
	bool wide;
};

struct depths *depths_new(bool narrow)
{
	struct depths *d = zero_pages(sizeof(*d));

	if (!d)
		die("no memory for a profile: %zu bytes", sizeof(*d));
	d->wide = !narrow && __builtin_cpu_supports("avx2");
	return d;
}

void depths_free(struct depths *d)
{
	if (d)
		munmap(d, sizeof(*d));
}

/* Where @id is in the set; DEPTH_WAYS: nowhere. */
static inline int find_in(const __m128i set[VECTORS], __m128i id)
{
	__m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(set[0], id),
				    _mm_cmpeq_epi32(set[1], id));
	__m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(set[2], id),
				    _mm_cmpeq_epi32(set[3], id));
	__m128i c = _mm_packs_epi32(_mm_cmpeq_epi32(set[4], id),
				    _mm_cmpeq_epi32(set[5], id));
	int low = _mm_movemask_epi8(_mm_packs_epi16(a, b));
	int high = _mm_movemask_epi8(_mm_packs_epi16(c, c)) & 0xff;

	return __builtin_ctz((unsigned)(low | high << 16 | 1 << DEPTH_WAYS));
}

/*
 * The same, and put it first, if it is in the first vector, as it mostly is;
 * LANES: it is not.
 */
static inline int use_early(__m128i set[VECTORS], __m128i id)
{
	__m128i old = set[0], found = _mm_cmpeq_epi32(old, id);
	int at = __builtin_ctz(
		(unsigned)_mm_movemask_ps(_mm_castsi128_ps(found)) |
		1 << LANES);
	__m128i stays =
		_mm_cmpgt_epi32(_mm_set_epi32(3, 2, 1, 0), _mm_set1_epi32(at));
	__m128i moved =
		_mm_or_si128(_mm_slli_si128(old, 4), _mm_srli_si128(id, 12));

	if (at < LANES)
		set[0] = _mm_or_si128(_mm_and_si128(stays, old),
				      _mm_andnot_si128(stays, moved));
	return at;
}

/* Put @id first; those before place @at, where it was, go one place on. */
static inline void put_first(__m128i set[VECTORS], __m128i id, int at)
{
	__m128i before = _mm_srli_si128(id, 12); /* the lane to shift in */
	__m128i lane = _mm_set_epi32(3, 2, 1, 0), end = _mm_set1_epi32(at);

	for (int i = 0; i < VECTORS; i++) {
		__m128i old = set[i];
		__m128i stays = _mm_cmpgt_epi32(lane, end);
		__m128i moved = _mm_or_si128(_mm_slli_si128(old, 4), before);

		set[i] = _mm_or_si128(_mm_and_si128(stays, old),
				      _mm_andnot_si128(stays, moved));
		before = _mm_srli_si128(old, 12);
		lane = _mm_add_epi32(lane, _mm_set1_epi32(LANES));
	}
}

/* The sets of one number of them. */
struct sets {
	__m128i (*set)[VECTORS];
	size_t n;
};

static inline struct sets first_sets(struct depths *d, int first)
{
	size_t n = (size_t)1 << (DEPTH_SETS_MIN + first);

	return (struct sets){ &d->line[n - (1 << DEPTH_SETS_MIN)], n };
}

static inline __m128i *set_of(struct sets s, uint64_t line)
{
	return s.set[line & (s.n - 1)];
}

static inline struct sets next_sets(struct sets s)
{
	return (struct sets){ s.set + s.n, 2 * s.n };
}

void depths_touch(struct depths *d, uint64_t line, int first)
{
	struct sets s = first_sets(d, first);

	for (int i = first; i < DEPTH_SIZES; i++, s = next_sets(s)) {
		char *set = (char *)set_of(s, line);
		char *end = set + sizeof(*s.set) - 1; /* in the next page? */

		/* It reads and writes, which is one fault. */
		__asm__ volatile("orb $0, %0" : "+m"(*set) : : "cc");
		__asm__ volatile("orb $0, %0" : "+m"(*end) : : "cc");
	}
}

void depths_fetch(struct depths *d, uint64_t line)
{
	struct sets s = first_sets(d, FETCHED);

	for (int i = FETCHED; i < DEPTH_SIZES; i++, s = next_sets(s)) {
		const __m128i *set = set_of(s, line);

		__builtin_prefetch(set, 1);
		__builtin_prefetch(&set[VECTORS - 1], 1);
	}
}

/* Find @id and put it first. */
static inline int use_in(__m128i set[VECTORS], __m128i id)
{
	int at = use_early(set, id);

	if (at == LANES) {
		at = find_in(set, id);
		put_first(set, id, at);
	}
	return at;
}

/* A bit for each lane of @old that has @id. */
static inline __attribute__((target("avx2"))) unsigned wide_found(__m256i old,
								  __m256i id)
{
	return (unsigned)_mm256_movemask_ps(
		_mm256_castsi256_ps(_mm256_cmpeq_epi32(old, id)));
}

/* Move the lanes of @old one on; the first becomes the last one of @before. */
static inline __attribute__((target("avx2"))) __m256i wide_move_all(
	__m256i old, __m256i before)
{
	__m256i turn = _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 7);

	return _mm256_blend_epi32(_mm256_permutevar8x32_epi32(old, turn),
				  _mm256_permutevar8x32_epi32(before, turn), 1);
}

/* The same, up to lane @at. */
static inline __attribute__((target("avx2"))) __m256i wide_move(__m256i old,
								__m256i before,
								int at)
{
	__m256i lane = _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0);
	__m256i stays = _mm256_cmpgt_epi32(lane, _mm256_set1_epi32(at));

	return _mm256_blendv_epi8(wide_move_all(old, before), old, stays);
}

/* The same as use_in, with AVX2. */
static inline __attribute__((target("avx2"))) int use_wide(__m128i set[VECTORS],
							   __m256i key)
{
	__m256i *to = (__m256i *)set;
	__m256i a = _mm256_load_si256(&to[0]), b, c;
	unsigned found = wide_found(a, key);
	int at;

	if (found) {
		at = __builtin_ctz(found);
		_mm256_store_si256(&to[0], wide_move(a, key, at));
		return at;
	}
	b = _mm256_load_si256(&to[1]);
	c = _mm256_load_si256(&to[2]);
	found = wide_found(b, key) << WIDE_LANES |
		wide_found(c, key) << 2 * WIDE_LANES | 1u << DEPTH_WAYS;
	at = __builtin_ctz(found);
	_mm256_store_si256(&to[0], wide_move_all(a, key));
	_mm256_store_si256(&to[1], wide_move(b, a, at - WIDE_LANES));
	_mm256_store_si256(&to[2], wide_move(c, b, at - 2 * WIDE_LANES));
	return at;
}

static inline bool is_first(const __m128i *set, uint32_t id)
{
	return (uint32_t)_mm_cvtsi128_si32(set[0]) == id;
}

/* depths_use of a line that is not the first in its set of @s. */
static __attribute__((target("avx2"))) int use_all_wide(struct sets s,
							uint64_t line,
							uint32_t id, int sizes,
							uint8_t *depth)
{
	__m256i key = _mm256_set1_epi32((int)id);
	__m128i *set = set_of(s, line);
	int n = 0;

	do {
		depth[n++] = (uint8_t)use_wide(set, key);
		if (n == sizes)
			break;
		s = next_sets(s);
		set = set_of(s, line);
	} while (!is_first(set, id));
	return n;
}

static int use_all(struct sets s, uint64_t line, uint32_t id, int sizes,
		   uint8_t *depth)
{
	__m128i key = _mm_set1_epi32((int)id);
	__m128i *set = set_of(s, line);
	int n = 0;

	do {
		depth[n++] = (uint8_t)use_in(set, key);
		if (n == sizes)
			break;
		s = next_sets(s);
		set = set_of(s, line);
	} while (!is_first(set, id));
	return n;
}

int depths_use(struct depths *d, uint64_t line, uint32_t id, int first,
	       uint8_t *depth)
{
	struct sets s = first_sets(d, first);

	if (is_first(set_of(s, line), id))
		return 0;
	return (d->wide ? use_all_wide : use_all)(s, line, id,
						  DEPTH_SIZES - first, depth);
}
