package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Global, so that the compiler keeps each in memory.
var (
	unprotected uint64
	indivisible atomic.Uint64
	lock        sync.Mutex
	locked      uint64
)

func until(work func()) func(*task) {
	return func(t *task) {
		for !timeIsUp.Load() {
			work()
			t.operations += operationsALook
		}
	}
}

var counters = map[string]struct {
	work  func()
	value func() uint64
}{
	"unsafe": {
		func() {
			for i := 0; i < operationsALook; i++ {
				unprotected++
			}
		},
		func() uint64 { return unprotected },
	},
	"atomic": {
		func() {
			for i := 0; i < operationsALook; i++ {
				indivisible.Add(1)
			}
		},
		func() uint64 { return indivisible.Load() },
	},
	"locked": {
		func() {
			for i := 0; i < operationsALook; i++ {
				lock.Lock()
				locked++
				lock.Unlock()
			}
		},
		func() uint64 { return locked },
	},
}

func runCounter(way string, arguments []int) {
	counter, known := counters[way]
	if !known {
		fail("there is no program `counter_%s`", way)
	}
	tasks, elapsed := runTasks(arguments[0], time.Duration(arguments[1])*time.Millisecond, until(counter.work))
	var operations uint64
	for i := range tasks {
		operations += tasks[i].operations
	}
	kept := counter.value()
	if kept != operations && way != "unsafe" {
		fail("%s lost increments: %d of %d are left", way, kept, operations)
	}
	fmt.Printf("counter, tasks %d\n", arguments[0])
	fmt.Printf("@@ run elapsed_ns=%d operations=%d kept=%d\n", elapsed.Nanoseconds(), operations, kept)
}
