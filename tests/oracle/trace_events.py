#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
trace_events - the synchronization in a .trace file, read a second time

Prints a line for each event: thread, instructions of the thread so far, event,
object, argument; a star behind the event means outside the region of interest.
"""

import struct
import subprocess
import sys

EVENTS = {1: 'create', 2: 'join', 3: 'exit', 4: 'lock', 5: 'unlock',
          6: 'read_lock', 7: 'barrier', 8: 'cond_wait', 9: 'cond_signal',
          10: 'cond_broadcast', 11: 'sem_wait', 12: 'sem_post', 13: 'pair',
          14: 'sem_init', 15: 'set', 16: 'await', 17: 'begin'}
OUTSIDE = 64


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def chunks(data):
    at = 64
    while at < len(data):
        _, kind, thread, size, stored, _, _ = struct.unpack_from('<6IQ', data, at)
        content = data[at + 32:at + 32 + stored]
        at += 32 + stored
        if stored < size:
            content = subprocess.run(['zstd', '-dcq'], input=content, check=True,
                                     stdout=subprocess.PIPE).stdout
        yield kind, thread, content


def read_blocks(data):
    """How many instructions each block has."""
    at = 0
    while at < len(data):
        count, at = number(data, at)
        _, at = number(data, at)
        for _ in range(count):
            at += 1 + data[at]
        yield count


def events(stream, blocks):
    behind = {}
    at = block = done = 0
    while at < len(stream):
        token, at = number(stream, at)
        kind, value = token & 3, token >> 2
        if kind == 0:
            behind[block] = behind.get(block, 0) + (value >> 1 ^ -(value & 1))
            block = behind[block]
            done += blocks[block]
        elif kind == 3:
            first, at = number(stream, at)
            second, at = number(stream, at)
            yield done, value, first, second
        else:
            _, at = number(stream, at)


def main():
    with open(sys.argv[1], 'rb') as f:
        data = f.read()
    blocks, streams = [], {}
    for kind, thread, content in chunks(data):
        if kind == 1:
            blocks.extend(read_blocks(content))
        elif kind == 2:
            streams[thread] = streams.get(thread, b'') + content
    for thread in sorted(streams):
        for done, value, first, second in events(streams[thread], blocks):
            star = '*' if value & OUTSIDE else ''
            print(thread, done, EVENTS[value & ~OUTSIDE] + star, hex(first), second)


main()
