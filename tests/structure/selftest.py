#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
selftest - the checks find each kind of mistake

The checks must accept a small tree without a mistake. Then each case adds one
mistake, and the checks must report it.
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

from check import check
from tree import Tree

CC = os.environ.get('CC', 'gcc').split()

TABLES = '''\
| folder | what it is | may include | libraries | handlers |
|---|---|---|---|---|
| `src/base` | bottom | | | |
| `src/high` | above it | `src/base` | | all |
| `preload/common` | shared | `src` | | |
| `preload/core` | bottom | `preload/common` | | some |
| `preload/emu` | plugin | `preload/common` | `QEMU` | |
| `preload/instr/runtime` | linked | | | |
| `analysis/base` | bottom | `src` | `jansson` | |
| `analysis/room` | to come: a room | `analysis/base` | | |
| `analysis/cmd` | top | `analysis` | | |
| `microbench` | programs | | | |
| `tests` | tests | `src`, `preload`, `analysis` | | |
'''

EXCEPTIONS = '''\
circle analysis/cmd/a.c analysis/cmd/b.c
lists analysis/cmd/verbs.h
foreign preload/emu/qemu.h
repeats analysis/cmd/a.c analysis/cmd/b.c
'''

LOGIC = '''\
int {name}(int *{a}, int {b})
{{
	int {c} = 0;

	for (int i = 0; i < {b}; i++) {{
		if ({a}[i] > {number})
			{c} += {a}[i] * {b};
		while ({c} > {a}[0])
			{c}--;
	}}
	return {c} + {a}[{b}];
}}
'''

GOOD = {
    'docs/design.md': TABLES,
    'tests/structure/exceptions.txt': EXCEPTIONS,
    'src/base/signal_safe.h': '',
    'src/base/low.h': 'int low(void);\nextern int low_count;\n',
    'src/base/low.c': '#include "low.h"\nint low_count;\n'
                      'int low(void) { return low_count; }\n',
    'src/high/high.h': '/* int other(void); */\nint high(void);\n'
                       'int high_part(int (*f)(int), char *s[2]);\n'
                       'static inline int one(void) { return 1; }\n'
                       'struct high { int (*call)(void); int high_field; };\n',
    'src/high/high.c': '#include "high.h"\n#include "src/base/low.h"\n'
                       '#include "src/base/signal_safe.h"\n'
                       'int high(void) { return low(); }\n',
    'src/high/high_part.c': '#include "high_internal.h"\n#include "high.h"\n'
                            '#include "src/base/signal_safe.h"\n'
                            'int high_part(int (*f)(int), char *s[2])\n'
                            '{ return f(1); }\n',
    'src/high/high_internal.h': 'int high(void);\n',
    'preload/common/shared.h': 'int shared(void);\n',
    'preload/common/shared.c': 'int shared(void) { return 2; }\n',
    'preload/core/core.h': 'int core(void);\n',
    'preload/core/core.c': '#include "core.h"\n#include "src/high/high.h"\n'
                           '#include "preload/common/shared.h"\n'
                           '#include "src/base/signal_safe.h"\n'
                           'int core(void) { return shared() + high(); }\n',
    'preload/emu/qemu.h': 'int qemu_plugin_ask(void);\n',
    'preload/emu/plugin.c': '#include "qemu.h"\n'
                            '#include "preload/common/shared.h"\n'
                            'int plugin(void)\n'
                            '{ return qemu_plugin_ask() + shared(); }\n',
    'preload/instr/runtime/hooks.c': 'int hooks(void) { return 3; }\n',
    'analysis/base/util.c': 'void *json_object(void);\n'
                            'int util(void) { return !json_object(); }\n',
    'analysis/cmd/verbs.h': 'int a(void);\nint b(void);\n',
    'analysis/cmd/a.c': '#include "verbs.h"\nint a(void) { return b(); }\n' +
                        LOGIC.format(name='x', a='p', b='q', c='r', number=1),
    'analysis/cmd/b.c': '#include "verbs.h"\nint b(void) { return a(); }\n' +
                        LOGIC.format(name='y', a='s', b='t', c='u', number=2),
    'microbench/bench.c': '#include <stdio.h>\n',
    'tests/test.c': '#include "preload/core/core.h"\n',
}


def uses(*names):
    """A source that calls functions of these names"""
    return ''.join(f'int {n}(void);\n' for n in names) + 'int use_{}(void)\n'.format(
        '_'.join(names)) + '{ return ' + ' + '.join(f'{n}()' for n in names) + '; }\n'


