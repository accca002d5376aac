#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_docs - the documents agree with the project
#
# Each relative link in the documents resolves, its anchor too. Each path of the
# project in backticks exists. Each verb has a man page; its help and that page
# name the same options. libcomdet.7 lists every COMDET_ variable that the
# preload reads. The programs print the words of the sessions that README and
# tutorial show. The check runs on a broken copy of each kind first, and must
# find what is wrong there.
#
# covers: docs analysis/cmd analysis/record analysis/report preload/core

. "$(dirname "$0")/e2e.sh"

cat >"$WORK/links.py" <<'END'
"""links.py TOP - print what is wrong with links and paths below TOP"""
import os, re, subprocess, sys

top = sys.argv[1]
bad = []

def files():
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        if os.path.exists(os.path.join(top, name)):
            yield name
    for where, _, names in os.walk(os.path.join(top, "docs")):
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(where, name), top)

def without_code(text):
    """Blocks in fences, and indented ones, hold no links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"^(    |\t).*$", "", text, flags=re.M)

def anchors(path):
    """Names of the headings, as GitHub makes them."""
    seen, out = {}, set()
    for line in without_code(open(path).read()).split("\n"):
        m = re.match(r"#+ +(.*)", line)
        if not m:
            continue
        name = re.sub(r"[^\w\- ]", "", m.group(1).lower()).replace(" ", "-")
        n = seen.get(name, 0)
        seen[name] = n + 1
        out.add(name + ("-%d" % n if n else ""))
    return out

def check_links(name, text):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+://", target):
            continue
        path, _, anchor = target.partition("#")
        full = os.path.join(top, os.path.dirname(name), path) if path \
            else os.path.join(top, name)
        if not os.path.exists(full):
            bad.append("%s: no file %s" % (name, target))
        elif anchor and full.endswith(".md") and anchor not in anchors(full):
            bad.append("%s: no heading %s" % (name, target))

ROOMS = "src|preload|analysis|microbench|tests|docs"
PATH = re.compile(r"(?:%s)/[\w./*{},-]*\w[*}/]?" % ROOMS)

def project_files():
    """What git knows or would add; without git, all but what was built."""
    git = subprocess.run(
        ["git", "-C", top, "ls-files", "-co", "--exclude-standard"],
        capture_output=True, text=True)
    if not git.returncode:
        return git.stdout.split("\n")
    return [os.path.relpath(os.path.join(where, f), top)
            for where, _, names in os.walk(top) for f in names
            if "/build/" not in where + "/"]

tracked = set(project_files())

def exists(path):
    """A file, a folder, a pattern of files; NAME and X stand for any name."""
    path = path.rstrip("/")
    path = re.sub(r"(?<![A-Za-z])(NAME|DIR|VERB|SOURCE|X|x)(?![A-Za-z])", "*",
                  path)
    parts = re.split(r"(\*|\{[^}]*\})", path)
    rule = "".join("[^/]*" if p == "*" else
                   "(" + p[1:-1].replace(".", r"\.").replace(",", "|") + ")"
                   if p.startswith("{") else re.escape(p) for p in parts)
    rule = re.compile(rule + r"(/.*)?$")
    return any(rule.match(f) for f in tracked)

def check_paths(name, text):
    """Rooms that a table announces as "to come" may be missing."""
    text = re.sub(r"^\|.*\| to come:.*$", "", text, flags=re.M)
    for span in re.findall(r"`([^`\n]+)`", text):
        for word in span.split():
            if PATH.fullmatch(word) and not exists(word):
                bad.append("%s: no file `%s`" % (name, word))

for name in files():
    text = without_code(open(os.path.join(top, name)).read())
    check_links(name, text)
    check_paths(name, text)
print("\n".join(bad))
END

cat >"$WORK/quoted.py" <<'END'
"""quoted.py TOP SOURCES - print lines of sessions that no program prints

