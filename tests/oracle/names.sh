#!/bin/bash
# SPDX-License-Identifier: MIT
#
# names - names of statements in more languages, and of programs of Debian
#
#	tests/oracle/names.sh [NAME...]
#
# $DEBUG_PACKAGES names Debian packages of debug information. gcc, clang, rust,
# go: a program at -O2 shares a line, and the report names the
# statement. java, node: it names the method. debian: random addresses of
# programs with debug information have the names that addr2line -i gives.
# What is not installed is skipped. The last line is "N passed, N failed, N
# skipped".

. "$(dirname "$0")/../e2e/e2e.sh"
. "$(dirname "$0")/../e2e/names.sh"
cd "$WORK" || exit 1
DEBUG_PACKAGES=${DEBUG_PACKAGES:-libc6-dbg}
export PATH=$PATH:/usr/local/bin:$HOME/.cargo/bin

try_gcc()
{
	"$TOP/tests/e2e/check_names.sh" gcc_names_the_statement
}

try_clang()
{
	needs clang clang++
	"$TOP/tests/e2e/check_names.sh" clang_names_the_statement
}

try_rust()
{
	needs rustc
	rustc -C opt-level=2 -g -o rust "$NAMES/share.rs" || fail "rustc"
	names_statement rustc share.rs SHARED ./rust
	holds r.json 'any("::" in s.get("function", "") for s in c["sites"])' \
		"names of Rust"
	compare ./rust
}

try_go()
{
	local place

	needs go gcc
	mkdir go && cp "$NAMES/share.go" go
	printf 'module example.org/share\n\ngo 1.19\n' >go/go.mod
	(cd go && GOCACHE=$WORK/cache GOPATH=$WORK/gopath GOFLAGS=-mod=mod \
		CGO_ENABLED=1 CGO_CFLAGS="-O2 -g" go build -o ../cgo .) ||
		fail "go build"
	recorded ./cgo
	for place in "$(marked share.go 'SHARED IN C')" \
		"$(marked share.go 'SHARED IN GO')"; do
		holds r.json "any('/$place' in s.get('location', '')
			for s in c['sites'][:3])" "Go with cgo: $place in
			$(ask r.json "[(s.get('location'), s.get('function'))
				for s in c['sites']]")"
	done
	compare ./cgo
}

try_java()
{
	needs java javac
	javac -d . "$NAMES/Share.java" || fail "javac"
	recorded java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit \
		-cp . Share
	nearly_all function Share "Java: the method"
	rm -f /tmp/perf-"$(ask r.json 'r["processes"][0]["pid"]')".map
	json out r.json
	nearly_all function Share "Java: the method, from the copy"
}

# One of the two functions may be inlined into the other.
try_node()
{
	needs node
	recorded node --perf-basic-prof "$NAMES/share.js"
	nearly_all function share.js "Node: the function"
	rm -f /tmp/perf-"$(ask r.json 'r["processes"][0]["pid"]')".map
	json out r.json
	nearly_all function share.js "Node: the function, from the copy"
	recorded node --perf-prof "$NAMES/share.js"
	nearly_all function share.js "Node: the function, from a jitdump"
}

# compare FILE... - random addresses, 1,000 of each file
compare()
{
	python3 "$TOP/tests/oracle/compare_addr2line.py" -v \
		"$B/tests/oracle/frames_of" "$@" >compared ||
		fail "names differ from those of addr2line: $(cat compared)"
	cat compared
}

# debug_file PACKAGE - print the largest program or library that this package
# of debug information is about
debug_file()
{
	local depends file id

	depends=$(dpkg-query -W -f '${Depends}' "$1" | tr ',|' '\n' |
		sed 's/(.*//; s/ //g')
	for file in $(dpkg -L $depends 2>/dev/null | sort -u); do
		[ -f "$file" ] && [ ! -L "$file" ] || continue
		id=$(readelf -n "$file" 2>/dev/null |
			sed -n 's/.*Build ID: //p')
		[ -n "$id" ] || continue
		dpkg -L "$1" | grep -q "/${id:0:2}/${id:2}\.debug$" &&
			stat -c '%s %n' "$file"
	done | sort -n | tail -n 1 | cut -d' ' -f2
}

# The packages of $DEBUG_PACKAGES, which make check-names installs.
try_debian()
{
	local package file
	local -a files=()

	for package in $DEBUG_PACKAGES; do
		dpkg-query -W "$package" >/dev/null 2>&1 ||
			skip "$package is not installed"
		file=$(debug_file "$package")
		[ -n "$file" ] || fail "no file for $package"
		files+=("$file")
	done
	[ ${#files[@]} -ge 10 ] || fail "only ${#files[@]} packages"
	compare "${files[@]}"
}

[ $# -gt 0 ] || set -- gcc clang rust go java node debian
passed=0 failed=0 skipped=0
for name; do
	start=$SECONDS
	mkdir "$WORK/$name"
	(cd "$WORK/$name" && "try_$name") >"$WORK/log" 2>&1
	status=$?
	case $status in
	0)
		passed=$((passed + 1))
		echo "$name: passed ($((SECONDS - start)) s)"
		sed 's/^/    | /' "$WORK/log" ;;
	77)
		skipped=$((skipped + 1))
		echo "$name: skipped: $(cat "$WORK/log")" ;;
	*)
		failed=$((failed + 1))
		echo "$name: FAILED"
		sed 's/^/    | /' "$WORK/log" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