def included(name, *headers):
    return {name: ''.join(f'#include {h}\n' for h in headers)}


def table(old, new):
    assert old in TABLES
    return {'docs/design.md': TABLES.replace(old, new)}


def allowed(line):
    return {'tests/structure/exceptions.txt': EXCEPTIONS + line}


SAFE = '#include "src/base/signal_safe.h"\n'
MALLOC = 'void *malloc(unsigned long);\nvoid *f(void) { return malloc(3); }\n'
PRINTF = ('int printf(const char *, ...);\n'
          'int f(int i) { return printf("%d", i); }\n')

# What is wrong, the files that make it so (None: removed), and what is said.
CASES = [
    ('a lower folder includes a higher one',
     included('src/base/x.c', '"src/high/high.h"'),
     'src/base/x.c: src/base must not include src/high/high.h'),
    ('the same with a relative path', included('src/base/x.c', '"../high/high.h"'),
     'src/base must not include src/high/high.h'),
    ('a header does', included('src/base/x.h', '"src/high/high.h"'),
     'src/base/x.h: src/base must not include'),
    ('src includes preload', included('src/base/x.c', '"preload/core/core.h"'),
     'src/base must not include preload/core/core.h'),
    ('preload includes analysis',
     included('preload/core/x.c', '"analysis/cmd/verbs.h"'),
     'preload/core must not include analysis/cmd/verbs.h'),
    ('analysis includes preload',
     included('analysis/cmd/x.c', '"preload/core/core.h"'),
     'analysis/cmd must not include preload/core/core.h'),
    ('microbench includes src', included('microbench/x.c', '"src/base/low.h"'),
     'microbench must not include src/base/low.h'),
    ('the plugin includes the preload',
     included('preload/emu/x.c', '"preload/core/core.h"'),
     'preload/emu must not include preload/core/core.h'),
    ('the hooks include anything',
     included('preload/instr/runtime/x.c', '"src/base/low.h"'),
     'preload/instr/runtime must not include src/base/low.h'),
    ('no such header', included('src/base/x.c', '"src/base/y.h"'),
     'no header src/base/y.h'),
    ('src includes stdio', included('src/base/x.c', '<stdio.h>'),
     'src/ must do without stdio.h'),
    ('a library too many', included('analysis/cmd/x.c', '<jansson.h>'),
     'analysis/cmd must not use jansson: it includes jansson.h'),
    ('a function of a higher folder', {'src/base/x.c': uses('high')},
     'src/base must not use high of src/high/high.c'),
    ('the plugin calls the preload', {'preload/emu/x.c': uses('core')},
     'preload/emu must not use core of preload/core/core.c'),
    ('a variable of another folder',
     {'analysis/base/x.c': 'extern int verb;\nint *f(void) { return &verb; }\n',
      'analysis/cmd/y.c': 'int verb;\n'},
     'analysis/base must not use verb of analysis/cmd/y.c'),
    ('two functions of one name',
     {'analysis/base/x.c': 'int twice(void) { return 1; }\n',
      'analysis/cmd/y.c': 'int twice(void) { return 2; }\n'},
     'analysis/cmd/y.c: defines twice, and so does analysis/base/x.c'),
    ('src allocates', {'src/base/x.c': MALLOC}, 'it calls malloc'),
    ('src prints', {'src/base/x.c': PRINTF}, 'it calls printf'),
    ("a library's function", {'analysis/cmd/x.c': uses('json_object')},
     'analysis/cmd must not use jansson: it uses json_object'),
    ('a function of no library', {'analysis/cmd/x.c': uses('frobnicate')},
     'frobnicate is of no library that the check knows'),
    ('a folder without a row', {'src/new/x.h': ''}, 'no row for src/new'),
    ('a row without a folder', table('| `src/base` |',
                                     '| `src/gone` | x | | | |\n| `src/base` |'),
     'src/gone has a row and no files'),
    ('a room that has come', {'analysis/room/x.h': ''},
     'analysis/room is no longer to come'),
    ('a row names no folder', table('| `src/base` | bottom | |',
                                    '| `src/base` | bottom | `src/none` |'),
     'src/base may include src/none, which has no row'),
    ('folders in a circle', table('| `src/base` | bottom | |',
                                  '| `src/base` | bottom | `src/high` |'),
     'circle of folders: src/base -> src/high -> src/base'),
    ('no table', {'docs/design.md': 'nothing\n'}, 'no table'),
    ('an unsafe file in a folder of handlers', {'src/high/high_x.c': ''},
     'src/high/high_x.c: runs in handlers and does not include'),
    ('a header after signal_safe.h',
     {'preload/core/x.c': SAFE + '#include "core.h"\n'},
     'preload/core/x.c: signal_safe.h is not its last header'),
    ('a safe file elsewhere', {'src/base/x.c': SAFE},
     'nothing of src/base runs in handlers'),
    ('a circle of two files',
     {'analysis/cmd/x.c': 'int x1(void);\nint y1(void);\n'
                          'int x1(void) { return y1(); }\n',
      'analysis/cmd/y.c': 'int x1(void);\nint y1(void);\n'
                          'int y1(void) { return x1(); }\n'},
     'circle of 2 files: analysis/cmd/x.c analysis/cmd/y.c'),
    ('a circle of three files',
     {'src/base/x.c': 'int y1(void);\nint x1(void) { return y1(); }\n',
      'src/base/y.c': 'int z1(void);\nint y1(void) { return z1(); }\n',
      'src/base/z.c': 'int x1(void);\nint z1(void) { return x1(); }\n'},
     'circle of 3 files: src/base/x.c src/base/y.c src/base/z.c'),
    ('a circle that is none any more',
     {'analysis/cmd/b.c': GOOD['analysis/cmd/b.c'].replace('a()', '4')},
     'not needed: circle analysis/cmd/a.c analysis/cmd/b.c'),
    ('a header of two modules',
     {'src/base/low.h': GOOD['src/base/low.h'] + 'int mid(void);\n',
      'src/base/mid.c': 'int mid(void) { return 5; }\n'},
     'src/base/low.h: declares mid of src/base/mid.c'),
    ("another module's variable",
     {'src/base/x.h': 'extern int low_count;\n'},
     'src/base/x.h: declares low_count of src/base/low.c'),
    ('a function that takes a function',
     {'src/base/x.h': 'int high_part(int (*f)(int), char *s[2]);\n'},
     'src/base/x.h: declares high_part of src/high/high_part.c'),
    ("another folder's file of that name",
     {'preload/core/high.h': 'int high(void);\n'},
     'preload/core/high.h: declares high of src/high/high.c'),
    ('a function that is nowhere', {'src/base/x.h': 'int nowhere(void);\n'},
     'src/base/x.h: declares nowhere, which no file defines'),
    ('a source that declares for itself', {'src/high/x.c': SAFE + uses('low')},
     'src/high/x.c: declares low of src/base/low.c itself'),
    ("another module's internal header",
     {'src/high/x.c': SAFE + '#include "high_internal.h"\n'},
     'src/high/x.c: includes src/high/high_internal.h'),
    ('a list with two names of a file',
     {'analysis/cmd/verbs.h': GOOD['analysis/cmd/verbs.h'] +
                              'int x(int *p, int q);\n'},
     'analysis/cmd/verbs.h: declares a x of analysis/cmd/a.c'),
    ('a long file', {'tests/long.c': '\n' * 501},
     'tests/long.c: 501 lines, at most 500'),
    ('the same lines in two files',
     {f'tests/{n}.c': LOGIC.format(name='f', a='a', b='b', c='c', number=7)
      for n in 'mn'}, 'tests/m.c:1-11 and tests/n.c:1-11: 8 lines alike'),
    ('lines of the same shape',
     {'src/base/x.c': LOGIC.format(name='f', a='a', b='b', c='c', number=7),
      'preload/core/x.c': '\n\n/* x */\n' +
                          LOGIC.format(name='g', a='d', b='e', c='f', number=8)},
     'preload/core/x.c:4-14 and src/base/x.c:1-11: 8 lines alike'),
    ('the same structure twice',
     {f'src/base/{n}.h': f'struct {n} {{\n' + ''.join(
         f'\tint field{i};\n' for i in range(6)) + '};\n' for n in 'xy'},
     'src/base/x.h:2-7 and src/base/y.h:2-7: 6 lines alike'),
    ('an exception nobody needs', allowed('repeats src/base/x.c src/base/y.c\n'),
     'not needed: repeats src/base/x.c src/base/y.c'),
    ('an exception of no kind', allowed('forgive src/base/x.c\n'),
     'forgive is no kind of exception'),
]

