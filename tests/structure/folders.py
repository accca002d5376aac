# SPDX-License-Identifier: MIT
"""
folders - which folder may include which, and use which library

The table of folders in docs/design.md is the rule. A header is included, and
a function or variable of another file used, only from the same folder, from
one that the row names, or from one that those may include. The rows must give
an order: following them from any folder never leads back to it.
"""

import functools
import os
import re
import subprocess

import design
import tree as tree_module

# Libraries outside libc: their headers and their symbols.
LIBRARIES = {
    'Zydis': (r'Zydis/|Zycore/', r'Zydis|Zyan'),
    'libdw': (r'elfutils/|dwarf\.h|libdw\.h', r'dwfl_|dwelf_|dwarf_'),
    'libelf': (r'libelf\.h|gelf\.h', r'elf_|gelf_|elf\d\d_'),
    'jansson': (r'jansson', r'json_|jansson_'),
    'hwloc': (r'hwloc', r'hwloc_'),
    'zstd': (r'zstd|zdict', r'ZSTD_|ZDICT_'),
    'protobuf-c': (r'protobuf-c|\.pb-c\.h', r'pprof__|protobuf_c_'),
    'sqlite3': (r'sqlite3\.h', r'sqlite3_'),
    'pfm': (r'perfmon/', r'pfm_'),
    'demangle': (r'libiberty/demangle\.h', r'cplus_demangle_v3$|rust_demangle$'),
    'QEMU': (r'qemu-plugin\.h|glib', r'qemu_plugin_'),
    'check': (r'check\.h', r'tcase_|suite_|srunner_|_ck_|_tcase_'),
}
# The compiler, the linker and libc's static part define these.
TOOLCHAIN = re.compile(
    r'atexit|at_quick_exit|_GLOBAL_OFFSET_TABLE_|__\w+[dst]i\d?|__(ehdr|start|stop|bss)_?\w*|'
    r'_?etext|_?edata|_?end|__tls_get_addr|__gcc_personality_v0|__cpu_model|__emutls\w*|_Unwind_\w+|'
    r'__(asan|ubsan|tsan|gcov)_\w+')
STDIO = re.compile(
    r'v?[fsd]?n?printf|puts|putc|putchar|fputs|fputc|fopen|fdopen|freopen|'
    r'fclose|fread|fwrite|fgets|getc|getline|v?f?scanf|v?sscanf|fflush|'
    r'perror|stdout|stderr|stdin|_IO_.*|__v?[fsd]?n?printf_chk|'
    r'__isoc\d\d_v?[fs]?scanf')
ALLOCATION = re.compile(
    r'malloc|calloc|realloc|reallocarray|free|strdup|strndup|v?asprintf|'
    r'posix_memalign|aligned_alloc|memalign')
# libcomdet.so is resident memory in every profiled program: few libraries.
PRELOAD_NEEDS = re.compile(
    r'libc\.so\.6|libm\.so\.6|libdl\.so\.2|libpthread\.so\.0|libZydis\.so.*|'
    r'libZycore\.so.*|ld-linux-x86-64\.so\.2')


class Rule:
    """The table of folders, with what a row says looked up."""

    def __init__(self, tree):
        self.rows, self.wrong = design.folders(tree.top)
        self._known = {}

    def row_of(self, folder):
        """The row of @folder; that of "tests" is for all folders below it."""
        if folder in self.rows:
            return self.rows[folder]
        part = folder.split('/')[0]
        if part in ('tests', 'microbench'):
            return self.rows.get(part)
        return None

    def named(self, row):
        """The rows that @row names; `src` stands for all rows of src/."""
        found = set()
        for name in row.knows:
            if name in self.rows:
                found.add(name)
            else:
                found |= {r for r in self.rows if r.startswith(name + '/')}
        found.discard(row.name)
        return found

    def known(self, row):
        """The rows that @row names, and those that they know"""
        if row.name not in self._known:
            found, left = set(), [row]
            while left:
                for name in self.named(left.pop()) - found:
                    found.add(name)
                    left.append(self.rows[name])
            self._known[row.name] = found
        return self._known[row.name]

    def allows(self, folder, other):
        """May a file in @folder know one in @other?"""
        if folder == other:
            return True
        row, known = self.row_of(folder), self.row_of(other)
        if not row or not known:
            return True  # a missing row is a complaint of its own
        return row is known or known.name in self.known(row)


