/* SPDX-License-Identifier: MIT */
/*
 * test_store - what the writing side promises, seen through the reading side
 *
 * Refusals come from the kernel: resource limits, seccomp, SIGKILL.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/sandbox.h"
#include "src/store/cdp_read.h"
#include "src/base/rng.h"
#include "src/store/store.h"
#include "tests/run_suite.h"

#define NAME "a.1.1.cdp"

static struct store store;

static void create(uint64_t max_bytes)
{
	ck_assert_int_eq(store_create(&store, sandbox_fd, NAME, max_bytes), 0);
}

static uint64_t file_pages(void)
{
	struct stat st;

	ck_assert_int_eq(fstatat(sandbox_fd, NAME, &st, 0), 0);
	return st.st_size / CDP_PAGE_BYTES;
}

static int count_record(void *ctx, const void *record)
{
	++*(uint64_t *)ctx;
	return 0;
}

static uint64_t records(enum cdp_section section)
{
	struct cdp_reader r;
	uint64_t n = 0, bad = 0;

	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, section, count_record, &n, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
	return n;
}

/* Pages until the store is full. */
static uint64_t take_pages(void)
{
	uint64_t n = 0;

	while (store_page(&store, CDP_PAIRS))
		n++;
	return n;
}

START_TEST(a_new_file_is_private_and_reads_as_running)
{
	struct cdp_reader r;
	struct stat st;

	umask(0777);
	create(1 << 20);
	ck_assert_int_eq(fstatat(sandbox_fd, NAME, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_uint_eq(r.header.state, CDP_RUNNING);
	ck_assert_uint_eq(r.header.pages, 1);
	ck_assert_uint_eq(r.pages, 0);
	ck_assert_str_eq(r.header.section[CDP_PAIRS - 1].name, "pairs");
	cdp_close(&r);
}
END_TEST

START_TEST(an_existing_name_is_left_alone)
{
	static const char text[] = "theirs";
	char back[sizeof(text)];
	int fd;

	if (_i) {
		ck_assert_int_eq(symlinkat("target", sandbox_fd, NAME), 0);
	} else {
		fd = openat(sandbox_fd, NAME, O_CREAT | O_WRONLY, 0600);
		ck_assert_int_eq(write(fd, text, sizeof(text)), sizeof(text));
		close(fd);
	}
	ck_assert_int_eq(store_create(&store, sandbox_fd, NAME, 1 << 20),
			 -EEXIST);
	if (_i) {
		ck_assert_int_eq(faccessat(sandbox_fd, "target", F_OK, 0), -1);
		return;
	}
	fd = openat(sandbox_fd, NAME, O_RDONLY);
	ck_assert_int_eq(read(fd, back, sizeof(back)), sizeof(back));
	ck_assert_str_eq(back, text);
	close(fd);
}
END_TEST

START_TEST(a_name_or_size_that_makes_no_file_is_refused)
{
	ck_assert_int_eq(store_create(&store, sandbox_fd, "a/b", 1 << 20),
			 -EINVAL);
	ck_assert_int_eq(store_create(&store, sandbox_fd, NAME, 8191), -EINVAL);
	ck_assert_int_eq(store_create(&store, sandbox_fd, NAME,
				      CDP_BYTES_MAX + CDP_PAGE_BYTES),
			 -EINVAL);
	ck_assert_int_eq(store_create(&store, sandbox_fd, "", 1 << 20),
			 -ENOENT);
}
END_TEST

START_TEST(a_record_is_seen_from_its_commit_on_and_not_before)
{
	struct store_writer w = { .section = CDP_PAIRS };
	struct cdp_pair *p;

	create(1 << 20);
	for (uint64_t n = 0; n < 100; n++) { /* four pages */
		p = store_record(&store, &w);
		ck_assert_ptr_nonnull(p);
		ck_assert_uint_eq(p->count, 0);
		p->count = 1;
		ck_assert_uint_eq(records(CDP_PAIRS), n);
		store_commit(&w);
		ck_assert_uint_eq(records(CDP_PAIRS), n + 1);
	}
	ck_assert_uint_eq(store.header->pages, 5);
}
END_TEST

START_TEST(the_limit_is_used_to_the_last_page_and_no_further)
{
	create(_i * CDP_PAGE_BYTES + 17);
	ck_assert_uint_eq(take_pages(), _i - 1);
	ck_assert_ptr_null(store_page(&store, CDP_MAPS));
	ck_assert_uint_eq(store.header->pages, _i);
	ck_assert_uint_eq(file_pages(), _i);
	ck_assert_uint_eq(store.header->bytes, _i * CDP_PAGE_BYTES);
}
END_TEST

START_TEST(no_section_no_page)
{
	create(1 << 20);
	ck_assert_ptr_null(store_page(&store, CDP_FREE));
	ck_assert_ptr_null(store_page(&store, CDP_SECTIONS));
	ck_assert_uint_eq(store.header->pages, 1);
}
END_TEST

static void limit(int resource, uint64_t value)
{
	struct rlimit lim;

	ck_assert_int_eq(getrlimit(resource, &lim), 0);
	lim.rlim_cur = value;
	ck_assert_int_eq(setrlimit(resource, &lim), 0);
}

/* SIGXFSZ would end the test. */
START_TEST(the_file_size_limit_is_used_up_without_a_signal)
{
	create(1 << 20);
	limit(RLIMIT_FSIZE, 100 * 1000);
	ck_assert_uint_eq(take_pages(), 100 * 1000 / CDP_PAGE_BYTES - 1);
	limit(RLIMIT_FSIZE, RLIM_INFINITY);
	ck_assert_uint_gt(take_pages(), 200);
	ck_assert_uint_eq(file_pages(), 256);
}
END_TEST

START_TEST(no_file_is_left_where_none_can_be_made)
{
	struct rlimit low = { _i ? 0 : 4095, RLIM_INFINITY };
	struct rlimit all;
	int err;

	/* Check writes files of its own at every assertion. */
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
	setrlimit(RLIMIT_FSIZE, &low);
	err = store_create(&store, sandbox_fd, NAME, 1 << 20);
	setrlimit(RLIMIT_FSIZE, &all);
	ck_assert_int_eq(err, -EFBIG);
	ck_assert_int_eq(faccessat(sandbox_fd, NAME, F_OK, 0), -1);
	ck_assert_int_eq(store.fd, -1);
}
END_TEST

START_TEST(a_full_disk_is_an_error_at_creation)
{
	deny_call(SYS_fallocate, ENOSPC);
	ck_assert_int_eq(store_create(&store, sandbox_fd, NAME, 1 << 20),
			 -ENOSPC);
	ck_assert_int_eq(faccessat(sandbox_fd, NAME, F_OK, 0), -1);
}
END_TEST

START_TEST(a_disk_that_fills_up_ends_the_pages_and_keeps_the_file)
{
	struct store_writer w = { .section = CDP_PAIRS };
	struct cdp_pair *p;
	uint64_t n = 0;

	create(1 << 20);
	deny_call(SYS_fallocate, ENOSPC);
	while ((p = store_record(&store, &w))) {
		p->count = 1;
		store_commit(&w);
		n++;
	}
	ck_assert_uint_eq(n, (STORE_FIRST_BYTES / CDP_PAGE_BYTES - 1) *
				     cdp_records_a_page(CDP_PAIRS));
	for (int i = 0; i < 100; i++)
		ck_assert_ptr_null(store_record(&store, &w));
	ck_assert_uint_eq(records(CDP_PAIRS), n);
	/* A page that is refused can be handed out later. */
	ck_assert_uint_eq(store.header->pages,
			  STORE_FIRST_BYTES / CDP_PAGE_BYTES);
}
END_TEST

/* A real one: 30 pages of tmpfs. Needs the right to mount. */
START_TEST(every_page_of_a_small_file_system_is_used_without_sigbus)
{
	uint64_t n = 0;
	struct cdp_page *page;
	int fd;

	if (mount("none", sandbox, "tmpfs", 0, "size=120k")) {
		fprintf(stderr, "skipped: no right to mount a small tmpfs\n");
		return;
	}
	fd = open(sandbox, O_RDONLY | O_DIRECTORY);
	ck_assert_int_eq(store_create(&store, fd, NAME, 1 << 20), 0);
	while ((page = store_page(&store, CDP_PAIRS))) {
		memset(page + 1, 1, CDP_PAGE_BYTES - sizeof(*page));
		n++;
	}
	close(fd);
	store_release(&store);
	umount2(sandbox, MNT_DETACH);
	ck_assert_uint_eq(n, 29);
}
END_TEST

/* Threads that take pages together. */
enum {
	TAKERS = 4,
	TAKES = 300
};

static void *take(void *arg)
{
	struct store_writer w = { .section = CDP_THREADS };

	for (uint32_t i = 0; i < TAKES; i++) {
		struct cdp_thread *t;

		w.page = NULL; /* a page each */
		t = store_record(&store, &w);
		ck_assert_ptr_nonnull(t);
		ck_assert_uint_eq(t->state, 0);
		t->id = (uintptr_t)arg * TAKES + i;
		t->state = CDP_THREAD_LIVE;
		store_commit(&w);
	}
	return NULL;
}

static int mark_seen(void *ctx, const void *record)
{
	uint32_t id = ((const struct cdp_thread *)record)->id;

	ck_assert_uint_lt(id, TAKERS * TAKES);
	((unsigned char *)ctx)[id]++;
	return 0;
}

/* Without fallocate, zeros must not overwrite records of other threads. */
START_TEST(racing_threads_get_a_page_each)
{
	static const int denied[] = { 0, EOPNOTSUPP, ENOSYS, EPERM };
	unsigned char seen[TAKERS * TAKES] = { 0 };
	pthread_t thread[TAKERS];
	struct cdp_reader r;
	uint64_t bad = 0;

	if (denied[_i])
		deny_call(SYS_fallocate, denied[_i]);
	create(STORE_MAX_BYTES_DEFAULT);
	for (uintptr_t i = 0; i < TAKERS; i++)
		pthread_create(&thread[i], NULL, take, (void *)i);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_uint_eq(store.header->pages, TAKERS * TAKES + 1);
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_THREADS, mark_seen, seen, &bad), 0);
	cdp_close(&r);
	ck_assert_uint_eq(bad, 0);
	for (int i = 0; i < TAKERS * TAKES; i++)
		ck_assert_uint_eq(seen[i], 1);
}
END_TEST