A line is printed if half of the pairs of neighbouring words in it are in one
of the strings of the sources: the rest may come from formats.
"""
import os, re, sys

top, sources = sys.argv[1:]

def strings(where):
    for folder, _, names in os.walk(os.path.join(sources, where)):
        for name in names:
            if not name.endswith((".c", ".h")):
                continue
            code = open(os.path.join(folder, name)).read()
            for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', code):
                s = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', run))
                yield re.sub(r"\\[nt]", " ", s)

known = " ".join(" | ".join(s for room in ("analysis", "preload", "src")
                            for s in strings(room)).split())
for name in ("README.md", "docs/tutorial.md"):
    if not os.path.exists(os.path.join(top, name)):
        continue
    text = open(os.path.join(top, name)).read()
    for session in re.findall(r"^```\n(\$.*?)^```", text, flags=re.M | re.S):
        for line in session.split("\n"):
            if line.startswith("$"):
                continue
            for words in re.findall(r"[a-z]+(?: [a-z]+){3,}", line):
                w = words.split()
                pairs = [" ".join(w[i:i + 2]) for i in range(len(w) - 1)]
                if 2 * sum(p in known for p in pairs) < len(pairs):
                    print("%s: nothing prints \"%s\"" % (name, words))
END

# help_options VERB - those that its help describes, each at a line's beginning
help_options()
{
	"$TOOL" "$1" --help | grep -oE '^ +(-[A-Za-z], )?--[a-z-]+' |
		grep -oE -- '--?[A-Za-z][a-z-]*' | sort -u
}

# page_options PAGE - those that a man page describes, each in a list item
page_options()
{
	grep -E '^\.It .*Fl ' "$1" | grep -oE 'Fl -?[A-Za-z][a-z-]*' |
		sed 's/Fl /-/' | sort -u
}

# check_pages DIR - help and man pages of every verb in DIR agree
check_pages()
{
	local verb page option

	for verb in $("$TOOL" --help | awk '/^  [a-z]+ / { print $1 }' |
		grep -v reusetrack); do
		page=$1/reusetrack-$verb.1
		[ -e "$page" ] || { echo "no man page of $verb"; continue; }
		grep -q "^\.It Cm $verb$" "$1/reusetrack.1" ||
			echo "reusetrack.1 does not list $verb"
		[ -z "$(man --warnings -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" ] ||
			echo "reusetrack-$verb.1 does not format"
		comm -23 <(help_options "$verb") <(page_options "$page") |
			sed "s/$/: in the help of $verb, not in its man page/"
		comm -13 <(help_options "$verb") <(page_options "$page") |
			sed "s/$/: in the man page of $verb, not in its help/"
	done
	for page in "$1"/reusetrack-*.1; do
		verb=${page##*/reusetrack-}
		"$TOOL" help "${verb%.1}" >/dev/null 2>&1 ||
			echo "a man page of ${verb%.1}, which is no verb"
	done
}

# check_variables PAGE - the page lists what the preload reads, and no more
check_variables()
{
	local read known

	read=$(cd "$TOP" && grep -rhoE '"COMDET_[A-Z_]+"' preload analysis/record |
		tr -d '"' | sort -u)
	for known in $read; do
		case $known in
		COMDET_LIB | COMDET_QEMU_LIB | COMDET_HEAP_LIB)	# of record alone
			continue ;;
		esac
		grep -q "$known" "$1" "$TOP/docs/man/reusetrack-record.1" ||
			echo "no man page has $known"
	done
	for known in $(grep -oE 'Ev COMDET_[A-Z_]+' "$1" | cut -c4- | sort -u); do
		(cd "$TOP" && grep -rqE "\"?${known}\"?|\"${known#COMDET_}\"" \
			preload analysis/record) || echo "$known is read nowhere"
	done
}

# must TEXT OUTPUT - the broken copy was noticed
must()
{
	grep -qF -- "$1" <<<"$2" || fail "not noticed: $1 (found: $2)"
}

# A tree with one fault of each kind.
mkdir -p "$WORK/tree/docs/man" "$WORK/tree/src"
git -C "$WORK/tree" init -q
touch "$WORK/tree/src/here.c"
cat >"$WORK/tree/README.md" <<'END'
# One
[good](docs/page.md#two-words), [bad](docs/none.md), [bad](docs/page.md#three)
`src/here.c` and `src/gone.c`, not `a/b.c` or `build/x`; `src/{here,lost}.c`
END
printf '# Page\n\n## Two words\n' >"$WORK/tree/docs/page.md"
found=$(python3 "$WORK/links.py" "$WORK/tree")
must "no file docs/none.md" "$found"
must "no heading docs/page.md#three" "$found"
must "no file \`src/gone.c\`" "$found"
[ "$(wc -l <<<"$found")" = 3 ] || fail "found too much: $found"

printf '```\n$ run\nThis is a map\nno program utters such sentences\n```\n' \
	>"$WORK/tree/README.md"
found=$(python3 "$WORK/quoted.py" "$WORK/tree" "$TOP")
must "nothing prints \"no program utters such sentences\"" "$found"
[ "$(wc -l <<<"$found")" = 1 ] || fail "found too much: $found"

cp "$TOP"/docs/man/* "$WORK/tree/docs/man"
cd "$WORK/tree/docs/man" || exit 1
rm reusetrack-list.1
cp reusetrack-doctor.1 reusetrack-nothing.1
sed -i '/^\.It Fl -json/d' reusetrack-doctor.1
sed -i 's/^\.It Fl -no-symbols/&\n.It Fl -wrong/' reusetrack-report.1
sed -i '/COMDET_STALLED/d' libcomdet.7
echo '.It Ev COMDET_UNREAD' >>libcomdet.7
found=$(check_pages .)
must "no man page of list" "$found"
must "a man page of nothing" "$found"
must "--json: in the help of doctor" "$found"
must "--wrong: in the man page of report" "$found"
found=$(check_variables libcomdet.7)
must "no man page has COMDET_STALLED" "$found"
must "COMDET_UNREAD is read nowhere" "$found"

# The project itself.
found=$(python3 "$WORK/links.py" "$TOP"
	python3 "$WORK/quoted.py" "$TOP" "$TOP"; check_pages "$TOP/docs/man"
	check_variables "$TOP/docs/man/libcomdet.7")
found=$(grep . <<<"$found")
[ -z "$found" ] || fail "the documents are wrong:
$found"
echo "links, paths, man pages and help agree"
