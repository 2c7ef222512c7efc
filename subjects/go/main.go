// Examined holds one test of each kind that the kit serves: what Go's own means to synchronize and to take storage cost.
package main

import (
	"sync"
	"time"

	"antiphon/subjects/go/kit"
)

func main() {
	kit.Serve(kit.Subject{Language: "Go", Tests: []kit.Test{
		{Name: "lock.free", Prepare: func(uint64) (kit.Frames, error) { return new(lock), nil }},
		{Name: "thread.start", Threads: 2, PrepareLatency: func(uint64) (kit.Operation, error) { return start{}, nil }},
		{Name: "storage.kept", Arg: "bytes", PrepareSeries: func(bytes uint64) (kit.Turns, error) { return &storage{bytes: bytes}, nil }},
	}})
}

// lock is one that nobody else wants.
type lock struct {
	sync.Mutex
	within uint64
}

func (l *lock) Control(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		l.within = i
		sum += i
	}
	return sum, nil
}

func (l *lock) Test(iterations uint64) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < iterations; i++ {
		l.Lock()
		l.within = i
		l.Unlock()
		sum += i
	}
	return sum, nil
}

// start is measured from before a goroutine is started to its first statement.
type start struct{}

func (start) Operate() (time.Duration, time.Duration, error) {
	began := make(chan time.Duration)
	actual := kit.Now()
	go func() {
		end := kit.Now()
		kit.TakesPart("partner")
		began <- end
	}()
	return actual, <-began, nil
}

// storage is taken and kept until the series ends.
type storage struct {
	bytes uint64
	kept  [][]byte
}

func (s *storage) Turn(index uint64) error {
	block := make([]byte, s.bytes)
	for i := range block {
		block[i] = byte(index)
	}
	s.kept = append(s.kept, block)
	return nil
}
