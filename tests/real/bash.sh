# SPDX-License-Identifier: MIT
# Jobs, traps (SIGTRAP among them), pipes, subshells, a killed child.
needs=bash
version() { bash --version | grep -om 1 'version [^ ]*'; }
prepare()
{
	cat >script <<'SCRIPT'
set -m
trap 'echo "usr1 trap"' USR1
trap 'echo "the script'\''s own trap"' TRAP
kill -USR1 $$
kill -TRAP $$
count() { local i s=0; for ((i = 0; i < $1; i++)); do ((s += i % 7)); done; echo $s; }
count 900000 >one &
count 700000 >two &
wait
cat one two
count 700000
sleep 100 &
sleep 0.2
child=$!; kill %%
wait $child
echo "killed: $?"
(trap 'echo "subshell has term"; exit 9' TERM; sleep 0.3; kill -TERM $BASHPID) &
wait $!
echo "subshell: $?"
printf '%s\n' c a b | sort | tr '\n' ' '
echo "pipes: ${PIPESTATUS[*]}"
diff <(echo x) <(echo y)
trap - TRAP
(trap '' TRAP; kill -TRAP $BASHPID; echo "ignored")
(kill -TRAP $BASHPID; echo "not reached")
echo "child died of $?"
sleep 1000 & sleep 0.2; kill -STOP $!; sleep 0.5; jobs -s | grep -c Stopped
kill -CONT $!; sleep 0.5; set +m; kill -KILL $!; wait $!
echo "stopped and killed: $?"
exec 3<<<"here"; read -r word <&3; echo "$word"
trap 'echo "exit trap, status $?"' EXIT
exit 4
SCRIPT
}
run() { profiled bash "$DATA/script"; }
filter_says='process ids'
filter()
{
	sed -E 's/(of process )[0-9]+/\1PID/; s/((line [0-9]+:|\[[0-9]+\][+-]?)) +[0-9]+ /\1 PID /'
}
