# SPDX-License-Identifier: MIT
# Blocks of a 64 MB text compressed by two threads.
needs=xz
working=2
version() { xz --version | grep -o '[0-9.]*$'; }
prepare() { "$B/tests/programs/help_text" 64 >text; }
run()
{
	profiled xz -T2 -1 --block-size=4MiB -c "$DATA/text" >text.xz
	echo "status $?"
	sha256sum <text.xz
	xz -dc text.xz | cmp - "$DATA/text" && echo restored
}
