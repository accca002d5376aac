# SPDX-License-Identifier: MIT
# Lines of 64 MB sorted in memory by two threads.
needs=sort
working=2
version() { sort --version | grep -om 1 '[0-9.]*$'; }
prepare() { "$B/tests/programs/help_text" 64 | tr ' ' '\n' >lines; }
run()
{
	LC_ALL=C profiled sort --parallel=2 -S 2G "$DATA/lines" >sorted
	echo "status $?"
	sha256sum <sorted
	LC_ALL=C sort -c sorted && echo sorted
}
