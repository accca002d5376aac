#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
check - hold the sources to the rules of structure

    check.py [--report] [--top TREE] [--build BUILD] [CHECK...]

The checks are folders, circles, headers, lengths and repeats; without a name
all of them run. They read symbols from the objects in BUILD. With --report the
exit status is always 0. CONTRIBUTING.md and docs/design.md have the rules.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

import circles
import folders
import headers
import repeats
from exceptions import Exceptions
from tree import Tree

HERE = os.path.dirname(os.path.abspath(__file__))
CHECKS = ('folders', 'circles', 'headers', 'lengths', 'repeats')


def check(tree, names=CHECKS):
    """What is wrong with @tree, one line or paragraph each"""
    allowed = Exceptions(tree.top)
    run = {
        'folders': lambda: folders.check(tree),
        'circles': lambda: circles.check(tree, allowed),
        'headers': lambda: headers.check(tree, allowed),
        'lengths': lambda: headers.check_lengths(tree),
        'repeats': lambda: repeats.check(tree, allowed),
    }
    if set(names) & {'folders', 'circles', 'headers'}:
        for source in tree.not_built():
            yield f'{source}: not built'
    for name in names:
        yield from run[name]()
        yield from allowed.unused(name)


def main():
    arguments = argparse.ArgumentParser(usage=__doc__)
    arguments.add_argument('--report', action='store_true')
    arguments.add_argument('--top', default=os.path.dirname(os.path.dirname(HERE)))
    arguments.add_argument('--build')
    arguments.add_argument('names', nargs='*', metavar='CHECK')
    given = arguments.parse_args()
    names = given.names or CHECKS
    if set(names) - set(CHECKS):
        arguments.error('the checks are ' + ', '.join(CHECKS))
    tree = Tree(given.top, given.build or os.path.join(given.top, 'build'))
    count = 0
    for wrong in check(tree, names):
        print(wrong)
        count += 1
    if given.report:
        print(f'{count} found')
    return 1 if count and not given.report else 0


if __name__ == '__main__':
    sys.exit(main())
