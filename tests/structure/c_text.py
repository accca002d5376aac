# SPDX-License-Identifier: MIT
"""
c_text - just enough C to find includes, declarations and lines of code

It does not run the preprocessor. So it misses declarations that macros make,
and it sees both sides of #if and #else.
"""

import re

# One pass for comments, strings and characters: each may look like another's end.
_OPAQUE = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
_DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
_ATTRIBUTE = re.compile(r'__attribute__\s*\(\(.*?\)\)(?=\s*[;,\w*]|\s*$)', re.S)
_FUNCTION = re.compile(r'^[\w\s*]*?[\w*]\s*\**\b(\w+)\s*\($')


def without_comments(text, strings=False):
    """The same lines with comments blank, and strings empty unless @strings."""
    def blank(match):
        found = match.group()
        if found[0] in '"\'':
            return found if strings else found[0] + found[0]
        return '\n' * found.count('\n') or ' '

    return _OPAQUE.sub(blank, text)


def without_directives(text):
    """The same lines with preprocessor directives blank."""
    return _DIRECTIVE.sub(lambda m: '\n' * m.group().count('\n'), text)


def includes(text):
    """The (kind, name) of each #include; kind is '"' or '<'."""
    return _INCLUDE.findall(re.sub(r'/\*.*?\*/', '', text, flags=re.S))


def _top_level(text):
    """
    The statements outside all braces. A body becomes {}; a function's body
    ends its statement.
    """
    statement, depth, parens = [], 0, 0
    for char in text:
        if char == '{':
            depth += 1
            if depth == 1:
                statement.append('{')
        elif char == '}':
            depth -= 1
            if depth == 0:
                statement.append('}')
                head = ''.join(statement)
                if re.search(r'\)\s*\{\}$', head):
                    yield head
                    statement = []
        elif depth == 0:
            parens += (char == '(') - (char == ')')
            if char == ';' and parens == 0:
                yield ''.join(statement)
                statement = []
            else:
                statement.append(char)


def _declarators(statement):
    """
    @statement split at the commas outside parentheses. Each part begins with a
    type: only the first one has it in the text.
    """
    start, parens, prefix = 0, 0, ''
    for i, char in enumerate(statement):
        parens += (char in '([') - (char in ')]')
        if char == ',' and parens == 0:
            yield prefix + statement[start:i]
            start, prefix = i + 1, 'int '
    yield prefix + statement[start:]


def declared(text):
    """
    The names that @text declares for other files to define: functions without
    a body and variables that are extern.
    """
    names = []
    code = without_directives(without_comments(text))
    for statement in _top_level(code):
        statement = _ATTRIBUTE.sub(' ', statement).strip()
        if re.match(r'(typedef|static|_Static_assert)\b', statement):
            continue
        if statement.endswith('{}') and ')' in statement.split('{')[0]:
            continue  # a function with its body
        extern = re.match(r'extern\b', statement)
        for part in _declarators(statement):
            name = _declared_name(part, extern)
            if name:
                names.append(name)
    return names


def _declared_name(part, extern):
    """What one declarator declares, or None"""
    if '(' in part:
        before, after = part.split('(', 1)
        pointer = re.match(r'\s*\*\s*(?:const\s+)?(\w+)', after)
        if pointer:
            return pointer.group(1) if extern else None
        function = _FUNCTION.match(before.strip() + '(')
        return function.group(1) if function else None
    if extern and '=' not in part:
        variable = re.search(r'(\w+)\s*(?:\[[^]]*\]\s*)*$', part)
        return variable.group(1) if variable else None
    return None