def check_table(tree, rule):
    """Every folder with C files has a row, every row a folder."""
    yield from rule.wrong
    there = {os.path.dirname(name) for name in tree.files}
    for folder in sorted(there):
        if not rule.row_of(folder):
            yield f'{design.PAGE}: no row for {folder}'
    for name, row in rule.rows.items():
        exists = any(f == name or f.startswith(name + '/') for f in there)
        if row.to_come and name in there:
            yield f'{design.PAGE}: {name} is no longer to come'
        elif not exists and not row.to_come:
            yield f'{design.PAGE}: {name} has a row and no files'
        for other in row.knows:
            if other not in rule.rows and not any(
                    r.startswith(other + '/') for r in rule.rows):
                yield f'{design.PAGE}: {name} may include {other}, which has no row'
        for library in row.libraries:
            if library not in LIBRARIES:
                yield f'{design.PAGE}: {name} names the unknown library {library}'


def check_order(rule):
    """No folder may know itself through others."""
    done = set()

    def follow(name, path):
        if name in path:
            circle = path[path.index(name):] + [name]
            yield f'{design.PAGE}: circle of folders: {" -> ".join(circle)}'
            return
        if name in done:
            return
        for other in sorted(rule.named(rule.rows[name])):
            yield from follow(other, path + [name])
        done.add(name)

    for name in rule.rows:
        yield from follow(name, [])


def check_includes(tree, rule):
    for name in tree.files:
        folder = os.path.dirname(name)
        for header, system in tree.includes(name):
            if system:
                yield from _check_system_header(rule, name, folder, system)
            elif header not in tree.text:
                yield f'{name}: no header {header}'
            elif not rule.allows(folder, os.path.dirname(header)):
                yield f'{name}: {folder} must not include {header}'


def _check_system_header(rule, name, folder, header):
    if folder.startswith('src/') and re.fullmatch(r'(stdio|wchar)\.h', header):
        yield f'{name}: src/ must do without {header}'
    row = rule.row_of(folder)
    if not row or row.name == 'tests':
        return
    for library, (headers, _) in LIBRARIES.items():
        if re.match(headers, header) and library not in row.libraries:
            yield f'{name}: {folder} must not use {library}: it includes {header}'


def check_symbols(tree, rule):
    """
    Each symbol that an object uses must come from a folder that it may know, a
    library that it may use, libc or the compiler.
    """
    definers = {}
    for source, obj in tree.objects.items():
        for symbol in obj.defines:
            definers.setdefault(symbol, []).append(source)
    libc = _libc_symbols()
    for source, obj in sorted(tree.objects.items()):
        folder = os.path.dirname(source)
        for symbol in sorted(obj.uses - obj.defines):
            if folder.startswith('src/'):
                yield from _check_pure(source, symbol)
            ours = linked_with(source, definers.get(symbol, []), symbol in libc)
            if ours:
                if not any(rule.allows(folder, os.path.dirname(d)) for d in ours):
                    yield f'{source}: {folder} must not use {symbol} of {ours[0]}'
            elif symbol not in libc and not TOOLCHAIN.fullmatch(symbol):
                yield from _check_library(rule, source, folder, symbol)


