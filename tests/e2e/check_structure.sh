#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_structure - folders, circles, headers, lengths and repeated lines
#
# First the checks show on a tree of their own that they find what they look
# for. Repeated lines are only reported for now.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}

python3 "$TOP/tests/structure/selftest.py" || exit 1
python3 "$TOP/tests/structure/check.py" --build "$B" folders circles headers \
	lengths || exit 1
python3 "$TOP/tests/structure/check.py" --report --build "$B" repeats