/* Pages above the limit are given back even if threads race for them. */
static void *take_all(void *arg)
{
	*(uint64_t *)arg = take_pages();
	return NULL;
}

START_TEST(racing_threads_share_out_a_small_store_completely)
{
	uint64_t got[TAKERS], sum = 0;
	pthread_t thread[TAKERS];

	create(500 * CDP_PAGE_BYTES);
	for (int i = 0; i < TAKERS; i++)
		pthread_create(&thread[i], NULL, take_all, &got[i]);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < TAKERS; i++)
		sum += got[i];
	ck_assert_uint_eq(sum, 499);
	ck_assert_uint_eq(file_pages(), 500);
}
END_TEST

START_TEST(the_descriptor_is_high_and_closed_by_exec)
{
	limit(RLIMIT_NOFILE, _i);
	create(1 << 20);
	ck_assert_int_ge(store.fd, 3);
	if (_i >= 64)
		ck_assert_int_ge(store.fd, _i < 1024 ? _i / 2 : 900);
	ck_assert_int_lt(store.fd, 1024);
	ck_assert_int_eq(fcntl(store.fd, F_GETFD), FD_CLOEXEC);
}
END_TEST

START_TEST(a_descriptor_the_application_took_is_not_touched)
{
	int theirs = openat(sandbox_fd, "theirs", O_CREAT | O_RDWR, 0600);
	struct stat st;
	int fd;

	create(1 << 20);
	fd = store.fd;
	if (_i)
		ck_assert_int_eq(close(fd), 0);
	else
		ck_assert_int_eq(dup2(theirs, fd), fd);
	ck_assert_uint_eq(take_pages(), STORE_FIRST_BYTES / CDP_PAGE_BYTES - 1);
	ck_assert_int_eq(fstat(theirs, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	store_release(&store);
	ck_assert_int_eq(fcntl(fd, F_GETFD), _i ? -1 : 0);
}
END_TEST

START_TEST(errno_of_the_application_stays)
{
	errno = 4711;
	create(1 << 20);
	take_pages();
	store_release(&store);
	ck_assert_int_eq(errno, 4711);
}
END_TEST

START_TEST(the_mapping_shrinks_where_address_space_is_short)
{
	if (SANITIZED)
		return; /* its shadow is beyond any such limit */
	limit(RLIMIT_AS, 100 << 20);
	create(STORE_MAX_BYTES_DEFAULT);
	ck_assert_uint_lt(store.max_bytes, 100 << 20);
	ck_assert_uint_gt(store.max_bytes, 10 << 20);
	ck_assert_uint_eq(take_pages(), store.max_bytes / CDP_PAGE_BYTES - 1);
}
END_TEST

START_TEST(the_file_is_locked_while_the_mapping_lives)
{
	int fd;

	create(1 << 20);
	fd = openat(sandbox_fd, NAME, O_RDONLY);
	ck_assert_int_eq(close(store.fd), 0);
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), -1);
	store_release(&store);
	ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
}
END_TEST

