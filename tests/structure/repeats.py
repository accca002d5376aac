# SPDX-License-Identifier: MIT
"""
repeats - lines that two files share

Six lines in a row that two files share are one piece of code written twice;
in two files of tests, eight. In functions, lines of the same shape count:
equal but for names, strings and numbers. Not so if the six have fewer than
four shapes, which makes them a list, or if fewer than four of them are more
than a label, a break, a plain return or a text. Outside functions, and in
tests, whose preparations look alike by nature, only equal lines count. Blank
lines, comments, directives and lone punctuation are passed over.
"""

import collections
import re

import c_text

LINES = 6
LINES_OF_TESTS = 8
SHAPES = 4
SOLID = 4
PARTS = ('src', 'preload', 'analysis', 'tests')

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[A-Za-z_]\w*|\d[\w.]*|\n|'
    r'->|\+\+|--|<<=|>>=|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^]=|[^\s]')
_KEPT = frozenset('''
    if else for while do switch case default break continue return goto sizeof
    struct union enum static const void int char unsigned long short signed
    bool double float typedef extern inline volatile _Atomic NULL true false
    size_t ssize_t uintptr_t uint64_t uint32_t uint16_t uint8_t int64_t int32_t
    '''.split())

# One line of code: its number, its words as written, their shape, and whether
# it is in a function.
Line = collections.namedtuple('Line', 'number text shape in_function')
Repeat = collections.namedtuple('Repeat', 'a b count')


def _tokens_by_line(text):
    """number -> [tokens, in a function]; a function's head is part of it"""
    found = collections.defaultdict(lambda: [[], False])
    number, last, braces, head = 1, '', [], []
    for token in _TOKEN.findall(text):
        if token == '\n':
            number += 1
            continue
        if token == '{':
            data = last in ('=', ',', '{') or 'data' in braces
            if not braces:
                data = last != ')'
            braces.append('data' if data else 'code')
            if braces == ['code']:
                for line in head:
                    found[line][1] = True
        found[number][0].append(token)
        if braces:
            found[number][1] = braces[-1] == 'code'
            head = []
        elif token in (';', '}'):
            head = []
        else:
            head.append(number)
        if token == '}' and braces:
            braces.pop()
        last = token
    return found


def _says_nothing(tokens):
    return not any(t[0].isalnum() or t[0] in '_"' for t in tokens)


def _solid(shape):
    """Is this line more than a label, a break, a plain return or a text?"""
    return not re.fullmatch(r'(case|default) .*|break ;|(} )?else( {)?|'
                            r'string( ,| \) ;)?|'
                            r'return( \S+)? ;', shape)


def _shape(tokens):
    shape = []
    for token in tokens:
        if token[0] in '"\'':
            shape.append('string')
        elif token[0].isdigit():
            shape.append('number')
        elif (token[0].isalpha() or token[0] == '_') and token not in _KEPT:
            shape.append('name')
        else:
            shape.append(token)
    return ' '.join(shape)


def lines(text):
    """The lines of @text that count"""
    text = c_text.without_directives(c_text.without_comments(text, strings=True))
    found = []
    for number, (tokens, in_function) in sorted(_tokens_by_line(text).items()):
        if not _says_nothing(tokens):
            found.append(Line(number, ' '.join(tokens), _shape(tokens),
                              in_function))
    return found


def _windows(code, key):
    """The places of each run of LINES lines with the same keys"""
    places = collections.defaultdict(list)
    for name, found in code.items():
        keys = [key(name, line) for line in found]
        for i in range(len(found) - LINES + 1):
            window = tuple(keys[i:i + LINES])
            if None not in window:
                places[window].append((name, i))
    for window, there in places.items():
        if len(there) > 1:
            yield window, there


def _logic(shapes):
    return (len(set(shapes)) >= SHAPES and
            sum(_solid(shape) for shape in shapes) >= SOLID)


def find(files):
    """The longest repeat of each pair of @files, a dictionary of texts"""
    code = {name: lines(text) for name, text in files.items()}

    def shape(name, line):
        if line.in_function and not name.startswith('tests/'):
            return line.shape
        return None

    starts = collections.defaultdict(set)
    for key in (shape, lambda name, line: line.text):
        for window, there in _windows(code, key):
            if key is shape and not _logic(window):
                continue
            for a in there:
                for b in there:
                    if a[0] < b[0]:
                        starts[a[0], b[0]].add((a[1], b[1]))
    for (a, b), begins in sorted(starts.items()):
        repeat = _longest(code[a], code[b], begins)
        tests = a.startswith('tests/') and b.startswith('tests/')
        if repeat.count >= (LINES_OF_TESTS if tests else LINES):
            yield a, b, repeat


def _longest(a, b, begins):
    best = None
    for i, j in begins:
        if (i - 1, j - 1) in begins:
            continue
        count = LINES
        while (i + count - LINES + 1, j + count - LINES + 1) in begins:
            count += 1
        if not best or count > best.count:
            best = Repeat((a[i].number, a[i + count - 1].number),
                          (b[j].number, b[j + count - 1].number), count)
    return best


def check(tree, allowed):
    files = {name: tree.text[name] for name in tree.files
             if name.split('/')[0] in PARTS}
    for a, b, repeat in find(files):
        if not allowed.use('repeats', a, b):
            yield (f'{a}:{repeat.a[0]}-{repeat.a[1]} and '
                   f'{b}:{repeat.b[0]}-{repeat.b[1]}: '
                   f'{repeat.count} lines alike')
