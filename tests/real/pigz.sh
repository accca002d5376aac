# SPDX-License-Identifier: MIT
# Two compressing threads fed by a reader, over 128 MB.
needs=pigz
working=2
version() { pigz --version 2>&1 | grep -o '[0-9.]*$'; }
prepare() { "$B/tests/programs/help_text" 128 >text; }
run()
{
	profiled pigz -9 -p 2 -c "$DATA/text" >text.gz
	echo "status $?"
	sha256sum <text.gz
	pigz -dc text.gz | cmp - "$DATA/text" && echo restored
}
