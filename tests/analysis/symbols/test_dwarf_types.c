/* SPDX-License-Identifier: MIT */
/*
 * test_dwarf_types - members of this program's own variables, and damaged DWARF
 *
 * The oracle is the compiler: offsetof and sizeof.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/base/util.h"
#include "analysis/symbols/module.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

struct inner {
	char tag;
	long value[3];
};
typedef struct {
	short first;
	struct inner inner[2][3];
	union {
		int number;
		float real;
	};
	struct outer *self;
} outer_t;

outer_t outers[4];
long lonely;

extern const char __executable_start[];

static uint64_t place_of(const void *variable)
{
	return (uintptr_t)variable - (uintptr_t)__executable_start;
}

static struct module *own_module(void)
{
	struct module *m = module_open("/proc/self/exe", NULL, 0);

	ck_assert_int_eq(module_state(m), MODULE_GOOD);
	return m;
}

static void check_part(const void *at, const char *path, size_t size)
{
	struct module *m = own_module();
	struct data_variable v;
	struct data_part part;
	uint64_t offset;

	ck_assert(module_data(m, place_of(at), &v));
	offset = place_of(at) - v.start;
	ck_assert(module_part(m, v.type, offset, &part));
	ck_assert_str_eq(part.path, path);
	ck_assert_uint_eq(part.size, size);
	ck_assert_uint_le(part.start, offset);
	ck_assert_uint_lt(offset, part.start + part.size);
	free(part.path);
	module_close(m);
}

START_TEST(a_byte_of_a_variable_is_in_the_member_that_the_compiler_put_there)
{
	check_part(&outers[3].first, "[3].first", sizeof(short));
	check_part(&outers[1].inner[1][2].value[1], "[1].inner[1][2].value[1]",
		   sizeof(long));
	check_part((char *)&outers[2].inner[0][1].value[2] + 5,
		   "[2].inner[0][1].value[2]", sizeof(long));
	check_part(&outers[0].number, "[0].number", sizeof(int));
	check_part(&outers[0].self, "[0].self", sizeof(void *));
	check_part(&lonely, "", sizeof(long));
}
END_TEST

START_TEST(padding_is_no_member)
{
	struct module *m = own_module();
	struct data_variable v;
	struct data_part part;

	ck_assert(module_data(m, place_of(outers), &v));
	ck_assert_str_eq(v.name, "outers");
	ck_assert_uint_eq(v.size, sizeof(outers));
	ck_assert(!module_part(m, v.type,
			       offsetof(outer_t, inner) +
				       offsetof(struct inner, tag) + 1,
			       &part));
	ck_assert(!module_part(m, v.type, sizeof(outers), &part));
	module_close(m);
}
END_TEST

START_TEST(an_object_holds_its_members_and_no_others)
{
	struct module *m = own_module();
	struct data_variable v;
	struct data_part part;
	size_t at = sizeof(outer_t) + offsetof(outer_t, inner) +
		    2 * sizeof(struct inner);

	ck_assert(module_data(m, place_of(outers), &v));
	/* The type of the member, by way of one of its own members. */
	ck_assert(module_part(m, v.type, at, &part));
	ck_assert(module_holds(m, v.type, at, part.type));
	ck_assert(!module_holds(m, v.type, at + 1, part.type));
	ck_assert(!module_holds(m, part.type, 0, v.type));
	free(part.path);
	module_close(m);
}
END_TEST

/* ---- damaged files ------------------------------------------------------ */

enum {
	DAMAGED = 150,
	FLIPS = 12,
};

/* The file offsets of the sections whose name begins with .debug_ or .eh_. */
static size_t debug_sections(const uint8_t *file, uint64_t at[64],
			     uint64_t bytes[64])
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)file;
	const Elf64_Shdr *s = (const Elf64_Shdr *)(file + e->e_shoff);
	const char *names = (const char *)file + s[e->e_shstrndx].sh_offset;
	size_t n = 0;

	for (int i = 0; i < e->e_shnum && n < 64; i++)
		if (!strncmp(names + s[i].sh_name, ".debug_", 7) &&
		    s[i].sh_size) {
			at[n] = s[i].sh_offset;
			bytes[n++] = s[i].sh_size;
		}
	return n;
}

static void ask_everything(const char *path)
{
	struct module *m = module_open(path, NULL, 0);
	struct typed_place place;
	struct data_variable v;
	struct data_part part;

	for (uint64_t at = 0x1000; at < 0x1400; at++)
		if (module_access(m, at, &place) &&
		    module_part(m, place.type, (uint64_t)place.offset % 512,
				&part))
			free(part.path);
	for (uint64_t at = 0x4000; at < 0x4200; at += 3)
		if (module_data(m, at, &v) &&
		    module_part(m, v.type, at - v.start, &part)) {
			ck_assert_uint_ge(part.size, 0);
			free(part.path);
		}
	module_close(m);
}

static uint8_t *load(const char *path, size_t *n)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	uint8_t *file;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	*n = (size_t)st.st_size;
	file = xcalloc(1, *n);
	ck_assert_int_eq(read(fd, file, *n), (ssize_t)*n);
	close(fd);
	return file;
}

START_TEST(damaged_debug_information_ends_and_harms_nothing)
{
	static const char *const builds[] = { "cc -g -O2 -o p %s",
					      "cc -g -O2 -gdwarf-4 -o p %s",
					      "c++ -g -O1 -o p %s" };
	static const char *const sources[] = { "parts.c", "parts.c",
					       "parts.cc" };
	char source[600], command[1600], path[256];
	uint64_t at[64], bytes[64];
	struct rng rng;
	size_t n, sections;
	uint8_t *file;

	/* Tests run at the top of the project. */
	snprintf(source, sizeof(source), "tests/programs/names/%s",
		 sources[_i]);
	snprintf(path, sizeof(path), "%s/p", sandbox);
	n = (size_t)snprintf(command, sizeof(command), "S=$(realpath '%s') && ",
			     source);
	n += (size_t)snprintf(command + n, sizeof(command) - n, "cd %s && ",
			      sandbox);
	snprintf(command + n, sizeof(command) - n, builds[_i], "\"$S\"");
	ck_assert_int_eq(system(command), 0);
	file = load(path, &n);
	sections = debug_sections(file, at, bytes);
	ck_assert_uint_ge(sections, 3);
	rng_seed(&rng, 41, (uint64_t)_i);
	for (int k = 0; k < DAMAGED; k++) {
		uint8_t *bad = xcalloc(1, n);
		FILE *out;

		memcpy(bad, file, n);
		for (int f = 0; f < FLIPS; f++) {
			size_t s = rng_below(&rng, sections);

			bad[at[s] + rng_below(&rng, bytes[s])] =
				(uint8_t)rng_next(&rng);
		}
		snprintf(path, sizeof(path), "%s/bad", sandbox);
		out = fopen(path, "w");
		ck_assert_ptr_nonnull(out);
		ck_assert_uint_eq(fwrite(bad, 1, n, out), n);
		fclose(out);
		free(bad);
		ask_everything(path);
	}
	free(file);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dwarf_types");
	TCase *t = tcase_create("dwarf_types");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 900);
	tcase_add_test(
		t,
		a_byte_of_a_variable_is_in_the_member_that_the_compiler_put_there);
	tcase_add_test(t, padding_is_no_member);
	tcase_add_test(t, an_object_holds_its_members_and_no_others);
	tcase_add_loop_test(t, damaged_debug_information_ends_and_harms_nothing,
			    0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
