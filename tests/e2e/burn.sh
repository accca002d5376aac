# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# burn - keep all processors busy; source it after e2e.sh

burners=()

# One busy process a processor. They end with the script. With nice 5 they take a
# quarter of each processor from the test, as often as before.
burn()
{
	local i

	for ((i = 0; i < $(nproc); i++)); do
		timeout 600 nice -n 5 sh -c 'while :; do :; done' &
		burners+=($!)
	done
}

stop_burning()
{
	[ ${#burners[@]} = 0 ] || kill "${burners[@]}" 2>/dev/null
	burners=()
}
