package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// A gate says who may enter the database, and when.
type gate interface {
	enterReader()
	leaveReader()
	enterWriter()
	leaveWriter()
}

// access lets readers and writers at the database. A write changes both halves and gives way between; a reader that sees halves that
// differ has seen a torn write.
func access(arguments []int, gate gate) string {
	readers, writers, rounds, work := arguments[0], arguments[1], arguments[2], arguments[3]
	var halves [2]int32
	var torn atomic.Int32
	var sum atomic.Uint32
	read := func(x uint32) uint32 {
		gate.enterReader()
		first := halves[0]
		x = busy(x, work)
		runtime.Gosched()
		if halves[1] != first {
			torn.Add(1)
		}
		gate.leaveReader()
		return x
	}
	write := func(x uint32) uint32 {
		gate.enterWriter()
		halves[0]++
		x = busy(x, work)
		runtime.Gosched()
		halves[1]++
		gate.leaveWriter()
		return x
	}
	together(readers+writers, func(own int) {
		x := uint32(own)
		for i := 0; i < rounds; i++ {
			x = busy(x, work)
			if own < readers {
				x = read(x)
			} else {
				x = write(x)
			}
		}
		sum.Add(x)
	})
	return fmt.Sprintf("reads %d writes %d torn %d sum %d", readers*rounds, halves[1], torn.Load(), sum.Load())
}

// concurrentGate is the library's lock for readers and writers.
type concurrentGate struct{ lock sync.RWMutex }

func (gate *concurrentGate) enterReader() { gate.lock.RLock() }
func (gate *concurrentGate) leaveReader() { gate.lock.RUnlock() }
func (gate *concurrentGate) enterWriter() { gate.lock.Lock() }
func (gate *concurrentGate) leaveWriter() { gate.lock.Unlock() }

func accessConcurrently(arguments []int, _ *account) string {
	return access(arguments, &concurrentGate{})
}

// cooperativeGate lets each look at its counts until it may enter.
type cooperativeGate struct{ reading, writing, waiting int }

func (gate *cooperativeGate) enterReader() {
	for gate.writing > 0 || gate.waiting > 0 {
		runtime.Gosched()
	}
	gate.reading++
}

func (gate *cooperativeGate) leaveReader() { gate.reading-- }

func (gate *cooperativeGate) enterWriter() {
	gate.waiting++
	for gate.reading > 0 || gate.writing > 0 {
		runtime.Gosched()
	}
	gate.waiting--
	gate.writing++
}

func (gate *cooperativeGate) leaveWriter() { gate.writing-- }

func accessCooperatively(arguments []int, _ *account) string {
	return access(arguments, &cooperativeGate{})
}
