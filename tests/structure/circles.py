# SPDX-License-Identifier: MIT
"""
circles - no two files use symbols of each other, directly or through others

Only files that are linked together count.
"""

from folders import linked_with
from tree import product


def uses(tree):
    """source -> {other source: symbols that it uses of it}"""
    definers = {}
    for source, obj in tree.objects.items():
        for symbol in obj.defines:
            definers.setdefault(symbol, []).append(source)
    graph = {source: {} for source in tree.objects}
    for source, obj in tree.objects.items():
        for symbol in obj.uses - obj.defines:
            for other in linked_with(source, definers.get(symbol, []), True):
                graph[source].setdefault(other, set()).add(symbol)
    return graph


def components(graph):
    """The strongly connected components of two nodes and more (Tarjan)"""
    number, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        on_stack.add(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            component = stack[stack.index(node):]
            del stack[stack.index(node):]
            on_stack.difference_update(component)
            if len(component) > 1:
                found.append(frozenset(component))

    for node in graph:
        if node not in number:
            visit(node)
    return found


def check(tree, allowed):
    graph = uses(tree)
    for circle in components(graph):
        if allowed.use('circle', *circle):
            continue
        said = f'circle of {len(circle)} files: {" ".join(sorted(circle))}'
        for source in sorted(circle):
            for other in sorted(circle & graph[source].keys()):
                symbols = ' '.join(sorted(graph[source][other]))
                said += f'\n    {source} uses {symbols} of {other}'
        yield said
