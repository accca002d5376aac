#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check_structure - folders, circles, headers, lengths and repeated lines
#
# The checks are in tests/structure. First they show on a tree of their own
# that they find each kind of mistake.

TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
B=${B:-$TOP/build}

python3 "$TOP/tests/structure/selftest.py" &&
	python3 "$TOP/tests/structure/check.py" --build "$B"
