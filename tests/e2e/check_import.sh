#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_import - recordings of perf become profiles
#
# reusetrack reads generated recordings (tests/fake/perf_twins.h) in every form
# as perf reads them, sample by sample. Of two threads that store to a word,
# perf records a watchpoint here; the profile must name that word and the line
# of code. An input that cannot be read gives one line, and no file is left.

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1
gen=$B/tests/programs/help_perf_data
command -v perf >/dev/null || fail "perf is missing: make deps"

# refuses TEXT FILE [ARGUMENT...] - import prints one line with TEXT, ends with
# status 1 and leaves nothing in the directory
refuses()
{
	local text=$1 file=$2 before after

	shift 2
	before=$(ls -A)
	"$TOOL" import "$file" "$@" >out.txt 2>err
	status=$?
	[ $status = 1 ] || fail "$text: status $status"
	[ "$(wc -l <err)" = 1 ] || fail "$text: $(cat err)"
	[ ! -s out.txt ] || fail "$text: prints to stdout"
	after=$(ls -A)
	[ "$before" = "$after" ] || fail "$text: left $after"
	grep -qE "$text" err || fail "$text: says $(cat err)"
}

touch err out.txt
for kind in intel packed amd; do
	how=
	[ $kind != amd ] || how=--ibs
	for seed in 1 2; do
		"$gen" $kind $seed $kind.data || fail "cannot write $kind.data"
		python3 "$TOP/tests/oracle/compare_perf.py" "$TOOL" perf $kind.data \
			$how || fail "$kind $seed reads otherwise than in perf"
	done
	"$gen" $kind,stream 2 $kind.stream
	"$gen" $kind,compressed 2 $kind.z
	"$gen" $kind,compressed,stream 2 $kind.z.stream
	"$TOOL" import --samples $kind.data >samples
	[ "$(wc -l <samples)" = 2000 ] || fail "$kind: $(wc -l <samples) samples"
	for other in stream z z.stream; do
		"$TOOL" import --samples - <$kind.$other | cmp - samples ||
			fail "$kind.$other is not $kind.data"
	done
	cat $kind.z.stream | "$TOOL" import --samples - | cmp - samples ||
		fail "$kind through a pipe"
done

# perf reads the generated form of its own pipe.
perf script --ns -i - -F pid,tid,time <intel.stream 2>/dev/null | wc -l |
	grep -qx 2000 || fail "perf does not read the generated stream"

"$TOOL" import -o twin intel.data 2>err || fail "intel.data: $(cat err)"
json twin r.json
kept=$(grep -cv left_out= <("$TOOL" import --samples intel.data))
holds r.json 'r["run"]["source"] == "import"' "the source"
holds r.json 'r["run"]["host"] == "elsewhere" and r["run"]["complete"]' "the run"
holds r.json "sum(t['interrupts'] for t in r['threads']) == $kept" "samples"
holds r.json "r['loss']['in_kernel'] == 2000 - $kept" "samples of the kernel"
holds r.json '[t["name"] for t in r["threads"]] == ["twin", "worker"]' "names"
holds r.json 'est("total") > 100 and cell(0, 1) == est("total")' "two threads"

# Another form of the same recording gives the same profile.
"$gen" intel,compressed,stream 2 other
"$TOOL" import -o other.out - <other 2>err || fail "other: $(cat err)"
json other.out other.json
python3 - r.json other.json <<'PY' || fail "another form, another profile"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
for r in a, b:
    del r["run"]["id"], r["run"]["source_reason"]
sys.exit(a != b)
PY

# An earlier profile is moved aside; any other directory is left alone.
"$TOOL" import -o twin packed.data 2>err || fail "a second import"
[ -d twin.old ] || fail "the first profile is gone"
mkdir mine
"$TOOL" import -o mine packed.data 2>err || fail "into a foreign directory"
[ -z "$(ls -A mine)" ] && [ -d mine.1 ] || fail "a foreign directory was used"

