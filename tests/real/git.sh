# SPDX-License-Identifier: MIT
# git checks a generated repository, repacks it with two threads and collects
# garbage. The programs that git starts for that are followed.
needs='git python3'
working=2
children=1
filter_says='none; pack sizes are not printed'
version() { git --version | cut -d' ' -f3; }
prepare()
{
	cat >stream.py <<'PYTHON'
import random

rng = random.Random(7)
words = ["w%d" % i for i in range(3000)]
files = {}


def text(data):
    return "data %d\n%s\n" % (len(data), data)


for commit in range(150):
    print("commit refs/heads/main\ncommitter A <a@example.org> %d +0000"
          % (1000000000 + commit * 60))
    print(text("commit %d" % commit), end="")
    for n in rng.sample(range(200), 40):
        lines = files.setdefault(n, [])
        for _ in range(30):
            lines.insert(rng.randrange(len(lines) + 1),
                         " ".join(rng.choices(words, k=8)))
        print("M 100644 inline dir%d/file%d" % (n % 9, n))
        print(text("\n".join(lines)), end="")
PYTHON
	python3 stream.py >stream
}
run()
{
	export HOME=$PWD GIT_CONFIG_NOSYSTEM=1
	git init -q -b main repo && cd repo || return
	git fast-import --quiet <"$DATA/stream"
	profiled git repack -q -adf --threads=2 --window=60 --depth=40
	echo "repack $?"
	OUT=$OUT.gc profiled git -c gc.auto=1 gc -q
	echo "gc $?"
	OUT=$OUT.fsck profiled git fsck --full
	echo "fsck $?"
	OUT=$OUT.log profiled git log --stat main -- dir3 | sha256sum
	OUT=$OUT.blame profiled git blame main -- dir1/file1 | sha256sum
	OUT=$OUT.sh profiled git no-such-command
	echo "unknown command $?"
	git rev-parse main
	git count-objects -v | grep -E '^(count|in-pack|packs)'
}
