#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_attach_group - attach watches the processes of a control group
#
# Those that are in it and those that come later, and no others; the memory that
# they share is found. With groups of the kernel, which root makes.
#
# covers: analysis/outside/group.c analysis/outside/cgroup.c analysis/outside/targets.c

. "$(dirname "$0")/e2e.sh"
. "$(dirname "$0")/attach.sh"
PAIR=$B/tests/programs/help_shared_pair
cd "$WORK" || exit 1
can_attach

# Nobody may be asked for a group that is not there, anywhere.
for spec in '/no/such/group' 'no_such_container'; do
	"$TOOL" attach --cgroup $spec -o none 2>err
	status=$?
	[ $status = 1 ] || fail "$spec: status $status: $(cat err)"
	[ "$(wc -l <err)" = 1 ] && grep -q \
		"cannot attach: no process is in the control group $spec; cat /proc/PID/cgroup" \
		err || fail "$spec: $(cat err)"
	[ ! -e none ] || fail "$spec: left a directory"
done
"$TOOL" attach --cgroup '' 2>err && fail "an empty name is taken"
grep -q -- '--cgroup must not be empty' err || fail "an empty name: $(cat err)"
"$TOOL" attach --cgroup /x 1 2>err && fail "a group and a process are taken"
grep -q 'not both' err || fail "a group and a process: $(cat err)"

root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
name=reusetrack-test.$$
[ "$root" ] && mkdir "$root/$name" "$root/$name/docker-cafe$$.scope" 2>/dev/null ||
	skip "control groups cannot be made here"
group=$root/$name/docker-cafe$$.scope
clean_group()
{
	kill $(jobs -pr) $(cat "$group/cgroup.procs") 2>/dev/null
	for ((i = 0; i < 100; i++)); do
		rmdir "$group" "$root/$name" 2>/dev/null && return
		sleep 0.1
	done
}
trap 'clean_group; rm -rf "$WORK"' EXIT

# within COMMAND... - start it in the group
within()
{
	start sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

BETWEEN='len(r["processes"]) == 2 and len(c["lines"]) == 1 and
	{r["threads"][t]["process"] for t in c["lines"][0]["threads"]} == {0, 1}'
BETWEEN="est('false_sharing') > 3 and $(echo $BETWEEN)"

"$TOOL" attach --cgroup "/$name" -o none 2>err && fail "an empty group is watched"
grep -q "no process is in the control group /$name; " err ||
	fail "an empty group: $(cat err)"

# A busy process beside the group is not watched.
"$PAIR" private false >beside &
within "$PAIR" memfd false
finds "a group by its path" "$BETWEEN" --cgroup "/$name"
finish
within "$PAIR" memfd false
finds "a group by a part of its path" "$BETWEEN" --cgroup "cafe$$"
holds r.json 'c["true_sharing"]["estimate"] == 0' "a group"

# It ends when the group has no process any more.
ends_with --cgroup "cafe$$"
grep -q 'what was watched has ended' err || fail "after the end: $(cat err)"

LATER="est('false_sharing') > 3 and len(c['lines'][0]['threads']) == 2 and
	len(r['processes']) == 3"
LATER=$(echo $LATER)

# Those that come when the watcher is there, and that nobody in it has made.
within sh -c 'echo ready; exec sleep 1000'
idle=$pid
watch --cgroup "/$name"
until [ "$(ls out/*.cdp 2>/dev/null | wc -l)" = 1 ]; do
	kill -0 $watcher 2>/dev/null || fail "attach ended: $(cat attach)"
	sleep 0.1
done

# What it has open for those that come and go, it closes.
descriptors()
{
	ls "/proc/$watcher/fd" | wc -l
}
before=$(descriptors)
for ((i = 0; i < 8; i++)); do
	sh -c 'echo $$ >"$0/cgroup.procs" && exec sleep 1.5' "$group" &
done
for ((i = 0; i < 600 && $(descriptors) < before + 8; i++)); do
	sleep 0.01
done
[ $i -lt 600 ] || fail "those that come and go are not watched"
for ((i = 0; i < 200 && $(descriptors) > before; i++)); do
	sleep 0.1
done
[ $i -lt 200 ] || fail "$before descriptors became $(descriptors)"
within "$PAIR" memfd false
until_true "those that come later" "$LATER"
unwatch
kill $idle
finish

# One that is in it from the start, for which there are no more descriptors: with
# some limit the first process can be watched, and not the second.
within sh -c 'echo ready; exec sleep 1000'
first=$pid
within sh -c 'echo ready; exec sleep 1000'
for ((n = 10; n < 100; n++)); do
	rm -rf few
	(ulimit -n $n && exec "$TOOL" attach --cgroup "/$name" --duration 0.05 \
		-o few) 2>err || continue
	grep -q '1 process of the control group was not watched: no descriptor is left' err &&
		break
done
[ $n -lt 100 ] || fail "one that finds no descriptor: $(cat err)"
kill $first
finish

# What is not ours is left out, and a line says so.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$WORK" && mkdir -m 777 open && cp "$TOOL" ./tool
	nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
	within sh -c 'echo ready; exec sleep 1000'
	$nobody ./tool attach --cgroup "/$name" -o open/none 2>err &&
		fail "a group of root's processes is watched by others"
	[ "$(wc -l <err)" = 1 ] && grep -q 'no process of the control group can be watched: process .* belongs to user root' err ||
		fail "a group of root's: $(cat err)"
	other=$pid
	within $nobody sh -c 'echo ready; exec sleep 1000'
	$nobody ./tool attach --cgroup "/$name" --duration 0.2 -o open/some 2>err ||
		fail "a group of two users: $(cat err)"
	grep -q '1 process of the control group was not watched: process .* belongs to user root' err ||
		fail "a group of two users: $(cat err)"
	kill $other
	finish
fi
echo ok
