#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_install - what make install puts beside the programs works
#
# The completions for bash know every verb and option that the help lists, those
# for zsh and fish too, and they are valid there if these shells are here. The
# file for pkg-config says how to compile and link a program with hooks.
#
#	tests/e2e/check_install.sh [CLAIM]
#
# covers: packaging analysis/cmd analysis/record/options.c

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
[ "$B" = "$TOP/build" ] || skip "the build is not that of the source tree"
make -C "$TOP" -s PREFIX=/usr DESTDIR="$WORK/root" install \
	>install.out 2>&1 || fail "make install: $(tail -5 install.out)"
SHARE=$WORK/root/usr/share

# completed WORD... - what bash completes the last word to, a line each
completed()
{
	(
		. "$SHARE/bash-completion/completions/reusetrack"
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_reusetrack
		printf '%s\n' "${COMPREPLY[@]}"
	)
}

options_in_help()
{
	"$TOOL" "$1" --help | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p'
}

every_verb_and_option_of_the_help_is_completed()
{
	local verb option verbs n=0

	verbs=$("$TOOL" --help | sed '/^Start with/,$d' |
		sed -nE 's/^  ([a-z]+) .*/\1/p')
	for verb in $verbs; do
		completed reusetrack "${verb:0:2}" | grep -qx -- "$verb" ||
			fail "bash does not complete $verb"
		for option in $(options_in_help "$verb"); do
			completed reusetrack "$verb" "${option:0:4}" |
				grep -qx -- "$option" ||
				fail "bash does not complete $verb $option"
			grep -qF -- "$option" "$SHARE/zsh/vendor-completions/_reusetrack" ||
				fail "zsh does not complete $option"
			grep -q -- "from $verb' -l ${option#--}" \
				"$SHARE/fish/vendor_completions.d/reusetrack.fish" ||
				fail "fish does not complete $verb $option"
			n=$((n + 1))
		done
	done
	[ "$n" -gt 50 ] || fail "only $n options were compared"
	[ -z "$(completed reusetrack report --frob)" ] ||
		fail "an option that is none is completed"
}

the_shells_that_are_here_take_them()
{
	! command -v zsh >/dev/null ||
		zsh -n "$SHARE/zsh/vendor-completions/_reusetrack" ||
		fail "zsh refuses its completions"
	! command -v fish >/dev/null ||
		fish -n "$SHARE/fish/vendor_completions.d/reusetrack.fish" ||
		fail "fish refuses its completions"
}

pkg_config_tells_how_to_link_the_hooks()
{
	local lib=$WORK/root/usr/lib
	export PKG_CONFIG_PATH=$lib/pkgconfig
	export PKG_CONFIG_SYSROOT_DIR=$WORK/root

	command -v pkg-config >/dev/null || { echo "no pkg-config"; return; }
	cat >hooked.c <<-'EOF'
		long n;
		int main(void)
		{
			for (int i = 0; i < 1000; i++)
				n += i;
			return n == 0;
		}
	EOF
	# shellcheck disable=SC2046
	gcc -g $(pkg-config --cflags comdet-instr) -c hooked.c &&
		gcc -o hooked hooked.o $(pkg-config --libs comdet-instr) ||
		fail "it does not link"
	LD_LIBRARY_PATH=$lib ./hooked || fail "it does not run"
	LD_LIBRARY_PATH=$lib "$TOOL" record -s instr -m reuse -o out -- ./hooked \
		2>err || fail "$(cat err)"
	grep -q "source instr" err || fail "its hooks are not ours: $(cat err)"
}

run_claims "${1:-}" \
	every_verb_and_option_of_the_help_is_completed \
	the_shells_that_are_here_take_them \
	pkg_config_tells_how_to_link_the_hooks
