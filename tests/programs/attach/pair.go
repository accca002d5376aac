// SPDX-License-Identifier: MIT
//
// pair - two goroutines that add to words of one line, to one word, or apart
//
//	pair false|true|clean
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// A line more than is used: an array need not begin on a line.
var counters [64]int64

// Go moves goroutines from thread to thread, and their lines with them: that is
// true sharing, of a word with itself, unless each stays on its thread.
func add(i int) {
	runtime.LockOSThread()
	for {
		atomic.AddInt64(&counters[i], 1) // SHARED
	}
}

func main() {
	first, apart := 0, 1
	if len(os.Args) > 1 && os.Args[1] == "true" {
		apart = 0
	} else if len(os.Args) > 1 && os.Args[1] == "clean" {
		apart = 24
	}
	for uintptr(unsafe.Pointer(&counters[first]))%64 != 0 {
		first++
	}
	go add(first + apart)
	fmt.Println("ready")
	add(first)
}
