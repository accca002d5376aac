/* SPDX-License-Identifier: MIT */
/*
 * test_symbols - addresses of this program, named offline
 *
 * The oracle is the compiler: where a function or a variable is, and on which
 * line it was written.
 */
#include <sys/mman.h>

#include "analysis/profile/mapping.h"
#include "analysis/profile/profile.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

static struct fake fake;

/* External and not inlined, so that their symbols and lines are certain. */
uint64_t shared_counters[16] __attribute__((aligned(64)));
uint64_t initialised[8] __attribute__((aligned(64))) = { 1 };
int site_line;
void site_function(void);

__attribute__((noinline)) void site_function(void)
{
	/* The label and the store are on the line that site_line names. */
	site_line = __LINE__ + 1;
	__asm__ volatile(".globl store_here\nstore_here: incq %0"
			 : "+m"(shared_counters[3]));
}

extern const char store_here[];

extern const char __executable_start[];

/* One named byte, and space after it with a label but no size. */
__asm__(".pushsection .data\n"
	".balign 64\n"
	".globl lonely_byte\n.type lonely_byte, @object\n"
	".size lonely_byte, 1\nlonely_byte: .byte 1\n.zero 31\n"
	"label_without_size: .zero 96\n"
	".popsection");
extern char lonely_byte[];

static void begin_with_own_maps(void)
{
	site_function();
	fake_begin(&fake);
	fake_own_maps(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
}

static void pair_at(uint64_t addr)
{
	struct cdp_pair *p = fake_pair(&fake, 0, 1, addr, addr, 5);

	p->publisher_ip = p->detector_ip = (uintptr_t)store_here;
}

START_TEST(an_instruction_has_function_file_and_line)
{
	char place[64];
	json_t *j;

	begin_with_own_maps();
	pair_at((uintptr_t)&shared_counters[3]);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "communication.sites.0.function"),
			 "site_function");
	snprintf(place, sizeof(place), "test_symbols.c:%d", site_line);
	ck_assert_ptr_nonnull(
		strstr(text_at(j, "communication.sites.0.location"), place));
	ck_assert_uint_eq(
		strtoull(text_at(j, "communication.sites.0.offset"), NULL, 0),
		store_here - __executable_start);
	json_decref(j);
}
END_TEST

START_TEST(a_variable_in_bss_and_data_has_a_name_and_an_offset)
{
	static const struct {
		uint64_t *at;
		const char *text, *whole;
	} cases[] = {
		{ &shared_counters[0], "shared_counters", "shared_counters" },
		{ &shared_counters[3], "shared_counters+24",
		  "shared_counters" },
		{ &initialised[1], "initialised+8", "initialised" },
	};
	json_t *j;

	begin_with_own_maps();
	pair_at((uintptr_t)cases[_i].at);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "communication.lines.0.object"),
			 cases[_i].text);
	ck_assert_str_eq(text_at(j, "communication.objects.0.object"),
			 cases[_i].whole);
	ck_assert_str_eq(text_at(j, "communication.objects.0.kind"),
			 "static variable");
	json_decref(j);
}
END_TEST

START_TEST(what_lies_behind_a_variable_is_not_it)
{
	json_t *j;

	begin_with_own_maps();
	pair_at((uintptr_t)lonely_byte + 64);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "communication.objects.0.kind"),
			 "module data");
	json_decref(j);
}
END_TEST

START_TEST(heap_and_stack_are_named_as_such)
{
	volatile uint64_t on_stack = 0;
	void *brk = sbrk(4096);
	json_t *j;

	begin_with_own_maps();
	pair_at(_i ? (uintptr_t)&on_stack : (uintptr_t)brk);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "communication.objects.0.kind"),
			 _i ? "stack" : "heap");
	json_decref(j);
}
END_TEST

/* Give the recorded mappings of our own file the build-id @id. */
static void set_build_ids(const char *id)
{
	char *page = fake.store.map;

	for (uint64_t n = 1; n < fake.store.header->pages; n++) {
		struct cdp_page *head = (void *)(page + n * CDP_PAGE_BYTES);
		struct cdp_map *m = (void *)(head + 1);

		if (head->section != CDP_MAPS)
			continue;
		for (uint32_t i = 0; i < head->committed; i++) {
			memcpy(m[i].build_id, id, 20);
			m[i].build_id_bytes = 20;
		}
	}
}

