// SPDX-License-Identifier: MIT
//
// share - the same in Go, with cgo: one thread runs C, the other Go

package main

/*
#include <time.h>

static long counters[8] __attribute__((aligned(64)));

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void work(double seconds)
{
	double end = now() + seconds;

	do {
		for (int i = 0; i < 100000; i++)
			__atomic_fetch_add(&counters[0], 1, 5); // SHARED IN C
	} while (now() < end);
}

static long *other(void)
{
	return &counters[1];
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"
)

func count(mine *int64) {
	atomic.AddInt64(mine, 1) // SHARED IN GO
}

func work(mine *int64, d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for i := 0; i < 100000; i++ {
			count(mine)
		}
	}
}

func main() {
	ms := 1000
	if len(os.Args) > 1 {
		ms, _ = strconv.Atoi(os.Args[1])
	}
	done := make(chan bool)
	go func() {
		runtime.LockOSThread()
		C.work(C.double(float64(ms) / 1000))
		done <- true
	}()
	mine := (*int64)(unsafe.Pointer(C.other()))
	work(mine, time.Duration(ms)*time.Millisecond)
	<-done
	fmt.Println(*mine > 0)
}
