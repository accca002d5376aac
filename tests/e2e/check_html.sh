#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_html - the page of report --html works in a real browser
#
# Chromium opens the pages of a run with sharing, of one with call paths, of one
# with reuse and of one whose names are markup, and a script at the page's end uses them as a reader
# does: it sorts, searches, types and switches. All parts must be there, no
# console message may appear, and nothing may be loaded. Pictures of the pages stay
# in build/screenshots for people to look at.
#
# covers: analysis/html analysis/report

. "$(dirname "$0")/e2e.sh"
cd "$WORK" || exit 1

browser=$(command -v chromium || command -v chromium-browser) ||
	skip 'no browser: install the package chromium'

# What a reader does; the results go into the title, one word each.
cat >reader.js <<'END'
window.addEventListener("load", () => {
	const seen = [], $ = s => document.querySelector(s);
	const rows = () => document.querySelectorAll("tbody tr").length;
	const press = (key, on) => on.dispatchEvent(
		new KeyboardEvent("keydown", { key, bubbles: true }));
	const loaded = performance.getEntriesByType("resource").length;
	seen.push("parts=" + [...document.querySelectorAll("h2")].map(h => h.id).join(","));
	seen.push("cells=" + document.querySelectorAll("#matrix ~ div svg rect title").length);
	seen.push("curves=" + document.querySelectorAll("polyline").length);
	const flame = () => [...document.querySelectorAll(".flame rect title")].map(t => t.textContent);
	seen.push("calls=" + flame().filter(t => /^(left|right)_middle help_callers.c:[0-9]+: /.test(t)).length);
	seen.push("tree=" + document.querySelectorAll(".tree summary").length);
	if (flame().length) {
		const all = flame().length, one = document.querySelectorAll(".flame rect")[1];
		one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
		seen.push("zoomed=" + (flame().length <= all));
		$("#paths ~ div button").click();
		seen.push("whole=" + (flame().length === all));
	}
	seen.push("bars=" + document.querySelectorAll("#reuse ~ div svg rect").length);
	const button = $("#threads ~ div th button");
	button.focus();
	button.click();
	const up = button.parentNode.getAttribute("aria-sort");
	button.click();
	seen.push("sort=" + up + "," + button.parentNode.getAttribute("aria-sort"));
	press("/", document.body);
	seen.push("focus=" + document.activeElement.id);
	const before = rows();
	$("#search").value = "no such words";
	$("#search").dispatchEvent(new Event("input"));
	seen.push("found=" + rows());
	press("Escape", $("#search"));
	seen.push("again=" + (rows() === before));
	const theme = document.documentElement.getAttribute("data-theme");
	$("#theme").click();
	seen.push("theme=" + (document.documentElement.getAttribute("data-theme") !== theme));
	for (const e of document.querySelectorAll("select"))
		for (const o of e.options) {
			e.value = o.value;
			e.dispatchEvent(new Event("change"));
		}
	const slider = $("#time ~ div input[type=range]");
	if (slider) {
		const strips = $("svg.strips"), marked = () => $("svg.strips rect[stroke]");
		const said = () => slider.getAttribute("aria-valuetext");
		const box = strips.getBoundingClientRect();
		seen.push("strips=" + document.querySelectorAll("svg.strips rect title").length);
		seen.push("run=" + said().replaceAll(" ", "_"));
		slider.value = "1";
		slider.dispatchEvent(new Event("input"));
		seen.push("first=" + said().replaceAll(" ", "_"));
		strips.dispatchEvent(new MouseEvent("click", { bubbles: true,
			clientX: box.left + box.width * 0.9, clientY: box.top + 10 }));
		seen.push("clicked=" + (Number(slider.value) > 1) + "," + marked().getAttribute("visibility"));
		slider.value = "0";
		slider.dispatchEvent(new Event("input"));
		seen.push("whole_run=" + marked().getAttribute("visibility"));
	}
	seen.push("loaded=" + loaded);
	seen.push("scripts=" + document.scripts.length);
	document.title = "seen " + seen.join(" ");
});
END

