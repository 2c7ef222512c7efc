// Goroutines and channels as a rival: prints nanoseconds a yield, a hand-over, an uncontended P and V, and a goroutine's life.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const n = 200000

// Processor time on one processor, the wall's on several.
func now(processors int) int64 {
	if processors > 1 {
		return time.Now().UnixNano()
	}
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func all(goroutines int, body func(int)) {
	var done sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		done.Add(1)
		go func() {
			defer done.Done()
			body(i)
		}()
	}
	done.Wait()
}

func yields(int) {
	for i := 0; i < n; i++ {
		runtime.Gosched()
	}
}

func handOvers(pairs int) {
	turns := make([][2]chan struct{}, pairs)
	for i := range turns {
		turns[i] = [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
		turns[i][0] <- struct{}{}
	}
	all(2*pairs, func(i int) {
		mine, other := turns[i/2][i%2], turns[i/2][1-i%2]
		for i := 0; i < n; i++ {
			<-mine
			other <- struct{}{}
		}
	})
}

func uncontended(int) {
	s := make(chan struct{}, 1)
	for i := 0; i < n; i++ {
		s <- struct{}{}
		<-s
	}
}

func lives(int) {
	done := make(chan struct{}, 1)
	for i := 0; i < n; i++ {
		go func() { done <- struct{}{} }()
		<-done
	}
}

func main() {
	processors, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	runtime.GOMAXPROCS(processors)
	pairs := processors
	cost := func(operations int, work func()) {
		before := now(processors)
		work()
		fmt.Println(float64(now(processors)-before) / float64(operations))
	}
	cost(2*n*pairs, func() { all(2*pairs, yields) })
	cost(2*n*pairs, func() { handOvers(pairs) })
	cost(n*pairs, func() { all(pairs, uncontended) })
	cost(n*pairs, func() { all(pairs, lives) })
}
