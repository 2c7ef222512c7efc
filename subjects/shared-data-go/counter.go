package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// counter lies on the heap in all languages but Python: what is reached by a register processors may keep at hand, and add to it several times as
// fast as to what has a fixed place in the program (docs/explanation/shared-data.md). The compiler keeps in memory what is reached so; the rest of two lines of
// the processor's cache keeps others away.
type counter struct {
	unprotected uint64
	indivisible atomic.Uint64
	locked      uint64
	lock        sync.Mutex
	_           [96]byte
}

var counters = map[string]struct {
	work  func(*counter)
	value func(*counter) uint64
}{
	"unsafe": {
		func(c *counter) {
			for i := 0; i < operationsALook; i++ {
				c.unprotected++
			}
		},
		func(c *counter) uint64 { return c.unprotected },
	},
	"atomic": {
		func(c *counter) {
			for i := 0; i < operationsALook; i++ {
				c.indivisible.Add(1)
			}
		},
		func(c *counter) uint64 { return c.indivisible.Load() },
	},
	"locked": {
		func(c *counter) {
			for i := 0; i < operationsALook; i++ {
				c.lock.Lock()
				c.locked++
				c.lock.Unlock()
			}
		},
		func(c *counter) uint64 { return c.locked },
	},
}

func runCounter(way string, arguments []int) {
	protected, known := counters[way]
	if !known {
		fail("there is no program `counter_%s`", way)
	}
	shared := new(counter)
	tasks, elapsed := runTasks(arguments[0], time.Duration(arguments[1])*time.Millisecond, func(t *task) {
		for !timeIsUp.Load() {
			protected.work(shared)
			t.operations += operationsALook
		}
	})
	var operations uint64
	for i := range tasks {
		operations += tasks[i].operations
	}
	kept := protected.value(shared)
	if kept != operations && way != "unsafe" {
		fail("%s lost increments: %d of %d are left", way, kept, operations)
	}
	fmt.Printf("counter, tasks %d\n", arguments[0])
	fmt.Printf("@@ run elapsed_ns=%d operations=%d kept=%d\n", elapsed.Nanoseconds(), operations, kept)
}
