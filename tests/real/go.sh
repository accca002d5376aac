# SPDX-License-Identifier: MIT
# A Go program linked through cgo: goroutines that compute, C threads that
# compute and call back, a signal of its own, the runtime's preemption signals.
needs='go gcc'
working=2
version() { go version | grep -o 'go[0-9][0-9.]*'; }
prepare()
{
	mkdir src && cat >src/main.go <<'GO'
package main

/*
#cgo LDFLAGS: -pthread
#include <pthread.h>
#include <stdint.h>

extern uint64_t goCallback(uint64_t);

static void *compute(void *arg)
{
	uint64_t *slot = arg, x = *slot;
	uint32_t table[1024] = { 0 };
	for (long i = 0; i < 1000000000; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		table[x >> 54] += x >> 32;
	}
	for (int i = 0; i < 1024; i++)
		x = x * 31 + table[i];
	*slot = goCallback(x);
	return 0;
}

static uint64_t run_threads(uint64_t seed)
{
	pthread_t t[2];
	uint64_t slot[32] = { 0 };
	slot[0] = seed, slot[16] = seed + 1;
	pthread_create(&t[0], 0, compute, &slot[0]);
	pthread_create(&t[1], 0, compute, &slot[16]);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return slot[0] ^ slot[16];
}
*/
import "C"

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sort"
	"sync"
	"syscall"
)

//export goCallback
func goCallback(x C.uint64_t) C.uint64_t {
	return x ^ 0x5555
}

// the primes between from and to, by a sieve
func primes(from, to int) (n int) {
	composite := make([]bool, to-from)
	for d := 2; d*d < to; d++ {
		first := (from + d - 1) / d * d
		if first < d*d {
			first = d * d
		}
		for k := first; k < to; k += d {
			composite[k-from] = true
		}
	}
	for k, is := range composite {
		if !is && k+from > 1 {
			n++
		}
	}
	return n
}

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGTRAP)
	syscall.Kill(os.Getpid(), syscall.SIGTRAP)
	fmt.Println("got", <-signals)

	var wait sync.WaitGroup
	counts := make([]int, 8)
	for i := range counts {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			counts[i] = primes(i*8000000, (i+1)*8000000)
		}(i)
	}
	wait.Wait()
	fmt.Println(counts)
	fmt.Println("C threads:", C.run_threads(42))

	words := map[[32]byte]int{}
	for i := 0; i < 300000; i++ {
		words[sha256.Sum256([]byte(fmt.Sprint(i%100000)))]++
	}
	runtime.GC()
	keys := make([]string, 0, len(words))
	for k, n := range words {
		keys = append(keys, fmt.Sprintf("%x %d", k[:4], n))
	}
	sort.Strings(keys)
	fmt.Println(len(keys), keys[0], keys[len(keys)-1])

	out, err := exec.Command("sh", "-c", "echo from a child; exit 3").CombinedOutput()
	fmt.Printf("%s%v\n", out, err)
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		var p *int
		*p = 1
	}()
	os.Exit(8)
}
GO
	printf 'module example.org/compute\n\ngo 1.19\n' >src/go.mod
	(cd src && GOCACHE=$DATA/cache GOPATH=$DATA/gopath GOFLAGS=-mod=mod \
		CGO_ENABLED=1 go build -o ../compute .)
}
run() { profiled "$DATA/compute"; }
