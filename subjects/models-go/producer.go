package main

import (
	"fmt"
	"runtime"
)

// produceConcurrently passes items through a channel with one slot.
func produceConcurrently(arguments []int, _ *account) string {
	items, work := arguments[0], arguments[1]
	slot := make(chan int32, 1)
	var sum uint32
	together(2, func(own int) {
		if own == 0 {
			for i := 1; i <= items; i++ {
				slot <- compute(int32(i), work)
			}
			close(slot)
			return
		}
		for item := range slot {
			sum = sum*31 + uint32(compute(item, work))
		}
	})
	return fmt.Sprintf("items %d sum %d", items, sum)
}

// produceCooperatively passes items through a variable that both look at until their turn has come.
func produceCooperatively(arguments []int, _ *account) string {
	items, work := arguments[0], arguments[1]
	var slot int32
	var full bool
	var sum uint32
	produce := func() {
		for i := 1; i <= items; i++ {
			item := compute(int32(i), work)
			for full {
				runtime.Gosched()
			}
			slot, full = item, true
		}
	}
	consume := func() {
		for i := 1; i <= items; i++ {
			for !full {
				runtime.Gosched()
			}
			item := slot
			full = false
			sum = sum*31 + uint32(compute(item, work))
		}
	}
	together(2, func(own int) {
		if own == 0 {
			produce()
		} else {
			consume()
		}
	})
	return fmt.Sprintf("items %d sum %d", items, sum)
}
