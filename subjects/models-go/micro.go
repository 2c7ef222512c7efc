package main

import (
	"fmt"
	"runtime"
	"sync/atomic"
)

// loop runs goroutines without synchronization.
func loop(arguments []int, _ *account) string {
	goroutines, iterations := arguments[0], arguments[1]
	var sum atomic.Uint32
	together(goroutines, func(own int) {
		sum.Add(busy(uint32(own), iterations))
	})
	return fmt.Sprintf("sum %d", sum.Load())
}

// handOver lets two goroutines hand control to each other through channels.
func handOver(arguments []int, told *account) string {
	rounds := arguments[0]
	turn := [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}
	turn[0] <- struct{}{}
	together(2, func(own int) {
		for i := 0; i < rounds; i++ {
			<-turn[own]
			turn[1-own] <- struct{}{}
		}
	})
	told.operations = 2 * rounds
	return fmt.Sprintf("rounds %d", rounds)
}

// giveWay lets two goroutines give way to each other.
func giveWay(arguments []int, told *account) string {
	rounds := arguments[0]
	together(2, func(int) {
		for i := 0; i < rounds; i++ {
			runtime.Gosched()
		}
	})
	told.operations = 2 * rounds
	return fmt.Sprintf("rounds %d", rounds)
}

// share counts how often the processor goes from one of two goroutines with long loops to the other.
func share(arguments []int, told *account) string {
	chunks, work := arguments[0], arguments[1]
	var latest, turns atomic.Int32
	var sum atomic.Uint32
	latest.Store(-1)
	together(2, func(own int) {
		x := uint32(own)
		for i := 0; i < chunks; i++ {
			x = busy(x, work)
			if latest.Swap(int32(own)) != int32(own) {
				turns.Add(1)
			}
		}
		sum.Add(x)
	})
	told.turns = int(turns.Load())
	return fmt.Sprintf("sum %d", sum.Load())
}
