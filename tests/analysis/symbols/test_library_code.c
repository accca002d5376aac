/* SPDX-License-Identifier: MIT */
/*
 * test_library_code - files of users, and files of compilers and systems
 */
#include <check.h>
#include <stdlib.h>

#include "analysis/symbols/library_code.h"
#include "tests/run_suite.h"

static const char *const library[] = {
	"/usr/include/x86_64-linux-gnu/bits/stdio2.h",
	"/usr/include/c++/12/bits/atomic_base.h",
	"/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/atomic",
	"/usr/bin/../include/x86_64-linux-gnu/bits/stdio2.h",
	"/usr/lib/llvm-14/lib/clang/14.0.6/include/emmintrin.h",
	"/opt/gcc/include/c++/13/bits/atomic_base.h",
	"/rustc/59807616e1fb2540/library/core/src/sync/atomic.rs",
	"/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/x.rs",
	"/home/u/.cargo/registry/src/index.crates.io-6f/crossbeam-0.8/lib.rs",
	"/home/u/.cargo/git/checkouts/x-1/src/lib.rs",
	"/usr/src/rustc-1.63.0/library/core/src/sync/atomic.rs",
	"/rust/deps/hashbrown-0.16.1/src/control/tag.rs",
	"/usr/local/go/src/sync/atomic/type.go",
	"/usr/lib/go-1.19/src/sync/atomic/type.go",
	"/home/u/go/pkg/mod/example.org/lib@v1.2.3/lib.go",
};

static const char *const own[] = {
	"/home/u/project/main.c",
	"main.c",
	"src/usr/include/x.h",
	"/home/u/project/include/queue.h",
	"/home/u/rustc/main.rs",
	"/usr/libexec.c",
	"/usr/lib/../../home/u/main.c",
	"../../main.c",
	"/../..",
	"/srv/build/lib/x.c",
	"",
	NULL,
};

START_TEST(files_of_compilers_systems_and_packages_are_library_code)
{
	ck_assert(is_library_code(library[_i]));
}
END_TEST

START_TEST(other_files_are_the_users)
{
	ck_assert(!is_library_code(own[_i]));
}
END_TEST

START_TEST(the_environment_tells_where_languages_are_installed)
{
	ck_assert(!is_library_code("/srv/go/src/runtime/proc.go"));
	ck_assert_int_eq(setenv("GOROOT", "/srv/go/", 1), 0);
	ck_assert(is_library_code("/srv/go/src/runtime/proc.go"));
	ck_assert(!is_library_code("/srv/golang/main.go"));
	ck_assert_int_eq(setenv("CARGO_HOME", "/srv/cargo", 1), 0);
	ck_assert(is_library_code("/srv/cargo/registry/src/x/lib.rs"));
	ck_assert(!is_library_code("/srv/cargo/mine/lib.rs"));
	ck_assert_int_eq(setenv("GOROOT", "", 1), 0);
	ck_assert(!is_library_code("/home/u/main.go"));
}
END_TEST

START_TEST(a_module_tells_where_no_file_is_known)
{
	const struct place libc = { .module = "/usr/lib/libc.so.6" };
	const struct place mine = { .module = "/home/u/libcool.so.6" };
	const struct place inlined = { .module = "/home/u/a.out",
				       .file = "/usr/include/c++/12/new" };

	ck_assert(is_library_place(&libc));
	ck_assert(is_library_place(&inlined));
	ck_assert(!is_library_place(&mine));
	ck_assert(!is_library_place(&(struct place){ .module = "a.out" }));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("library_code");
	TCase *t = tcase_create("library_code");

	tcase_add_loop_test(
		t, files_of_compilers_systems_and_packages_are_library_code, 0,
		sizeof(library) / sizeof(library[0]));
	tcase_add_loop_test(t, other_files_are_the_users, 0,
			    sizeof(own) / sizeof(own[0]));
	tcase_add_test(t, a_module_tells_where_no_file_is_known);
	tcase_add_test(t, the_environment_tells_where_languages_are_installed);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
