# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# burn - keep all processors busy; source it after e2e.sh

burners=()

quiet()
{
	[ ${#burners[@]} = 0 ] || kill "${burners[@]}" 2>/dev/null
	rm -rf "$WORK"
}
trap quiet EXIT

# One busy process a processor. They end with the script.
burn()
{
	local i

	for ((i = 0; i < $(nproc); i++)); do
		timeout 600 sh -c 'while :; do :; done' &
		burners+=($!)
	done
}

stop_burning()
{
	[ ${#burners[@]} = 0 ] || kill "${burners[@]}" 2>/dev/null
	burners=()
}