# What looks wrong and is right.
RIGHT = [
    ('tests of the same shape',
     {'tests/m.c': LOGIC.format(name='m', a='a', b='b', c='c', number=7),
      'tests/n.c': LOGIC.format(name='n', a='d', b='e', c='f', number=8)}),
    ('seven equal lines of tests',
     {f'tests/{n}.c': f'int {n}[] = {{\n' + ''.join(
         f'\t{i},\n' for i in range(7)) + '};\n' for n in 'mn'}),
    ('lists of calls',
     {f'src/base/{n}.c': f'void list_{n}(void (*{n})(int))\n{{\n' + ''.join(
         f'\t{n}({i});\n' for i in range(8)) + '}\n' for n in 'xy'}),
    ('a weak function of another library',
     {'preload/instr/runtime/x.c':
      '__attribute__((weak)) int core(void);\n'
      'int f(void) { return core ? core() : 0; }\n'}),
    ('500 lines', {'tests/long.c': '\n' * 500}),
]


class Sandbox:
    """A tree of its own that is as GOOD, but for the files of one case"""

    def __init__(self, top):
        self.top = top
        self._objects = {}

    def write(self, files):
        for name, text in files.items():
            path = os.path.join(self.top, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text)
        for name in files:
            if name.endswith('.c') and name.split('/')[0] in (
                    'src', 'preload', 'analysis'):
                self._compile(name)

    def _compile(self, name):
        path = os.path.join(self.top, 'build/obj', name[:-2] + '.o')
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(os.path.join(self.top, name), encoding='utf-8') as f:
            text = f.read()
        if text not in self._objects:
            # What must not be included need not exist to be compiled.
            code = '\n'.join(line for line in text.split('\n')
                             if 'jansson' not in line and 'base/y.h' not in line)
            subprocess.run([*CC, '-x', 'c', '-w', '-fPIC', '-I' + self.top,
                            '-I' + os.path.dirname(os.path.join(self.top, name)),
                            '-c', '-o', path, '-'], input=code, text=True,
                           check=True)
            with open(path, 'rb') as f:
                self._objects[text] = f.read()
        with open(path, 'wb') as f:
            f.write(self._objects[text])

    def restore(self, files):
        for name in files:
            if name not in GOOD:
                os.remove(os.path.join(self.top, name))
        self.write({name: GOOD[name] for name in files if name in GOOD})

    def complaints(self, files):
        self.write(files)
        said = list(check(Tree(self.top, os.path.join(self.top, 'build'))))
        self.restore(files)
        return said


