# SPDX-License-Identifier: MIT
# 128 MB compressed by two workers.
needs=zstd
working=2
version() { zstd --version | grep -o 'v[0-9.]*'; }
prepare() { "$B/tests/programs/help_text" 128 >text; }
run()
{
	profiled zstd -T2 -7 -q -c "$DATA/text" >text.zst
	echo "status $?"
	sha256sum <text.zst
	zstd -dc text.zst | cmp - "$DATA/text" && echo restored
}
