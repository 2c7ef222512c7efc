package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// dineConcurrently gives each fork a mutex; the last philosopher takes the right fork first.
func dineConcurrently(arguments []int, _ *account) string {
	philosophers, meals, work := arguments[0], arguments[1], arguments[2]
	forks := make([]sync.Mutex, philosophers)
	var sum atomic.Uint32
	together(philosophers, func(own int) {
		next := (own + 1) % philosophers
		first, second := min(own, next), max(own, next)
		x := uint32(own)
		for i := 0; i < meals; i++ {
			x = busy(x, work) // think
			forks[first].Lock()
			forks[second].Lock()
			x = busy(x, work) // eat
			forks[first].Unlock()
			forks[second].Unlock()
		}
		sum.Add(x)
	})
	return fmt.Sprintf("meals %d sum %d", philosophers*meals, sum.Load())
}

// dineCooperatively gives way until both forks are there.
func dineCooperatively(arguments []int, _ *account) string {
	philosophers, meals, work := arguments[0], arguments[1], arguments[2]
	free := make([]bool, philosophers)
	for i := range free {
		free[i] = true
	}
	var sum uint32
	together(philosophers, func(own int) {
		next := (own + 1) % philosophers
		x := uint32(own)
		for i := 0; i < meals; i++ {
			x = busy(x, work) // think
			for !(free[own] && free[next]) {
				runtime.Gosched()
			}
			free[own], free[next] = false, false
			x = busy(x, work) // eat
			free[own], free[next] = true, true
		}
		sum += x
	})
	return fmt.Sprintf("meals %d sum %d", philosophers*meals, sum)
}