def library_too_many(sandbox):
    """Complaints about a libcomdet.so that needs one"""
    build = os.path.join(sandbox.top, 'build')
    library, other = (os.path.join(build, name) for name in
                      ('libcomdet.so', 'libother.so'))
    for command in ([*CC, '-shared', '-Wl,-soname,libother.so', '-o', other],
                    [*CC, '-shared', '-Wl,--no-as-needed', '-o', library, other]):
        subprocess.run(command, check=True)
    said = sandbox.complaints({})
    os.remove(library)
    return said


def library_calls_itself(sandbox, *options):
    """Complaints about a libcomdet.so of which one function calls another"""
    library = os.path.join(sandbox.top, 'build', 'libcomdet.so')
    code = 'int inner(void) { return 1; } int outer(void) { return inner(); }'
    subprocess.run([*CC, '-x', 'c', '-w', '-shared', '-fPIC', *options, '-o',
                    library, '-'], input=code, text=True, check=True)
    said = sandbox.complaints({})
    os.remove(library)
    return said


def main():
    failed = 0

    def demand(right, title, said):
        nonlocal failed
        if not right:
            print(f'the check itself is wrong: {title}: it said {said}')
            failed += 1

    with tempfile.TemporaryDirectory() as top:
        sandbox = Sandbox(top)
        said = sandbox.complaints(GOOD)
        demand(not said, 'a good tree', said)
        for title, files in RIGHT:
            said = sandbox.complaints(files)
            demand(not said, title, said)
        for title, files, expected in CASES:
            said = sandbox.complaints(files)
            demand(any(expected in s for s in said), title, said)
        said = library_too_many(sandbox)
        demand('libcomdet.so must not need libother.so' in said,
               'a library that libcomdet.so needs', said)
        said = library_calls_itself(sandbox)
        demand(any('exports inner and calls it' in s for s in said),
               'a function of libcomdet.so that a program may replace', said)
        said = library_calls_itself(sandbox, '-Wl,-Bsymbolic-functions')
        demand(not said, 'functions of libcomdet.so that are its own', said)
        said = sandbox.complaints({})
        demand(not said, 'the good tree again', said)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
