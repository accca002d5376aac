/* SPDX-License-Identifier: MIT */
/*
 * test_jit_files - which perf maps and jitdumps are believed and kept
 *
 * The profile is of this process, whose map /tmp/perf-PID.map each test writes.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"
#include "src/store/host.h"

#define CODE UINT64_C(0x7f1000000000)
#define DATA UINT64_C(0x7f2000000000)

static struct fake fake;
static char map_path[64];

static void setup(void)
{
	sandbox_setup();
	snprintf(map_path, sizeof(map_path), "/tmp/perf-%d.map", getpid());
	unlink(map_path);
}

static void teardown(void)
{
	unlink(map_path);
	sandbox_teardown();
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static void write_map(void)
{
	char text[64];

	snprintf(text, sizeof(text), "%llx 100 LShare;::work\n",
		 (unsigned long long)CODE);
	write_file(map_path, text);
}

/* A profile of a process that ended now, after two seconds. */
static struct cdp_header *begin_profile(void)
{
	struct cdp_header *h = fake_begin(&fake);
	struct timespec now;

	h->pid = getpid();
	clock_gettime(CLOCK_REALTIME, &now);
	h->start_real = (now.tv_sec - 2) * UINT64_C(1000000000);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_map(&fake, CODE, CODE + 0x1000, 0, PROT_READ | PROT_EXEC, "");
	for (int i = 0; i < 2; i++) {
		struct cdp_pair *p =
			fake_pair(&fake, 0, 1, DATA + 64 * i, DATA + 64 * i, 5);

		p->publisher_ip = p->detector_ip = CODE + 0x10 + i;
	}
	return h;
}

static bool is_named(void)
{
	json_t *j = report_of(fake.dir);
	json_t *name =
		json_object_get(at(j, "communication.sites.0"), "function");
	bool named = name && !strcmp(json_string_value(name), "LShare;::work");

	json_decref(j);
	return named;
}

static bool saved(const char *end)
{
	char name[64];

	snprintf(name, sizeof(name), "out/fake.4242.1%s", end);
	return !faccessat(sandbox_fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

START_TEST(code_of_a_jit_compiler_has_the_name_that_it_gave)
{
	struct verb v;

	write_map();
	begin_profile();
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ASSERT_SAYS(v.out, "LShare;::work");
	ck_assert(!verb_says(v.out, "anonymous code"));
	/* Two instructions of one function are one place. */
	ASSERT_SAYS(v.out, "written at LShare;::work.");
	verb_free(&v);
	ck_assert(is_named());
}
END_TEST

START_TEST(the_report_keeps_a_copy_that_outlives_the_map)
{
	write_map();
	begin_profile();
	fake_end(&fake);
	ck_assert(!saved(".jitmap"));
	ck_assert(is_named());
	ck_assert(saved(".jitmap"));
	ck_assert_int_eq(unlink(map_path), 0);
	ck_assert(is_named());
}
END_TEST

START_TEST(without_names_nothing_is_claimed)
{
	struct verb v;

	begin_profile();
	fake_end(&fake);
	ck_assert(!is_named());
	write_map();
	v = VERB(cmd_report, "report", "--no-symbols", fake.dir);
	ck_assert(!verb_says(v.out, "LShare"));
	ASSERT_SAYS(v.out, "[anonymous code]+0x7f1000000010");
	verb_free(&v);
}
END_TEST

START_TEST(code_that_its_compiler_did_not_name_is_said_to_be_a_jit_compilers)
{
	struct verb v;
	json_t *j;

	begin_profile();
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "communication.sites.0.function"), "[JIT]");
	json_decref(j);
	v = VERB(cmd_report, "report", fake.dir);
	ASSERT_SAYS(v.out, "[JIT] is code that a JIT compiler made");
	verb_free(&v);
}
END_TEST

/*
 * Root watched a process of user 12345, in another pid and mount namespace, and
 * left it running. Its map is neither in our /tmp nor named by our number.
 */
static void be_in_a_container(int ready, int stop)
{
	char byte;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID))
		_exit(77);
	if (fork()) { /* the child is number 1 there */
		wait(NULL);
		_exit(0);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL))
		_exit(77);
	snprintf(map_path, sizeof(map_path), "/tmp/perf-1.map");
	write_map();
	if (chown(map_path, 12345, 12345) || setresuid(12345, 12345, 12345))
		_exit(77);
	prctl(PR_SET_DUMPABLE, 1);
	if (write(ready, "r", 1) == 1 && read(stop, &byte, 1) >= 0)
		_exit(0);
}

static int child_of(int pid)
{
	char path[64];
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f)
		fclose(f);
	return child;
}