# perf records a watchpoint here, with real build-ids.
cat >share.c <<'CODE'
#include <pthread.h>
long other[3] __attribute__((aligned(64))) = { 1 };
volatile long shared_word = 1;
static void *store(void *arg)
{
	for (long i = 0; i < 10000; i++) shared_word = i;
	return 0;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, store, 0);
	store(0);
	return pthread_join(t, 0);
}
CODE
build_share()
{
	gcc -O1 -g -no-pie -pthread -fno-toplevel-reorder -Wl,--build-id \
		-o share share.c
}
if debug_registers; then
	build_share || fail "cannot build share.c"
	word=$(nm share | awk '$3 == "shared_word" { print $1 }')
	# Another variable begins the cache line. The report must not name it.
	[ $((0x$word % 64)) = 24 ] || fail "shared_word at $word"
	for z in -z ""; do # with -z perf writes no build-ids
		perf record -q $z -e "mem:0x$word/8:wu" -c 25 -d \
			-o here.data -- ./share >log 2>&1 ||
			fail "perf record: $(cat log)"
		"$TOOL" import -o here here.data 2>err ||
			fail "here.data $z: $(cat err)"
		json here here.json
		holds here.json 'sum(t["samples"]["uniform"] for t in
			r["threads"]) >= 700' "stores that were watched"
		holds here.json 'all("shared_word" in l["object"] for l in
			c["lines"]) and len(c["lines"]) == 1' "the variable"
		holds here.json '["shared_word" in l["object"] for l in
			r["memory"]["lines"]] == [True]' "the variable of the line"
		holds here.json 'all(s["location"].endswith("share.c:6") for s
			in c["sites"])' "the line of code"
		holds here.json 'est("false_sharing") == 0' "true sharing"
		holds here.json 'r["processes"][0]["exe"].endswith("/share")' \
			"the program"
	done
	perf record -q -e "mem:0x$word/8:wu" -c 25 -d -o - -- ./share 2>log |
		"$TOOL" import -o piped - 2>err || fail "a pipe: $(cat log err)"
	json piped piped.json
	holds piped.json 'sum(t["samples"]["uniform"] for t in
		r["threads"]) >= 700' "stores through a pipe"
	holds piped.json '["shared_word" in l["object"] for l in
		r["memory"]["lines"]] == [True]' "the variable through a pipe"
	holds piped.json "r['run']['host'] == '$(uname -n)'" "the host"
	# Another build has the same file name: its symbols must not be used.
	sed -i 's/10000/10001/' share.c
	build_share || fail "cannot build share.c again"
	json here here.json
	holds here.json 'any("another one" in p for p in r["problems"])' \
		"a program that has changed"
	holds here.json 'not any("function" in s for s in c["sites"])' \
		"names of another build"
fi

# Inputs that cannot be imported.
refuses 'cannot open' absent.data
refuses 'not a perf.data file' share.c
refuses 'not a perf.data file' /dev/null
mkdir directory
refuses 'is a directory' directory
head -c 50 intel.data >short.data
refuses 'cut short' short.data
head -c 100000 intel.data >short.data
refuses 'cut short: it should have [0-9]+ bytes more' short.data
head -c 99999 intel.stream >short.data
refuses 'ends within a record' short.data
head -c 99999 intel.z.stream >short.data
refuses 'ends within a record' short.data
printf '2ELIFREP%096d' 0 >big.data
refuses 'big-endian' big.data
printf 'PERFFILE%096d' 0 >old.data
refuses 'before 2012' old.data
perf record -q -e task-clock -o clock.data -- true >log 2>&1 ||
	fail "perf record: $(cat log)"
refuses 'perf mem record' clock.data
cat intel.data | refuses 'give its name' -
refuses 'cannot write' intel.data -o nowhere/out
refuses 'reads one file' intel.data packed.data
(ulimit -f 128; trap '' XFSZ; refuses 'too large' intel.data) || exit 1
"$TOOL" import 2>err && fail "without a file: status 0"

# The manual page has each option, and formats without a warning.
page=$TOP/docs/man/reusetrack-import.1
"$TOOL" import --help >help || fail "import --help"
"$TOOL" help import | cmp -s - help || fail "help import differs"
[ "$(awk 'length($0) > 80' help | wc -l)" = 0 ] || fail "help over 80 columns"
[ -z "$(man --warnings -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" ] ||
	fail "$page does not format"
for option in $(grep -oE -- '--[a-z]+(-[a-z]+)?' help | sort -u); do
	grep -qF -- "Fl -${option#--}" "$page" || fail "$page lacks $option"
done
echo "recordings of perf become profiles"
