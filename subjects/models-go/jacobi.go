package main

import (
	"fmt"
	"math"
	"runtime"
	"sync"
)

// iterate relaxes a square grid with a row and a column more on each side, which never change.
func iterate(arguments []int, barrier func()) string {
	size, workers, iterations := arguments[0], arguments[1], arguments[2]
	grids := [2][][]float64{newGrid(size), newGrid(size)}
	changes := make([]float64, workers)
	together(workers, func(own int) {
		first, last := own*size/workers+1, (own+1)*size/workers
		for i := 0; i < iterations; i++ {
			changes[own] = sweep(grids[i%2], grids[1-i%2], first, last)
			barrier()
		}
	})
	sum, largest := 0.0, 0.0
	for _, row := range grids[iterations%2][1 : size+1] {
		for _, value := range row[1 : size+1] {
			sum += value
		}
	}
	for _, change := range changes {
		largest = max(largest, change)
	}
	return fmt.Sprintf("sum %.6f change %.9f", sum, largest)
}

func newGrid(size int) [][]float64 {
	grid := make([][]float64, size+2)
	for i := range grid {
		grid[i] = make([]float64, size+2)
	}
	for j := range grid[0] {
		grid[0][j] = 1.0
	}
	return grid
}

func sweep(from, to [][]float64, first, last int) float64 {
	largest := 0.0
	for i := first; i <= last; i++ {
		above, own, below, target := from[i-1], from[i], from[i+1], to[i]
		for j := 1; j < len(own)-1; j++ {
			target[j] = (above[j] + below[j] + own[j-1] + own[j+1]) * 0.25
			if change := math.Abs(target[j] - own[j]); change > largest {
				largest = change
			}
		}
	}
	return largest
}

// iterateConcurrently has a barrier that waits on a condition.
func iterateConcurrently(arguments []int, _ *account) string {
	workers := arguments[1]
	var lock sync.Mutex
	changed := sync.NewCond(&lock)
	arrived, phase := 0, 0
	return iterate(arguments, func() {
		lock.Lock()
		defer lock.Unlock()
		arrived++
		if arrived == workers {
			arrived = 0
			phase++
			changed.Broadcast()
			return
		}
		for own := phase; phase == own; {
			changed.Wait()
		}
	})
}

// iterateCooperatively has a barrier that counts, and gives way until the last has come.
func iterateCooperatively(arguments []int, _ *account) string {
	workers := arguments[1]
	arrived, phase := 0, 0
	return iterate(arguments, func() {
		own := phase
		arrived++
		if arrived == workers {
			arrived = 0
			phase++
			return
		}
		for phase == own {
			runtime.Gosched()
		}
	})
}
