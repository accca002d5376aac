/* SPDX-License-Identifier: MIT */
/*
 * test_demangle - mangled names of C++ and Rust
 */
#include <check.h>
#include <stdlib.h>

#include "analysis/symbols/demangle.h"
#include "tests/run_suite.h"

static const struct {
	const char *mangled, *plain;
} names[] = {
	{ "_ZN3foo3barEi", "foo::bar(int)" },
	{ "_ZNSt6vectorIiSaIiEE9push_backEOi",
	  "std::vector<int, std::allocator<int> >::push_back(int&&)" },
	{ "_ZN4core4sync6atomic11AtomicUsize9fetch_add17h0123456789abcdefE",
	  "core::sync::atomic::AtomicUsize::fetch_add" },
	{ "_ZN5share4main28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE",
	  "share::main::{{closure}}" },
	{ "_ZN43_$LT$T$u20$as$u20$core..fmt..Debug$GT$$RF$x3fmt17h"
	  "0123456789abcdefE",
	  "<T as core::fmt::Debug>&x::fmt" },
	/* C++ too may have such a name, but not with 16 digits behind 'h'. */
	{ "_ZN3foo3h12Ev", "foo::h12()" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RNvNtCs4X4t9plMPHF_9addr2line4line23has_backward_slash_root",
	  "addr2line::line::has_backward_slash_root" },
	{ "_RNCNvC4main3run0B3_", "main::run::{closure#0}" },
	{ "_RNCNvC4main3runs_0B3_", "main::run::{closure#1}" },
	{ "_RINvNtC4core3ptr5writehEB4_", "core::ptr::write::<u8>" },
	{ "_RNvMC4mainNtB2_4Pair3add", "<main::Pair>::add" },
	{ "_RNvXC4mainNtB2_4PairNtNtC4core3fmt5Debug3fmt",
	  "<main::Pair as core::fmt::Debug>::fmt" },
	{ "_RINvC1a1fRL_eQShPKp_OTlbEE", "_RINvC1a1fRL_eQShPKp_OTlbEE" },
	{ "_RINvC1a1fRL_eQShOTlbEE",
	  "a::f::<&str, &mut [u8], *mut (i32, bool)>" },
	{ "_RINvC1a1fKj10_Kb1_Kan2_E", "a::f::<16, true, -2>" },
	{ "_RINvC1a1fFUKCjEuE", "a::f::<unsafe extern \"C\" fn(usize)>" },
	{ "_RINvC1a1fDNtC1b1Tp1xmEL_E", "a::f::<dyn b::T<x = u32>>" },
	{ "_RINvC1a1fAhj4_TE", "_RINvC1a1fAhj4_TE" },
	{ "_RINvC1a1fAhj4_TEE", "a::f::<[u8; 4], ()>" },
	/* Cut, senseless, and without end. */
	{ "_R", "_R" },
	{ "_RNvC6_123foo3ba", "_RNvC6_123foo3ba" },
	{ "_RNvC99999999999foo3bar", "_RNvC99999999999foo3bar" },
	{ "_RB_", "_RB_" },
	{ "_RNvB_3bar", "_RNvB_3bar" },
	{ "_RIB_B_B_B_E", "_RIB_B_B_B_E" },
	{ "main", "main" },
	{ "_Z", "_Z" },
	{ "", "" },
};

START_TEST(mangled_names_are_made_readable)
{
	char *s = demangle(names[_i].mangled);

	ck_assert_str_eq(s, names[_i].plain);
	free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("demangle");
	TCase *t = tcase_create("demangle");

	tcase_add_loop_test(t, mangled_names_are_made_readable, 0,
			    sizeof(names) / sizeof(names[0]));
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
