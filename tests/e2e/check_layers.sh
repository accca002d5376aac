#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_layers - who may know whom
#
#	src/        src/, and neither stdio nor allocation
#	preload/    src/, preload/
#	analysis/   src/, analysis/
#	microbench/ microbench/
#
# Includes are read from the sources; what an object calls, from its symbols,
# where it has been built. libcomdet.so may need few libraries: each one more
# is resident memory in every profiled program. First the check shows on a
# tree of its own that it finds what it looks for.
#
#	check_layers.sh [TREE [BUILD]]

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}

# Files of src/ that work at set-up or in reusetrack and may allocate.
may_allocate='cdp_read outdir interval'

stdio='v?[fsd]?n?printf|puts|putc|putchar|fputs|fputc|fopen|fdopen|freopen|fclose|fread|fwrite|fgets|getc|getline|v?f?scanf|v?sscanf|fflush|perror|stdout|stderr|stdin|_IO_.*|__v?[fsd]?n?printf_chk'
allocation='malloc|calloc|realloc|reallocarray|free|strdup|strndup|v?asprintf|posix_memalign|aligned_alloc|memalign'
libraries='libc.so.6|libm.so.6|libdl.so.2|libpthread.so.0|libZydis.so.*|libZycore.so.*|ld-linux-x86-64.so.2'

complain()
{
	echo "$*"
	bad=1
}

# allowed LAYER - the directories whose headers it may include
allowed()
{
	case $1 in
	src) echo ' src ' ;;
	preload) echo ' src preload ' ;;
	analysis) echo ' src analysis ' ;;
	microbench) echo ' microbench ' ;;
	esac
}

check_includes()
{
	local tree=$1 layer file name header owner

	for layer in src preload analysis microbench; do
		while read -r file; do
			while read -r name; do
				header=${file%/*}/$name
				[ -e "$header" ] || header=$tree/$name
				if [ ! -e "$header" ]; then
					complain "${file#"$tree"/}: no header $name"
					continue
				fi
				header=$(realpath --relative-to="$tree" "$header")
				owner=${header%%/*}
				[[ $(allowed $layer) == *" $owner "* ]] ||
					complain "${file#"$tree"/}: $layer/ must not include $header"
			done < <(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]+)".*/\1/p' "$file")
		done < <(find "$tree/$layer" -name '*.[ch]')
	done
	for file in $(find "$tree/src" -name '*.[ch]'); do
		! grep -qE '^[ \t]*#[ \t]*include[ \t]*<(stdio|wchar)\.h>' "$file" ||
			complain "${file#"$tree"/}: src/ must do without stdio"
	done
}

check_symbols()
{
	local build=$1 object name symbol

	for object in $(find "$build/obj/src" -name '*.o' 2>/dev/null); do
		name=$(basename "$object" .o)
		while read -r symbol; do
			if [[ $symbol =~ ^($stdio)$ ]]; then
				complain "src/$name.c: calls $symbol: src/ must do without stdio"
			elif [[ $symbol =~ ^($allocation)$ ]] &&
				[[ " $may_allocate " != *" $name "* ]]; then
				complain "src/$name.c: calls $symbol: src/ must not allocate"
			fi
		done < <(nm -u "$object" | awk '{ sub(/@.*/, "", $2); print $2 }')
	done
}

check_libraries()
{
	local library=$1/libcomdet.so needed

	[ -e "$library" ] || return
	while read -r needed; do
		[[ $needed =~ ^($libraries)$ ]] ||
			complain "libcomdet.so must not need $needed"
	done < <(readelf -d "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
}

check_tree()
{
	bad=0
	check_includes "$1"
	check_symbols "$2"
	check_libraries "$2"
	return $bad
}

# expect TEXT - the check of the tree $t must fail and say TEXT
expect()
{
	local said

	if said=$(check_tree "$t" "$t/build") || [[ $said != *"$1"* ]]; then
		echo "the check itself is wrong: it should have said '$1' and said '$said'"
		exit 1
	fi
}

# A tree in which everything is right, then one thing at a time wrong.
check_the_check()
{
	local said

	t=$(mktemp -d) || exit 1
	trap 'rm -rf "$t"' EXIT
	mkdir -p "$t"/{src,preload,analysis,microbench,build/obj/src}
	touch "$t"/{src/s.h,preload/p.h,analysis/a.h,microbench/m.h}
	echo '#include "s.h"' >"$t/src/s.c"
	printf '#include "src/s.h"\n#include "p.h"\n' >"$t/preload/p.c"
	printf '#include "src/s.h"\n#include "analysis/a.h"\n' >"$t/analysis/a.c"
	echo '#include "m.h"' >"$t/microbench/m.c"
	if ! said=$(check_tree "$t" "$t/build"); then
		echo "the check itself is wrong: a good tree gave '$said'"
		exit 1
	fi
	echo '#include "../preload/p.h"' >"$t/src/x.c"
	expect 'src/ must not include preload/p.h'
	echo '#include <stdio.h>' >"$t/src/x.c"
	expect 'src/ must do without stdio'
	rm "$t/src/x.c"
	echo '#include "analysis/a.h"' >"$t/preload/x.c"
	expect 'preload/ must not include analysis/a.h'
	mkdir "$t/preload/part"
	mv "$t/preload/x.c" "$t/preload/part"
	expect 'preload/ must not include analysis/a.h'
	rm "$t/preload/part/x.c"
	echo '#include "preload/p.h"' >"$t/analysis/x.c"
	expect 'analysis/ must not include preload/p.h'
	rm "$t/analysis/x.c"
	echo '#include "src/s.h"' >"$t/microbench/x.c"
	expect 'microbench/ must not include src/s.h'
	rm "$t/microbench/x.c"
	echo 'void *f(void); void *malloc(unsigned long); void *f(void) { return malloc(3); }' |
		${CC:-gcc} -x c -fPIC -c -o "$t/build/obj/src/x.o" -
	expect 'calls malloc'
	echo 'int f(int); int printf(const char *, ...); int f(int i) { return printf("%d", i); }' |
		${CC:-gcc} -x c -fPIC -c -o "$t/build/obj/src/x.o" -
	expect 'calls printf'
}

if [ $# -gt 0 ]; then
	check_tree "$1" "${2:-$1/build}"
else
	check_the_check
	check_tree "$TOP" "$B"
fi
