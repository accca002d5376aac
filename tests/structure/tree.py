# SPDX-License-Identifier: MIT
"""
tree - the files of the project, what they include, and their objects' symbols
"""

import os
import subprocess

import c_text

PARTS = ('src', 'preload', 'analysis', 'microbench', 'tests')


class Object:
    """The symbols that an object defines and needs. Weak needs do not count."""

    def __init__(self):
        self.defines = set()
        self.uses = set()


def product(source):
    """
    The product that @source is linked into. 'common' goes into libcomdet.so
    and QEMU's plugin, 'src' into all but the library of hooks and that of the
    guest.
    """
    for folder, name in (('preload/emu/guest/', 'guest'),
                         ('preload/emu/', 'plugin'), ('preload/common/', 'common'),
                         ('preload/instr/runtime/', 'hooks')):
        if source.startswith(folder):
            return name
    return source.split('/')[0]


class Tree:
    def __init__(self, top, build):
        self.top = top
        self.build = build
        self.files = sorted(self._find())
        self.text = {}
        for name in self.files:
            with open(os.path.join(top, name), encoding='utf-8') as f:
                self.text[name] = f.read()
        self._objects = None

    def _find(self):
        for part in PARTS:
            for folder, _, names in os.walk(os.path.join(self.top, part)):
                for name in names:
                    if name.endswith(('.c', '.h')):
                        path = os.path.join(folder, name)
                        yield os.path.relpath(path, self.top)

    def sources(self, *parts):
        return [f for f in self.files if f.endswith('.c') and
                f.split('/')[0] in parts]

    def headers(self, *parts):
        return [f for f in self.files if f.endswith('.h') and
                f.split('/')[0] in parts]

    def includes(self, name):
        """(header of ours, None) or (None, system header) of file @name"""
        for kind, header in c_text.includes(self.text[name]):
            if kind == '<':
                yield None, header
                continue
            beside = os.path.normpath(os.path.join(os.path.dirname(name), header))
            yield (beside if beside in self.text else os.path.normpath(header)), None

    @property
    def objects(self):
        """source -> Object, of all sources but those of microbench and tests"""
        if self._objects is None:
            self._objects = self._read_objects()
        return self._objects

    def _read_objects(self):
        names = {}
        for source in self.sources('src', 'preload', 'analysis'):
            path = os.path.join(self.build, 'obj', source[:-2] + '.o')
            if os.path.exists(path):
                names[path] = source
        objects = {source: Object() for source in names.values()}
        for path, symbol, kind in nm(names):
            found = objects[names[path]]
            if kind == 'U':
                found.uses.add(symbol)
            elif kind.isupper():
                found.defines.add(symbol)
        return objects

    def not_built(self):
        return [s for s in self.sources('src', 'preload', 'analysis')
                if s not in self.objects]


def nm(paths, *options):
    """(path, symbol, kind) of each symbol of the files @paths"""
    if not paths:
        return
    said = subprocess.run(['nm', '-A', *options, *paths], check=True, text=True,
                          capture_output=True).stdout
    for line in said.splitlines():
        path, rest = line.split(':', 1)
        words = rest.split()
        yield path, words[-1].split('@')[0], words[-2]