START_TEST(a_live_process_is_asked_in_its_own_namespaces)
{
	struct cdp_header *h = begin_profile();
	int ready[2], stop[2], outer;
	char byte;

	ck_assert_int_eq(pipe(ready) + pipe(stop), 0);
	outer = fork();
	if (!outer) {
		close(ready[0]);
		close(stop[1]);
		be_in_a_container(ready[1], stop[0]);
	}
	close(ready[1]);
	close(stop[0]);
	if (read(ready[0], &byte, 1) == 1) { /* else we may not unshare */
		host_describe(h, child_of(outer));
		h->pid = child_of(outer);
		h->state = CDP_STOPPED;
		fake_end(&fake);
		ck_assert(is_named());
		ck_assert(saved(".jitmap"));
	}
	close(stop[1]);
	close(ready[0]);
	waitpid(outer, NULL, 0);
}
END_TEST

static void change_time(int64_t seconds)
{
	struct timespec t[2];

	clock_gettime(CLOCK_REALTIME, &t[0]);
	t[0].tv_sec += seconds;
	t[1] = t[0];
	ck_assert_int_eq(utimensat(AT_FDCWD, map_path, t, 0), 0);
}

/* Its pid may be that of an earlier or a later process. */
START_TEST(a_map_from_before_or_after_the_process_is_not_believed)
{
	write_map();
	begin_profile();
	fake_end(&fake);
	change_time(_i ? 3600 : -60);
	ck_assert(!is_named());
	ck_assert(!saved(".jitmap"));
	change_time(0);
	ck_assert(is_named());
}
END_TEST

/* Others may write into /tmp. */
START_TEST(only_a_regular_file_of_the_user_is_believed)
{
	char target[128];

	begin_profile();
	fake_end(&fake);
	switch (_i) {
	case 0:
		write_map();
		snprintf(target, sizeof(target), "%s/map", sandbox);
		ck_assert_int_eq(rename(map_path, target), 0);
		ck_assert_int_eq(symlink(target, map_path), 0);
		break;
	case 1:
		ck_assert_int_eq(mkfifo(map_path, 0600), 0);
		break;
	case 2:
		ck_assert_int_eq(mkdir(map_path, 0700), 0);
		break;
	case 3:
		write_map();
		if (chown(map_path, 12345, 12345)) /* root alone may */
			return;
		break;
	}
	ck_assert(!is_named());
	ck_assert(!saved(".jitmap"));
	if (_i == 2)
		ck_assert_int_eq(rmdir(map_path), 0);
}
END_TEST

/* A jitdump with one function, as its compiler would write it. */
static void write_dump(const char *path)
{
	static const uint32_t header[10] = { 0x4a695444, 1, 40, 62 };
	static const char name[] = "dumped";
	uint64_t load[7] = { 0, 0, 0, CODE, CODE, 0x100, 1 };
	uint32_t prefix[2] = { 0, sizeof(load) + sizeof(name) };
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	memcpy(load, prefix, sizeof(prefix));
	fwrite(header, sizeof(header), 1, f);
	fwrite(load, sizeof(load), 1, f);
	fwrite(name, sizeof(name), 1, f);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(a_jitdump_is_found_by_its_mapping)
{
	char path[128];
	json_t *j;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", sandbox, getpid());
	write_dump(path);
	begin_profile();
	fake_map(&fake, CODE + 0x100000, CODE + 0x101000, 0,
		 PROT_READ | PROT_EXEC, path);
	fake_end(&fake);
	for (int i = 0; i < 2; i++) {
		j = report_of(fake.dir);
		ck_assert_str_eq(text_at(j, "communication.sites.0.function"),
				 "dumped");
		json_decref(j);
		ck_assert(saved(".jitdump"));
		unlink(path);
	}
}
END_TEST

START_TEST(a_name_may_hold_anything)
{
	char text[128];
	struct verb v;

	snprintf(text, sizeof(text), "%llx 100 \033[31m\xff\xfe%%s\t\n",
		 (unsigned long long)CODE);
	write_file(map_path, text);
	begin_profile();
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "\\x1b[31m\\xff\\xfe%s\\x09");
	verb_free(&v);
	json_decref(report_of(fake.dir));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("jit_files");
	TCase *t = tcase_create("jit_files");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, code_of_a_jit_compiler_has_the_name_that_it_gave);
	tcase_add_test(t, the_report_keeps_a_copy_that_outlives_the_map);
	tcase_add_test(t, without_names_nothing_is_claimed);
	tcase_add_test(
		t,
		code_that_its_compiler_did_not_name_is_said_to_be_a_jit_compilers);
	tcase_add_test(t, a_live_process_is_asked_in_its_own_namespaces);
	tcase_add_loop_test(
		t, a_map_from_before_or_after_the_process_is_not_believed, 0,
		2);
	tcase_add_loop_test(t, only_a_regular_file_of_the_user_is_believed, 0,
			    4);
	tcase_add_test(t, a_jitdump_is_found_by_its_mapping);
	tcase_add_test(t, a_name_may_hold_anything);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