def check_once(tree):
    """
    Two files of one product define no symbol of the same name: of those in a
    library the linker takes the first that it meets, and says nothing.
    """
    first = {}
    for source, obj in sorted(tree.objects.items()):
        product = tree_module.product(source)
        # The compiler's own names are none of C, and may stand twice.
        for symbol in sorted(filter(str.isidentifier, obj.defines)):
            other = first.setdefault((product, symbol), source)
            if other != source:
                yield f'{source}: defines {symbol}, and so does {other}'


def linked_with(source, definers, in_libc):
    """
    Those of @definers that @source is linked with. If there are none, and libc
    does not define the symbol either, @source uses one of another product.
    """
    product = tree_module.product(source)
    ours = [d for d in definers if tree_module.product(d) in
            (product, 'src', 'common')]
    return ours or ([] if in_libc else definers)


def _check_pure(source, symbol):
    if STDIO.fullmatch(symbol):
        yield f'{source}: src/ must do without stdio: it calls {symbol}'
    elif ALLOCATION.fullmatch(symbol):
        yield f'{source}: src/ must not allocate: it calls {symbol}'


def _check_library(rule, source, folder, symbol):
    row = rule.row_of(folder)
    for library, (_, symbols) in LIBRARIES.items():
        if re.match(symbols, symbol):
            if row and library not in row.libraries:
                yield f'{source}: {folder} must not use {library}: it uses {symbol}'
            return
    yield f'{source}: {symbol} is of no library that the check knows'


@functools.lru_cache
def _libc_symbols():
    found = set()
    for name in ('libc.so.6', 'libm.so.6', 'ld-linux-x86-64.so.2'):
        path = subprocess.run([os.environ.get('CC', 'gcc').split()[-1],
                               '-print-file-name=' + name], check=True,
                              capture_output=True, text=True).stdout.strip()
        for _, symbol, kind in tree_module.nm([path], '-D'):
            if kind.upper() != 'U':
                found.add(symbol)
    return found


def _output(*command):
    return subprocess.run(command, check=True, text=True,
                          capture_output=True).stdout


def check_libraries(tree):
    """
    Which libraries libcomdet.so asks for, and that it calls its own functions,
    whatever functions of the same names a program has.
    """
    library = os.path.join(tree.build, 'libcomdet.so')
    if not os.path.exists(library):
        return
    for needed in re.findall(r'\(NEEDED\).*\[(.*)\]',
                             _output('readelf', '-d', library)):
        if not PRELOAD_NEEDS.fullmatch(needed):
            yield f'libcomdet.so must not need {needed}'
    called = set(re.findall(r'R_X86_64_(?:JUMP_SLOT?|GLOB_DAT)\s+\S+\s+([^\s@]+)',
                            _output('readelf', '-rW', library)))
    for _, symbol, kind in tree_module.nm([library], '-D', '--defined-only'):
        if symbol.split('@')[0] in called:
            yield (f'libcomdet.so exports {symbol} and calls it so that a '
                   f'program may take its place')


def check_handlers(tree, rule):
    """Files include signal_safe.h, last, as the column of handlers says."""
    for source in tree.sources('src', 'preload', 'analysis'):
        row = rule.row_of(os.path.dirname(source))
        headers = [os.path.basename(own or system)
                   for own, system in tree.includes(source)]
        safe = 'signal_safe.h' in headers
        if not row:
            continue
        if row.handlers == 'all' and not safe:
            yield f'{source}: runs in handlers and does not include signal_safe.h'
        elif row.handlers not in ('all', 'some') and safe:
            yield (f'{source}: includes signal_safe.h, and {design.PAGE} says '
                   f'that nothing of {row.name} runs in handlers')
        elif safe and headers[-1] != 'signal_safe.h':
            yield f'{source}: signal_safe.h is not its last header'


def check(tree):
    rule = Rule(tree)
    yield from check_table(tree, rule)
    yield from check_order(rule)
    yield from check_includes(tree, rule)
    yield from check_symbols(tree, rule)
    yield from check_once(tree)
    yield from check_libraries(tree)
    yield from check_handlers(tree, rule)
