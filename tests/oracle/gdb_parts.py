# SPDX-License-Identifier: MIT
"""gdb_parts - the member at each byte of variables, as gdb knows it

    PARTS="workers odd" gdb -batch -x gdb_parts.py FILE

prints "ADDRESS|VARIABLE|PATH|START|SIZE" as tests/oracle/parts_of.c does. Runs
in gdb's Python. Types of namespace std are not looked into.
"""
import os

import gdb


def is_empty(kind):
    """A class without members; it may lie where another's first member does."""
    kind = kind.strip_typedefs()
    return kind.code == gdb.TYPE_CODE_STRUCT and all(
        is_empty(f.type) for f in kind.fields() if hasattr(f, "bitpos"))


def part(kind, offset, path="", start=0):
    """The innermost part of a type at a byte: its path, start and size."""
    kind = kind.strip_typedefs()
    if (kind.name or "").startswith("std::"):
        return path, start, kind.sizeof
    if kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        element = kind.target()
        if high < low or element.sizeof == 0:
            return None
        index = offset // element.sizeof
        return part(element, offset % element.sizeof, f"{path}[{index}]",
                    start + index * element.sizeof)
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for field in kind.fields():
            if not hasattr(field, "bitpos"):
                continue  # static
            if is_empty(field.type):
                continue
            at = field.bitpos // 8
            bytes_ = field.type.sizeof
            if field.bitsize:
                bytes_ = (field.bitpos + field.bitsize + 7) // 8 - at
            if not at <= offset < at + bytes_:
                continue
            name = "" if field.is_base_class or not field.name else \
                f".{field.name}"
            if field.bitsize:
                return path + name, start + at, bytes_
            return part(field.type, offset - at, path + name, start + at)
        return None
    return path, start, kind.sizeof


for variable in os.environ["PARTS"].split():
    value = gdb.parse_and_eval(variable)
    address = int(value.address)
    for byte in range(value.type.sizeof):
        found = part(value.type, byte)
        text = "|".join(map(str, found)) if found else f"(none)|{byte}|0"
        print(f"0x{address + byte:x}|{variable}|{text}")