/*
 * Memory from mmap right after a module's data looks in the maps like its
 * zero-filled end. The file's program headers tell the two apart.
 */
START_TEST(memory_behind_a_module_is_not_its_data)
{
	static char own[CDP_PATH_BYTES];
	json_t *j;

	ck_assert_int_gt(readlink("/proc/self/exe", own, sizeof(own) - 1), 0);
	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_begins_now(&fake);
	fake_map(&fake, 0x10000, 0x11000, 0, PROT_READ, own);
	fake_map(&fake, 0x11000, 0x12000, 0x1000, PROT_READ | PROT_EXEC, own);
	/* Far larger than this program's data. */
	fake_map(&fake, 0x10000000, 0x90000000, 0x2000, PROT_READ | PROT_WRITE,
		 own);
	pair_at(0x8fff0000);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "communication.objects.0.kind"),
			 "unnamed memory");
	json_decref(j);
}
END_TEST

START_TEST(a_file_that_changed_is_not_believed)
{
	struct verb v;
	json_t *j;

	begin_with_own_maps();
	set_build_ids("a build-id of another");
	pair_at((uintptr_t)&shared_counters[3]);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_ptr_null(
		json_object_get(at(j, "communication.sites.0"), "function"));
	ck_assert_ptr_null(
		json_object_get(at(j, "communication.sites.0"), "location"));
	ck_assert_ptr_nonnull(strstr(text_at(j, "communication.sites.0.module"),
				     "test_symbols"));
	ck_assert_ptr_nonnull(strstr(text_at(j, "problems.0"), "has changed"));
	json_decref(j);
	v = VERB(cmd_report, "report", fake.dir);
	ASSERT_SAYS(v.out, "has changed since it was profiled");
	ck_assert(!verb_says(v.out, "site_function"));
	verb_free(&v);
}
END_TEST

/* Own maps have no build-id, as those of a program that Go linked. */
START_TEST(a_file_that_was_written_later_is_not_believed)
{
	json_t *j;

	begin_with_own_maps();
	fake.store.header->start_real = UINT64_C(1700000000000000000);
	pair_at((uintptr_t)&shared_counters[3]);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_ptr_null(
		json_object_get(at(j, "communication.sites.0"), "location"));
	ck_assert_ptr_nonnull(
		strstr(text_at(j, "problems.0"), "has no build-id to compare"));
	json_decref(j);
}
END_TEST

/* The kernel says so of a file whose name is gone. */
START_TEST(a_file_deleted_while_the_program_ran_is_named_so)
{
	static const char *const said[] = {
		"it is not there any more",
		"without a build-id nothing tells whether",
		"the file there now is of another build",
	};
	char path[128], command[300];
	struct cdp_map *m;
	json_t *j;

	snprintf(path, sizeof(path), "%s/true (deleted)", sandbox);
	snprintf(command, sizeof(command), "cp /bin/true %s/true", sandbox);
	if (_i)
		ck_assert_int_eq(system(command), 0);
	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	m = fake_map(&fake, 0x10000, 0x20000, 0, 7, path);
	if (_i == 2)
		m->build_id_bytes = 20;
	fake_pair(&fake, 0, 1, 0x10040, 0x10040, 5)->publisher_ip = 0x12000;
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_ptr_nonnull(strstr(text_at(j, "problems.0"),
				     "true was deleted or replaced while the "
				     "program ran, and "));
	ck_assert_ptr_nonnull(strstr(text_at(j, "problems.0"), said[_i]));
	json_decref(j);
}
END_TEST

START_TEST(no_symbols_gives_module_and_offset)
{
	struct verb v;

	begin_with_own_maps();
	pair_at((uintptr_t)&shared_counters[3]);
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--no-symbols", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ck_assert(!verb_says(v.out, "site_function"));
	ASSERT_SAYS(v.out, "test_symbols+0x");
	verb_free(&v);
}
END_TEST

START_TEST(a_module_path_may_be_anything)
{
	static const char *const paths[] = { "/dev/zero",     "/proc/self/mem",
					     "/etc/passwd",   "/",
					     "/no/such/file", "/dev/tty" };
	struct verb v;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_map(&fake, 0x10000, 0x20000, 0, 7, paths[_i]);
	fake_pair(&fake, 0, 1, 0x10040, 0x10040, 5)->publisher_ip = 0x10100;
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "Names that are missing");
	verb_free(&v);
}
END_TEST