START_TEST(a_touch_is_seldom_a_store)
{
	create(1 << 20);
	store_touch(&store, UINT64_C(1000) << 20);
	store_touch(&store, (UINT64_C(1000) << 20) + STORE_TOUCH_NS);
	ck_assert_uint_eq(store.header->last_mono, UINT64_C(1000) << 20);
	store_touch(&store, (UINT64_C(1000) << 20) + STORE_TOUCH_NS + 1);
	ck_assert_uint_eq(store.header->last_mono,
			  (UINT64_C(1000) << 20) + STORE_TOUCH_NS + 1);
	store_touch(&store, 5); /* never back */
	ck_assert_uint_gt(store.header->last_mono, 5);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tc = tcase_create("store");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_new_file_is_private_and_reads_as_running);
	tcase_add_loop_test(tc, an_existing_name_is_left_alone, 0, 2);
	tcase_add_test(tc, a_name_or_size_that_makes_no_file_is_refused);
	tcase_add_test(tc, a_record_is_seen_from_its_commit_on_and_not_before);
	tcase_add_loop_test(
		tc, the_limit_is_used_to_the_last_page_and_no_further, 2, 160);
	tcase_add_test(tc, no_section_no_page);
	tcase_add_test(tc, the_file_size_limit_is_used_up_without_a_signal);
	tcase_add_loop_test(tc, no_file_is_left_where_none_can_be_made, 0, 2);
	tcase_add_test(tc, a_full_disk_is_an_error_at_creation);
	tcase_add_test(tc,
		       a_disk_that_fills_up_ends_the_pages_and_keeps_the_file);
	tcase_add_test(
		tc, every_page_of_a_small_file_system_is_used_without_sigbus);
	tcase_add_loop_test(tc, racing_threads_get_a_page_each, 0, 4);
	tcase_add_test(tc, racing_threads_share_out_a_small_store_completely);
	tcase_add_loop_test(tc, the_descriptor_is_high_and_closed_by_exec, 12,
			    13);
	tcase_add_loop_test(tc, the_descriptor_is_high_and_closed_by_exec, 64,
			    65);
	tcase_add_loop_test(tc, the_descriptor_is_high_and_closed_by_exec, 1024,
			    1025);
	tcase_add_loop_test(
		tc, a_descriptor_the_application_took_is_not_touched, 0, 2);
	tcase_add_test(tc, errno_of_the_application_stays);
	tcase_add_test(tc, the_mapping_shrinks_where_address_space_is_short);
	tcase_add_test(tc, the_file_is_locked_while_the_mapping_lives);
	tcase_add_test(tc, a_touch_is_seldom_a_store);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
