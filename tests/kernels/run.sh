#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run - the tests on other kernels, which QEMU emulates
#
#	B=BUILD tests/kernels/run.sh [VMLINUZ...]
#
# Without VMLINUZ, the kernels for virtual machines that apt knows: of Debian 12
# the stable one and the newer one from its updates. They have what we use of a
# kernel, debug registers included; QEMU has no PMU. ONLY= chooses tests by
# words, as tests/run does, CPU= the processor. A kernel has an hour.
#
# The root of the machine is in memory: programs and libraries of this system
# (programs.txt), the project and its build. Its console has what tests/run
# prints. A test may need ten times as long as here.

set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
B=${B:-$TOP/build}
CPU=${CPU:-max}
WORK=$(mktemp -d) || exit 1
trap 'rm -rf "$WORK"' EXIT
ROOT=$WORK/root

fail()
{
	echo "tests/kernels: $*" >&2
	exit 1
}

# put FILE... - copy files to the root
put()
{
	local file

	for file; do
		[ -e "$ROOT$file" ] || install -D "$file" "$ROOT$file"
	done
}

# Copy the libraries that the programs in FILE... load.
put_libraries()
{
	local library

	ldd "$@" 2>/dev/null | grep -o '/[^ ]*[^: ]' | grep -v "^$B" | sort -u |
		while read -r library; do
			put "$library"
		done
}

put_system()
{
	local name

	mkdir -p "$ROOT"/{proc,sys,dev,tmp,etc,root,usr/{bin,sbin,lib,lib64}}
	for name in bin sbin lib lib64; do
		ln -s "usr/$name" "$ROOT/$name"
	done
	while read -r name; do
		[ -x "/usr/bin/$name" ] || fail "no /usr/bin/$name"
		put "/usr/bin/$name"
	done < <(grep -v '^#' "$TOP/tests/kernels/programs.txt")
	put_libraries "$ROOT"/usr/bin/*
	# python3 by its real name, with its library
	name=$(readlink -f /usr/bin/python3)
	put "$name"
	put_libraries "$name"
	ln -sf "$(basename "$name")" "$ROOT/usr/bin/python3"
	mkdir -p "$ROOT/usr/lib/$(basename "$name")"
	cp -a "/usr/lib/$(basename "$name")/." "$ROOT/usr/lib/$(basename "$name")"
	# loaded by name, so that ldd does not list it
	put /lib/x86_64-linux-gnu/libgcc_s.so.1
	cp -a /etc/ld.so.conf* "$ROOT/etc/"
	/sbin/ldconfig -r "$ROOT"
	echo 'root:x:0:0:root:/root:/bin/bash' >"$ROOT/etc/passwd"
}

# The project, and of its build what tests run.
put_project()
{
	mkdir -p "$ROOT/p/build"
	(cd "$TOP" && cp -a tests preload src "$ROOT/p/")
	(cd "$B" && find ./*.so reusetrack microbench tests/programs tests/oracle \
		tests/preload ./tests/*.so -type f ! -name '*.d' ! -name '*.o' |
		cpio -pdm --quiet "$ROOT/p/build")
	put_libraries $(find "$ROOT/p/build" -type f -perm -1)
	install "$TOP/tests/kernels/init" "$ROOT/init"
	echo "ONLY='${ONLY:-}'" >"$ROOT/only"
}

# Fetch the kernels that apt knows into build/kernels; print their names.
fetch()
{
	local package image

	mkdir -p "$B/kernels"
	for package in linux-image-cloud-amd64 linux-image-6.12-cloud-amd64; do
		image=$(apt-cache depends "$package" 2>/dev/null |
			sed -n 's/^ *Depends: \(linux-image-\)/\1/p')
		[ -n "$image" ] || continue
		if ! [ -e "$B/kernels/$image" ]; then
			(cd "$WORK" && apt-get -qq download "$image" &&
				dpkg-deb --fsys-tarfile "$image"_*.deb |
				tar -xO --wildcards './boot/vmlinuz-*' >image) ||
				fail "cannot fetch $image"
			mv "$WORK/image" "$B/kernels/$image"
		fi
		echo "$B/kernels/$image"
	done
}

# boot VMLINUZ - true if all tests passed
boot()
{
	timeout 3600 qemu-system-x86_64 -M q35 -accel tcg,thread=multi \
		-cpu "$CPU" -smp 2 -m 3000 -nic none -nographic -no-reboot \
		-kernel "$1" -initrd "$WORK/root.cpio" \
		-append 'console=ttyS0 rdinit=/init quiet panic=-1' \
		</dev/null 2>&1 | tr -d '\r' | tee "$WORK/console" |
		sed -u -n 's/.*\(Linux [0-9]\)/\1/; /^Linux [0-9]/,/^STATUS /p'
	grep -q '^STATUS 0$' "$WORK/console"
}

put_system
put_project
(cd "$ROOT" && find . | cpio -o -H newc --quiet) >"$WORK/root.cpio" ||
	fail "cannot make the root"
rm -rf "$ROOT"
[ $# -gt 0 ] || mapfile -t kernels < <(fetch)
[ $# -eq 0 ] || kernels=("$@")
[ ${#kernels[@]} -gt 0 ] || fail "no kernel; give a vmlinuz"
bad=0
for kernel in "${kernels[@]}"; do
	boot "$kernel" || { bad=1; echo "FAILED on $kernel"; }
done
exit $bad
