package main

import (
	"fmt"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const keys = 128

var (
	words         [keys]string
	plain         = map[string]uint64{}
	concurrent    sync.Map
	published     atomic.Pointer[map[string]uint64] // never changed, only replaced
	mutex         sync.Mutex
	readersWriter sync.RWMutex
)

// word makes a new one each time: those that are looked up are equal to those in the map, but not the same, as a program's mostly are.
func word(number int) string { return fmt.Sprintf("key %d", number) }

func init() {
	for i := range words {
		words[i] = word(i)
		plain[word(i)] = 0
		concurrent.Store(word(i), uint64(0))
	}
	first := maps.Clone(plain)
	published.Store(&first)
}

func lookUp(cache map[string]uint64, key string) {
	if _, found := cache[key]; !found {
		fail("`%s` is not in the cache", key)
	}
}

// replaced is the published map with one more for a key.
func replaced(key string) {
	next := maps.Clone(*published.Load())
	next[key]++
	published.Store(&next)
}

func copyRead(key string) { lookUp(*published.Load(), key) }

var caches = map[string]struct{ read, write func(key string) }{
	"lock": {
		func(key string) { mutex.Lock(); lookUp(plain, key); mutex.Unlock() },
		func(key string) { mutex.Lock(); plain[key]++; mutex.Unlock() },
	},
	"rwlock": {
		func(key string) { readersWriter.RLock(); lookUp(plain, key); readersWriter.RUnlock() },
		func(key string) { readersWriter.Lock(); plain[key]++; readersWriter.Unlock() },
	},
	// The library's map for many goroutines. A writer that another came before tries again.
	"concurrent": {
		func(key string) {
			if _, found := concurrent.Load(key); !found {
				fail("`%s` is not in the cache", key)
			}
		},
		func(key string) {
			for {
				value, found := concurrent.Load(key)
				if !found {
					fail("`%s` is not in the cache", key)
				}
				if concurrent.CompareAndSwap(key, value, value.(uint64)+1) {
					return
				}
			}
		},
	},
	// Writers take turns, so that every update is in the next copy.
	"copy": {copyRead, func(key string) { mutex.Lock(); replaced(key); mutex.Unlock() }},
	// Writers do not: of two that copy at once the later one wins, and the update of the other is lost.
	"weak": {copyRead, replaced},
}

func updatesKept() (sum uint64) {
	for _, cache := range []map[string]uint64{plain, *published.Load()} {
		for _, value := range cache {
			sum += value
		}
	}
	concurrent.Range(func(_, value any) bool {
		sum += value.(uint64)
		return true
	})
	return sum
}

// runCache lets tasks look words up, and now and then add to the count of a word.
func runCache(way string, arguments []int) {
	cache, known := caches[way]
	if !known {
		fail("there is no program `cache_%s`", way)
	}
	writes := uint64(arguments[1])
	tasks, elapsed := runTasks(arguments[0], time.Duration(arguments[2])*time.Millisecond, func(t *task) {
		for key := t.number; !timeIsUp.Load(); t.operations += operationsALook {
			for i := 0; i < operationsALook; i++ {
				key = (key + 7) % keys
				if t.permille() < writes {
					cache.write(words[key])
					t.updates++
				} else {
					cache.read(words[key])
				}
			}
		}
	})
	var operations, updates uint64
	for i := range tasks {
		operations += tasks[i].operations
		updates += tasks[i].updates
	}
	kept := updatesKept()
	if kept != updates && way != "weak" {
		fail("%s lost updates: %d of %d are left", way, kept, updates)
	}
	fmt.Printf("cache, tasks %d, writes %d\n", arguments[0], arguments[1])
	fmt.Printf("@@ run elapsed_ns=%d operations=%d updates=%d kept=%d\n", elapsed.Nanoseconds(), operations, updates, kept)
}

// runStarve has one task write, each time as soon as it may, while the others read without a pause.
func runStarve(way string, arguments []int) {
	cache, known := caches[way]
	if !known || way == "weak" {
		fail("there is no program `starve_%s`", way)
	}
	writer := arguments[0]
	tasks, elapsed := runTasks(writer+1, time.Duration(arguments[1])*time.Millisecond, func(t *task) {
		// A writer goes on until it has written once, whenever that is.
		for key := t.number; !timeIsUp.Load() || t.number == writer && t.updates == 0; key = (key + 7) % keys {
			if t.number != writer {
				cache.read(words[key])
				t.operations++
				continue
			}
			began := time.Now()
			cache.write(words[key])
			t.longestWait = max(t.longestWait, time.Since(began))
			t.updates++
			runtime.Gosched()
		}
	})
	var operations uint64
	for i := range tasks[:writer] {
		operations += tasks[i].operations
	}
	fmt.Printf("one writer, readers %d\n", arguments[0])
	fmt.Printf("@@ run elapsed_ns=%d whole_ns=%d operations=%d updates=%d longest_wait_ns=%d\n",
		elapsed.Nanoseconds(), elapsed.Nanoseconds(), operations, tasks[writer].updates, tasks[writer].longestWait.Nanoseconds())
}
