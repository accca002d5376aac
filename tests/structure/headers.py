# SPDX-License-Identifier: MIT
"""
headers - one header for each module, and no file too long

X.h declares only functions and variables that X.c or X_*.c of the same folder
defines. X_internal.h does too, and only the files of X and tests include it. A
source never declares the functions of another one itself.
"""

import os
import re

import c_text
from folders import linked_with

MOST_LINES = 500
PARTS = ('src', 'preload', 'analysis')


def module_of(header):
    return re.sub(r'(_internal)?\.h$', '', header)


def belongs(source, module):
    """Is @source X.c or X_*.c of the module X?"""
    name = source[:-2]
    return name == module or (name.startswith(module + '_') and
                              os.path.dirname(name) == os.path.dirname(module))


def check(tree, allowed):
    definers = {}
    for source, obj in tree.objects.items():
        for symbol in obj.defines:
            definers.setdefault(symbol, []).append(source)
    for header in tree.headers(*PARTS):
        yield from _check_header(tree, header, definers, allowed)
    for source in tree.sources(*PARTS):
        yield from _check_source(tree, source, definers)
    for name in tree.files:
        yield from _check_internal(tree, name)


def _check_header(tree, header, definers, allowed):
    strange = {}
    for name in c_text.declared(tree.text[header]):
        if allowed.use('foreign', header):
            return
        if name not in definers:
            yield f'{header}: declares {name}, which no file defines'
        elif not any(belongs(d, module_of(header)) for d in definers[name]):
            strange.setdefault(definers[name][0], []).append(name)
    if strange and all(len(names) == 1 for names in strange.values()):
        if allowed.use('lists', header):
            return
    for source, names in sorted(strange.items()):
        yield f'{header}: declares {" ".join(names)} of {source}'


def _check_source(tree, source, definers):
    defines = tree.objects[source].defines if source in tree.objects else set()
    for name in c_text.declared(tree.text[source]):
        others = linked_with(source, definers.get(name, []), True)
        if others and name not in defines:
            yield (f'{source}: declares {name} of {others[0]} itself: include '
                   'a header')


def _check_internal(tree, name):
    """X_internal.h is for X.c, X_*.c and their tests."""
    if name.split('/')[0] not in PARTS:
        return
    for header, _ in tree.includes(name):
        if (header and header.endswith('_internal.h') and
                not belongs(name, module_of(header))):
            yield f'{name}: includes {header}, which is of another module'


def check_lengths(tree):
    for name in tree.files:
        lines = tree.text[name].count('\n')
        if lines > MOST_LINES:
            yield f'{name}: {lines} lines, at most {MOST_LINES}'
