#!/bin/bash
# SPDX-License-Identifier: MIT
#
# ablate_vectors - what the interpreter's vector arithmetic is worth
#
# Builds help_stepper, help_bias and libcomdet.so once more with no_vectors.c in
# them, and measures each thrice: with all instructions, without vector
# arithmetic, and without any vector instruction.
#
#	ablate_vectors.sh [windows] [bias] [detections]
#
# windows     how windows end that begin at random moments of real programs
#             (WINDOWS each, default 400); what is predicted is checked
# bias        distance of the chosen accesses from loops of known mix
# detections  of sharing, a sample, by the library itself
#
# docs/measurements/interpreter-vectors.md has the figures. Environment: B;
# ONLY names programs of "windows".

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}
A=$B/ablation
windows=${WINDOWS:-400}
modes='- arithmetic all'
[ $# -gt 0 ] || set -- windows bias detections

build()
{
	local wrap=-Wl,--wrap=interp_vector_handler name objects

	mkdir -p "$A" || exit 1
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -I"$TOP" -c \
		-o "$A/no_vectors.o" "$TOP/tests/oracle/no_vectors.c" || exit 1
	for name in help_stepper help_bias; do
		${CC:-gcc} -pthread $wrap -o "$A/$name" \
			"$B/obj/tests/programs/$name.o" "$A/no_vectors.o" \
			"$B"/obj/tests/oracle/{tracee,true_accesses}.o \
			"$B/libsrc.a" -lZydis -lm || exit 1
	done
	objects=$(cd "$TOP" && find preload -name '*.c' \
		! -path 'preload/emu/*' ! -path 'preload/instr/runtime/*' |
		sed "s:^:$B/obj/:; s:\.c$:.o:")
	${CC:-gcc} -shared -pthread -Wl,-z,now -Wl,-z,defs $wrap \
		-o "$A/libcomdet.so" $objects "$A/no_vectors.o" "$B/libsrc.a" \
		-lZydis -ldl || exit 1
}

# The stepper follows the first thread alone: let that do the work.
build_one_thread()
{
	${CC:-gcc} -O2 -fPIC -shared -x c -o "$A/one_thread.so" - <<-'END' || exit 1
		#include <pthread.h>
		int pthread_create(pthread_t *t, const pthread_attr_t *attr,
				   void *(*work)(void *), void *arg)
		{
			*t = pthread_self();
			work(arg);
			return 0;
		}
		int pthread_join(pthread_t t, void **value)
		{
			return 0;
		}
	END
}

# data DIR - what the programs work on
data()
{
	seq 1 300000 >"$1/numbers"
	head -c 6000000 "$B/libanalysis.a" >"$1/mixed"
	xz -1 -c "$1/mixed" >"$1/mixed.xz" 2>/dev/null
	zstd -q -3 -c "$1/mixed" >"$1/mixed.zst" 2>/dev/null
	python3 - "$1" <<-'END'
		import math, struct, sys
		d = sys.argv[1]
		w, h = 1600, 1200
		open(f"{d}/image.ppm", "wb").write(b"P6 %d %d 255\n" % (w, h) +
			bytes((x * y + x * 7 + c * 40) >> 3 & 255
			      for y in range(h) for x in range(w)
			      for c in range(3)))
		n = 44100 * 20
		s = b"".join(struct.pack("<h", int(9000 * math.sin(i / 20) +
			4000 * math.sin(i * i / 9e6))) for i in range(n))
		open(f"{d}/sound.wav", "wb").write(b"RIFF" +
			struct.pack("<I4s4sIHHIIHH4sI", 36 + len(s), b"WAVE",
			b"fmt ", 16, 1, 1, 44100, 88200, 2, 16, b"data",
			len(s)) + s)
	END
	cjpeg -quality 90 "$1/image.ppm" >"$1/image.jpg" 2>/dev/null
}

# wanted NAME - is it among those that ONLY names, if any?
wanted()
{
	[ -z "$ONLY" ] || [[ " $ONLY " == *" $1 "* ]]
}

# one NAME PROGRAM ARGS - a line: windows, and of 100 how many ended how
one()
{
	local name=$1 mode

	shift
	wanted "$name" || return
	command -v "$1" >/dev/null || { echo "$name: not installed"; return; }
	for mode in $modes; do
		NO_VECTORS=${mode#-} timeout 600 "$A/help_stepper" -w "$windows" \
			-n 10000000 -s 7 -- "$@" >"$A/log" 2>&1 </dev/null
		python3 - "$name" "$mode" "$A/log" <<-'END'
			import re, sys
			text = open(sys.argv[3], errors="replace").read()
			ends = {}
			for line in re.findall(r"^windows:(.*?);", text, re.M):
			    for end, n in re.findall(r" ([a-z ]+?) (\d+)", line):
			        ends[end] = int(n)
			wrong = re.findall(r"divergences (\d+)", text)
			n = max(sum(ends.values()), 1)
			why = ["unknown address", "unknown path", "undecoded",
			       "unreadable"]
			early = sum(ends.get(w, 0) for w in why)
			print(f"{sys.argv[1]:14} {sys.argv[2]:10} windows {n:4} "
			      f"early {100 * early / n:5.1f} %",
			      {w: ends[w] for w in why if w in ends},
			      f"divergences {wrong[-1] if wrong else '?'}",
			      flush=True)
		END
	done
}

measure_windows()
{
	local d=$A/data kernel=$B/microbench/kernel loop

	mkdir -p "$d"
	[ -e "$d/image.jpg" ] || data "$d"
	for loop in $("$B/microbench/mix" --list | awk '{ print $1 }'); do
		one "mix-$loop" "$B/microbench/mix" "$loop" --cpu-seconds 3
	done
	for loop in nbody stencil matmul join; do
		one $loop env LD_PRELOAD="$A/one_thread.so" "$kernel" \
			--kernel $loop --threads 1 --rounds 3000
	done
	one gzip gzip -9 -c "$d/mixed"
	one pigz pigz -p 1 -c "$d/mixed"
	one xz xz -c "$d/mixed"
	one unxz xz -dc "$d/mixed.xz"
	one zstd zstd -q -9 -c "$d/mixed"
	one unzstd zstd -q -dc "$d/mixed.zst"
	one lz4 lz4 -q -9 -c "$d/mixed"
	one sort sort -R "$d/numbers"
	one grep grep -c '9[0-9]*7' "$d/numbers"
	one python3 /usr/bin/python3 -c \
		'print(sum(i * 1.5 for i in range(2000000)))'
	one sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union
		all select x + 1 from c where x < 400000)
		select sum(x * x * 1.0) from c'
	one sha256 openssl dgst -sha256 "$B/libanalysis.a" "$d/mixed"
	one aes openssl enc -aes-256-ctr -K 00 -iv 00 -in "$d/mixed" -out /dev/null
	one flac flac -s -8 -c "$d/sound.wav"
	one cjpeg cjpeg "$d/image.ppm"
	one djpeg djpeg "$d/image.jpg"
	one cwebp cwebp -quiet -m 4 "$d/image.ppm" -o /dev/null
}

measure_bias()
{
	local loop mode

	for loop in $("$B/microbench/mix" --list | awk '{ print $1 }'); do
		for mode in $modes; do
			printf '%-10s ' "$mode"
			NO_VECTORS=${mode#-} timeout 600 "$A/help_bias" \
				-n "${SAMPLES:-10000}" -p 0 -- \
				"$B/microbench/mix" "$loop" 2>&1 | tail -n 1
		done
	done
}

# detect NAME PROGRAM ARGS - detections a sample with the library preloaded
detect()
{
	local name=$1 mode i

	shift
	command -v "$1" >/dev/null || { echo "$name: not installed"; return; }
	for mode in $modes; do
		for i in 1 2 3; do
			rm -rf "$A/out"
			NO_VECTORS=${mode#-} COMDET_OUT=$A/out COMDET_FREQ=2000 \
				LD_PRELOAD=$A/libcomdet.so "$@" \
				>/dev/null 2>"$A/log" </dev/null
			"$B/reusetrack" report --json "$A/out" >"$A/report.$i"
		done
		python3 - "$name" "$mode" "$A"/report.[123] <<-'END'
			import json, sys
			n = s = traps = e = 0
			lost = {}
			for f in sys.argv[3:]:
			    r = json.load(open(f))
			    for t in r["threads"]:
			        n += sum(t["samples"].values())
			        traps += t.get("exec_traps", 0)
			    cells = r.get("communication", {}).get("cells", [])
			    e += sum(c.get("traps", 0) for c in cells)
			    for k, v in r.get("loss", {}).items():
			        lost[k] = lost.get(k, 0) + v
			why = {k: round(100 * v / max(n, 1), 2)
			       for k, v in lost.items()
			       if "unknown" in k or "undecoded" in k}
			print(f"{sys.argv[1]:12} {sys.argv[2]:10} samples {n} "
			      f"detections/1000 {1000 * e / max(n, 1):.1f} "
			      f"breakpoints/sample {traps / max(n, 1):.3f} "
			      f"lost for want of a value, % {why}")
		END
	done
}

measure_detections()
{
	local d=$A/data

	mkdir -p "$d"
	[ -e "$d/image.jpg" ] || data "$d"
	detect mix-threads "$B/microbench/mix" threads --cpu-seconds 8
	detect sharing "$B/microbench/false_sharing" --threads 2 --false 0.5
	detect pigz pigz -9 -p 2 -c "$d/mixed" "$d/mixed"
	detect xz xz -T2 --block-size=1MiB -c "$d/mixed"
	detect zstd zstd -q -T2 -15 -c "$d/mixed"
}

build
build_one_thread
for what in "$@"; do
	measure_$what
done
