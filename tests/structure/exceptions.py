# SPDX-License-Identifier: MIT
"""
exceptions - the mistakes that exceptions.txt allows, each with a reason
"""

import os

PAGE = 'tests/structure/exceptions.txt'


class Exceptions:
    """The entries of exceptions.txt, and which of them were needed"""

    # word of an entry -> the check that asks for it
    KINDS = {'circle': 'circles', 'foreign': 'headers', 'lists': 'headers',
             'repeats': 'repeats'}

    def __init__(self, top):
        self._needed = {}
        with open(os.path.join(top, PAGE), encoding='utf-8') as lines:
            for line in lines:
                words = line.split('#')[0].split()
                if words:
                    self._needed[words[0], frozenset(words[1:])] = False

    def use(self, kind, *names):
        """Is there such an entry? It was needed then."""
        entry = kind, frozenset(names)
        if entry not in self._needed:
            return False
        self._needed[entry] = True
        return True

    def unused(self, check):
        """Complaints about entries that @check should have needed"""
        for (kind, names), needed in self._needed.items():
            if kind not in self.KINDS:
                yield f'{PAGE}: {kind} is no kind of exception'
            elif self.KINDS[kind] == check and not needed:
                yield f'{PAGE}: not needed: {kind} {" ".join(sorted(names))}'
