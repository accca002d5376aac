/* SPDX-License-Identifier: MIT */
/*
 * test_clients - whom the HTTP server serves, and how long
 */
#include <check.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/daemon/clients.h"
#include "tests/run_suite.h"

#define S UINT64_C(1000000000)

START_TEST(only_names_of_this_machine_are_hosts)
{
	static const char *const good[] = { "localhost", "LocalHost:9099",
					    "127.0.0.1", "127.0.0.1:80",
					    "[::1]",     "[::1]:9099" };
	static const char *const bad[] = { "",
					   "example.com",
					   "localhost.example.com",
					   "127.0.0.1.x",
					   "localhost:80x",
					   "localhost:",
					   "127.0.0.10",
					   "evil.com:localhost",
					   "[::1",
					   "::1:x" };

	ck_assert(clients_allowed(NULL, NULL)); /* HTTP/1.0 */
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(clients_allowed(good[i], NULL), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!clients_allowed(bad[i], NULL), "%s", bad[i]);
}
END_TEST

START_TEST(pages_of_other_sites_are_not_answered)
{
	ck_assert(clients_allowed("localhost", "none"));
	ck_assert(clients_allowed("localhost", "same-origin"));
	ck_assert(!clients_allowed("localhost", "same-site"));
	ck_assert(!clients_allowed("localhost", "cross-site"));
}
END_TEST

/* Is the other end shut? */
static bool is_shut(int fd)
{
	char byte;

	return !recv(fd, &byte, 1, MSG_DONTWAIT);
}

START_TEST(who_is_slow_is_shut_out)
{
	struct clients c = { 0 };
	int fd[2], other[2];

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, other));
	ck_assert_uint_eq(clients_wait(&c, 0), UINT64_MAX);
	clients_begin(&c, &fd[0], fd[0], 0);
	clients_begin(&c, &other[0], other[0], 0);
	ck_assert_uint_eq(clients_wait(&c, 4 * S), 6 * S);
	clients_asked(&c, &other[0], 5 * S);
	clients_shut_slow(&c, 10 * S - 1);
	ck_assert(!is_shut(fd[1]) && !is_shut(other[1]));
	ck_assert_uint_eq(clients_wait(&c, 11 * S), 0);
	clients_shut_slow(&c, 10 * S);
	ck_assert(is_shut(fd[1]) && !is_shut(other[1]));
	/* Its end is told later. */
	ck_assert_uint_eq(clients_wait(&c, 11 * S), 114 * S);
	clients_end(&c, &fd[0]);
	clients_answered(&c, &other[0], 20 * S);
	ck_assert_uint_eq(clients_wait(&c, 20 * S), 10 * S);
	clients_shut_slow(&c, 30 * S);
	ck_assert(is_shut(other[1]));
	clients_end(&c, &other[0]);
	for (int i = 0; i < 2; i++) {
		close(fd[i]);
		close(other[i]);
	}
}
END_TEST

/* More than there is room for do no harm. */
START_TEST(beyond_the_last_nothing_happens)
{
	static char connection[CLIENTS_MAX + 1];
	struct clients c = { 0 };

	for (int i = 0; i <= CLIENTS_MAX; i++)
		clients_begin(&c, &connection[i], -1, (uint64_t)i);
	clients_asked(&c, &connection[CLIENTS_MAX], 0);
	clients_end(&c, &connection[CLIENTS_MAX]);
	clients_end(&c, &connection[3]);
	clients_begin(&c, &connection[CLIENTS_MAX], -1, 0);
	clients_end(&c, &connection[CLIENTS_MAX]);
	ck_assert_uint_eq(clients_wait(&c, 0), CLIENTS_SILENT_S * S);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clients");
	TCase *c = tcase_create("clients");

	tcase_add_test(c, only_names_of_this_machine_are_hosts);
	tcase_add_test(c, pages_of_other_sites_are_not_answered);
	tcase_add_test(c, who_is_slow_is_shut_out);
	tcase_add_test(c, beyond_the_last_nothing_happens);
	suite_add_tcase(s, c);
	return run_suite(s);
}
