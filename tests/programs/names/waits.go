// SPDX-License-Identifier: MIT
//
// waits - pointers that wait in the frame while functions are called; each line
// that accesses a member says which
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

type stats struct{ tried, found int64 }

type queue struct {
	mu         sync.Mutex
	next, last int
	sums       [64]int
}

//go:noinline
func divisors(n int) int {
	return n / 3
}

//go:noinline
func work(q *queue, s *stats, done *sync.WaitGroup) {
	defer done.Done()
	for {
		q.mu.Lock()
		n := q.next // is: main.queue|.next
		q.next = n + 1 // is: main.queue|.next
		q.mu.Unlock()
		if n > q.last { // is: main.queue|.last
			return
		}
		sum := divisors(n)
		atomic.AddInt64(&s.found, int64(sum)) // is: main.stats|.found
		q.mu.Lock()
		q.sums[n%64] += sum // is: ?|
		q.mu.Unlock()
	}
}

func main() {
	last, _ := strconv.Atoi(os.Args[1])
	q := &queue{last: last}
	s := &stats{}
	var done sync.WaitGroup
	for i := 0; i < 3; i++ {
		done.Add(1)
		go work(q, s, &done)
	}
	done.Wait()
	fmt.Println(q.sums[0], s.found)
}
