# SPDX-License-Identifier: MIT
"""
design - the table of folders in docs/design.md

The table is found by its first heading. Names stand in backquotes; the rest of
a cell is for people.
"""

import os
import re

PAGE = 'docs/design.md'
HEADING = 'folder'


class Folder:
    """One row of the table of folders."""

    def __init__(self, name, purpose, knows, libraries, handlers):
        self.name = name
        self.to_come = purpose.startswith('to come')
        self.knows = knows
        self.libraries = libraries
        self.handlers = handlers


def _names(cell):
    return re.findall(r'`([^`]+)`', cell)


def _rows(top, heading):
    """The cells of each row of the table whose first heading is @heading"""
    rows, inside = [], False
    with open(os.path.join(top, PAGE), encoding='utf-8') as page:
        for line in page:
            if not line.startswith('|'):
                inside = False
                continue
            cells = [cell.strip() for cell in line.strip().strip('|').split('|')]
            if cells[0] == heading:
                inside = True
            elif inside and set(cells[0]) - set('-: '):
                rows.append(cells)
    return rows


def folders(top):
    """name -> Folder, and complaints about the table itself"""
    found, wrong = {}, []
    for cells in _rows(top, HEADING):
        if len(cells) != 5 or len(_names(cells[0])) != 1:
            wrong.append(f'{PAGE}: not a row of folders: {" | ".join(cells)}')
            continue
        name = _names(cells[0])[0].rstrip('/')
        if name in found:
            wrong.append(f'{PAGE}: two rows for {name}')
        found[name] = Folder(name, cells[1],
                             [n.rstrip('/') for n in _names(cells[2])],
                             _names(cells[3]), cells[4])
    if not found:
        wrong.append(f'{PAGE}: no table whose first heading is "{HEADING}"')
    return found, wrong