# visit DIR - what the reader saw, and the console's messages
visit()
{
	"$TOOL" report --html page.html "$1" 2>/dev/null || fail "report of $1"
	{
		cat page.html
		echo '<script>'
		cat reader.js
		echo '</script>'
	} >visited.html
	timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu \
		--user-data-dir="$WORK/browser" --enable-logging=stderr --v=0 \
		--virtual-time-budget=20000 --dump-dom \
		"file://$WORK/visited.html" >dom 2>log ||
		fail "the browser: $(tail -1 log)"
	if grep -q CONSOLE log; then
		fail "$1: $(grep -m1 CONSOLE log)"
	fi
	grep -o '<title>seen [^<]*' dom | sed 's/<title>seen //' >seen
	[ -s seen ] || fail "$1: the page's reader did not finish"
}

# shoot NAME - keep pictures of the page that visit made, light and dark
shoot()
{
	local theme

	mkdir -p "$B/screenshots"
	for theme in light dark; do
		{
			cat page.html
			printf '<script>document.documentElement.setAttribute('
			printf '"data-theme", "%s");</script>\n' "$theme"
		} >shown.html
		timeout 300 "$browser" --headless=new --no-sandbox --disable-gpu \
			--user-data-dir="$WORK/browser" --hide-scrollbars \
			--window-size=1280,4000 --virtual-time-budget=20000 \
			--screenshot="$WORK/$1-$theme.png" \
			"file://$WORK/shown.html" >/dev/null 2>&1
		[ -s "$WORK/$1-$theme.png" ] || fail "no picture of $1, $theme"
		mv "$WORK/$1-$theme.png" "$B/screenshots/"
	done
	cmp -s "$B/screenshots/$1-light.png" "$B/screenshots/$1-dark.png" &&
		fail "$1: light is dark"
}

# says WORD - the reader saw it
says()
{
	tr ' ' '\n' <seen | grep -qx -- "$1" || fail "$1 is not in: $(cat seen)"
}

always()
{
	says sort=descending,ascending
	says focus=search
	says found=0
	says again=true
	says theme=true
	says loaded=0
	says scripts=4
}

"$TOOL" record -s emu -p 500 -o shares -- "$B/microbench/false_sharing" \
	>/dev/null 2>&1 || fail 'record'
visit shares
shoot shares
says parts=answer,matrix,time,fixes,objects,code,threads,method,whole
tr ' ' '\n' <seen | grep -q '^cells=[1-9]' || fail "no matrix: $(cat seen)"
tr ' ' '\n' <seen | grep -q '^strips=[1-9]' || fail "no strips: $(cat seen)"
says run=The_whole_run
grep -q 'first=0_ms_to_[1-9]' seen || fail "the slider: $(cat seen)"
says clicked=true,visible
says whole_run=hidden
always

"$TOOL" record -s emu -m reuse -o reuses -- gzip -9 -c "$TOOL" \
	>/dev/null 2>&1 || fail 'record -m reuse'
visit reuses
shoot reuses
grep -q 'parts=[^ ]*reuse,sites' seen || fail "no reuse: $(cat seen)"
says curves=1
tr ' ' '\n' <seen | grep -q '^bars=[1-9]' || fail "no bars: $(cat seen)"
always

if [ "$(nproc)" -ge 2 ]; then
	"$TOOL" record -g -F 1000 -o calls -- "$B/tests/programs/help_callers" 120 \
		>/dev/null 2>&1 || fail 'record -g'
	visit calls
	shoot calls
	says parts=answer,matrix,time,fixes,objects,code,paths,threads,method,whole
	tr ' ' '\n' <seen | grep -q '^calls=[1-9]' || fail "no calls: $(cat seen)"
	tr ' ' '\n' <seen | grep -q '^tree=[1-9]' || fail "no tree: $(cat seen)"
	says zoomed=true
	says whole=true
	always
fi

# A program whose name is markup, and ends the page's script.
mkdir bin && cp "$B/microbench/false_sharing" \
	'bin/<b onclick=alert(1)>"&amp;' || exit 1
"$TOOL" record -s emu -p 500 -o evil -- 'bin/<b onclick=alert(1)>"&amp;' \
	'</script><script>document.title="gone"</script><!--' >/dev/null 2>&1
visit evil
always
grep -q '<b onclick' dom && fail 'a name became markup'
echo 'the pages, in all their parts, without a message or a request'
