#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare what two builds cost: a sample, a hook, an emulated access.

    same_cost.py BASE [PAIRS [WORD]]

BASE and B (default build) are build directories. Each case runs under one and
then under the other, PAIRS times (default 10); every other pair reverses the
order. WORD chooses the cases whose name contains it. A pair's ratio is the cost
with B over that with BASE. The table has the median of the costs and of the
ratios, with the ratios' 95 % interval.

A sample's cost is the time in our handler by the profile, a sample. That of a hook and of an emulated
access is CPU time of the whole program.
"""
import glob
import os
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bench_summary import interval_text, median_interval

PAGE, THREADS, THREAD_BYTES, PAGE_HEADER = 4096, 1, 512, 64
INTERRUPTS, HANDLER_NS = 64, 392


def handler_time(out):
    """ns in the handler, a sample, over all threads of a run."""
    interrupts = ns = 0
    for name in glob.glob(out + '/*.cdp'):
        with open(name, 'rb') as f:
            data = f.read()
        for page in range(PAGE, len(data), PAGE):
            section, n = struct.unpack_from('<II', data, page)
            if section != THREADS:
                continue
            for i in range(n):
                at = page + PAGE_HEADER + i * THREAD_BYTES
                interrupts += struct.unpack_from('<Q', data, at + INTERRUPTS)[0]
                ns += struct.unpack_from('<Q', data, at + HANDLER_NS)[0]
    if interrupts < 100:
        raise SystemExit(f'{out}: only {interrupts} samples')
    return ns / interrupts


def run(command, env=None):
    """CPU time of the command, s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=dict(os.environ, **(env or {})),
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime +
            after.ru_stime - before.ru_stime)


def sample_case(*command, **variables):
    def cost(build, work):
        out = work + '/out'
        shutil.rmtree(out, ignore_errors=True)
        run([c.replace('@B', build) for c in command],
            {'COMDET_OUT': out, 'COMDET_FREQ': '1000',
             'LD_PRELOAD': build + '/libcomdet.so', **variables})
        return handler_time(out) / 1000
    return cost


def hook_case(*command, **variables):
    def cost(build, work):
        shutil.rmtree(work + '/out', ignore_errors=True)
        env = dict(variables)
        if env:
            env['LD_PRELOAD'] = build + '/libcomdet.so'
            env['COMDET_OUT'] = work + '/out'
        return run([c.replace('@B', build) for c in command], env)
    return cost


def emu_case(settings, *command):
    def cost(build, work):
        shutil.rmtree(work + '/out', ignore_errors=True)
        plugin = f'{build}/libcomdet-qemu.so,out={work}/out{settings}'
        return run(['qemu-x86_64', '-cpu', 'max', '-plugin', plugin,
                    *(c.replace('@B', build) for c in command)])
    return cost


def cases(data):
    kernels = '@B/tests/programs/instr/kernels'
    sharing = ('@B/microbench/false_sharing', '--threads', '2', '--seconds',
               '2')
    loop = ('@B/microbench/false_sharing', '--threads', '1', '--iterations',
            '60000000')
    return [
        ('sample, false_sharing, us', sample_case(*sharing)),
        ('sample, xz, us', sample_case('xz', '-T1', '-2', '-c', data)),
        ('sample, pigz, us', sample_case('pigz', '-p2', '-c', data)),
        ('sample, reuse, xz, us',
         sample_case('xz', '-T1', '-2', '-c', data, COMDET_MODE='reuse')),
        ('hooks, quicksort, s', hook_case(kernels, 'quicksort', '60')),
        ('hooks, matrix, s', hook_case(kernels, 'matrix_multiply', '40')),
        ('hooks sampled, quicksort, s',
         hook_case(kernels, 'quicksort', '60', COMDET_PERIOD='100000')),
        ('hooks and reuse, quicksort, s',
         hook_case(kernels, 'quicksort', '60', COMDET_PERIOD='100000',
                   COMDET_MODE='reuse')),
        ('emu, sampled, s', emu_case('', *loop)),
        ('emu, exact, s', emu_case(',exact=1', *loop)),
        ('emu, exact, gzip, s',
         emu_case(',exact=1', '/usr/bin/gzip', '-1', '-c', data + '.small')),
        ('emu, reuse, gzip, s',
         emu_case(',mode=reuse', '/usr/bin/gzip', '-1', '-c', data + '.small')),
    ]


def main():
    if len(sys.argv) not in (2, 3, 4):
        raise SystemExit(__doc__.splitlines()[2].strip())
    base = os.path.abspath(sys.argv[1])
    build = os.path.abspath(os.environ.get('B', 'build'))
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    word = sys.argv[3] if len(sys.argv) > 3 else ''
    for name in [n for n in os.environ if n.startswith('COMDET_')]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as work:
        data = work + '/data'
        text = b''.join(b'%d %d\n' % (i, i * i * 7919 % 1000003)
                        for i in range(1500000))
        with open(data, 'wb') as f:
            f.write(text)
        with open(data + '.small', 'wb') as f:
            f.write(text[:2 << 20])
        print('| case | before | after | ratio | 95 % |')
        print('|---|---|---|---|---|', flush=True)
        for name, cost in cases(data):
            if word not in name:
                continue
            got = {base: [], build: []}
            for i in range(pairs):
                for b in (base, build) if i % 2 else (build, base):
                    got[b].append(cost(b, work))
            ratio = [a / b for a, b in zip(got[build], got[base])]
            print(f'| {name} | {statistics.median(got[base]):.3f} '
                  f'| {statistics.median(got[build]):.3f} '
                  f'| {statistics.median(ratio):.3f} '
                  f'| {interval_text(median_interval(ratio))} |', flush=True)


if __name__ == '__main__':
    main()