START_TEST(a_pipe_named_by_a_profile_is_not_waited_for)
{
	char path[128];
	struct verb v;

	snprintf(path, sizeof(path), "%s/pipe", sandbox);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_map(&fake, 0x10000, 0x20000, 0, 7, path);
	fake_pair(&fake, 0, 1, 0x10040, 0x10040, 5)->publisher_ip = 0x10100;
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "not a regular file");
	verb_free(&v);
}
END_TEST

/* A stripped program says where its debug information is. */
START_TEST(a_pipe_named_by_a_module_is_not_waited_for)
{
	char path[128], command[640];
	struct verb v;

	snprintf(command, sizeof(command),
		 "cd %s && echo 1 >debug && cp /bin/true p && "
		 "objcopy --remove-section .gnu_debuglink p && "
		 "objcopy --add-gnu-debuglink=debug p && rm debug && "
		 "mkfifo debug",
		 sandbox);
	ck_assert_int_eq(system(command), 0);
	snprintf(path, sizeof(path), "%s/p", sandbox);
	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_map(&fake, 0x10000, 0x20000, 0, 7, path);
	fake_pair(&fake, 0, 1, 0x10040, 0x10040, 5)->publisher_ip = 0x12000;
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "p+0x2000");
	verb_free(&v);
}
END_TEST

/*
 * The rule in one loop: the latest generation up to ours, else the first after.
 */
static const struct cdp_map *slow_lookup(const struct process *p, uint64_t addr,
					 uint64_t generation)
{
	const struct cdp_map *up_to = NULL, *after = NULL;

	for (size_t i = 0; i < p->maps; i++) {
		const struct cdp_map *m = &p->map[i];

		if (addr < m->start || addr >= m->end)
			continue;
		if (m->generation <= generation &&
		    (!up_to || m->generation > up_to->generation))
			up_to = m;
		if (m->generation > generation &&
		    (!after || m->generation < after->generation))
			after = m;
	}
	return up_to ? up_to : after;
}

START_TEST(a_later_mapping_hides_an_earlier_one)
{
	struct profile p;
	struct rng r;
	int found = 0;

	rng_seed(&r, 3, _i);
	fake_begin(&fake);
	for (uint64_t g = 1; g < 400; g++) {
		uint64_t start = rng_below(&r, 1000);

		fake_map(&fake, start, start + 1 + rng_below(&r, 60), 0, 5,
			 "/x")
			->generation = g;
	}
	fake_end(&fake);
	ck_assert_int_eq(profile_load(&p, fake.dir), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t addr = rng_below(&r, 1100);
		uint64_t generation = rng_below(&r, 450);
		const struct cdp_map *m =
			process_map(&p.process[0], addr, generation);

		ck_assert_ptr_eq(m,
				 slow_lookup(&p.process[0], addr, generation));
		found += m != NULL;
	}
	ck_assert_int_gt(found, 1000);
	profile_release(&p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *t = tcase_create("symbols");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, an_instruction_has_function_file_and_line);
	tcase_add_loop_test(
		t, a_variable_in_bss_and_data_has_a_name_and_an_offset, 0, 3);
	tcase_add_test(t, what_lies_behind_a_variable_is_not_it);
	tcase_add_loop_test(t, heap_and_stack_are_named_as_such, 0, 2);
	tcase_add_test(t, memory_behind_a_module_is_not_its_data);
	tcase_add_test(t, a_file_that_changed_is_not_believed);
	tcase_add_test(t, a_file_that_was_written_later_is_not_believed);
	tcase_add_loop_test(t, a_file_deleted_while_the_program_ran_is_named_so,
			    0, 3);
	tcase_add_test(t, no_symbols_gives_module_and_offset);
	tcase_add_test(t, a_pipe_named_by_a_module_is_not_waited_for);
	tcase_add_test(t, a_pipe_named_by_a_profile_is_not_waited_for);
	tcase_add_loop_test(t, a_module_path_may_be_anything, 0, 6);
	tcase_add_loop_test(t, a_later_mapping_hides_an_earlier_one, 0, 3);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
