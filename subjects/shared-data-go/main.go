// Shared runs tasks over data that they share, a counter or a cache, protected in several ways (docs/explanation/shared-data.md):
// counter_WAY TASKS MS, cache_WAY TASKS WRITES_PER_MILLE MS, starve_WAY READERS MS.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// operationsALook is how many operations a task does between two looks at whether time is up.
const operationsALook = 64

var timeIsUp atomic.Bool

// task is what one goroutine did. The rest of a line of the processor's cache keeps the next one apart.
type task struct {
	number      int
	operations  uint64
	updates     uint64
	longestWait time.Duration
	random      uint64
	_           [88]byte
}

// permille is a pseudo-random number below 1000 (xorshift), by which operations become reads or writes.
func (t *task) permille() uint64 {
	t.random ^= t.random << 13
	t.random ^= t.random >> 7
	t.random ^= t.random << 17
	return t.random >> 32 * 1000 >> 32
}

// runTasks gives what tasks did that started at a barrier and worked until time was up, and how long that was.
func runTasks(count int, span time.Duration, work func(*task)) ([]task, time.Duration) {
	tasks := make([]task, count)
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	for i := range tasks {
		tasks[i].number = i
		tasks[i].random = 88172645463325252 + uint64(i)*0x9E3779B97F4A7C15
		ready.Add(1)
		done.Add(1)
		go func(t *task) {
			defer done.Done()
			ready.Done()
			<-start
			work(t)
		}(&tasks[i])
	}
	ready.Wait()
	began, used := time.Now(), processorTime()
	close(start)
	time.Sleep(span)
	elapsed := time.Since(began) // what a task does after this is less than one look's
	timeIsUp.Store(true)
	done.Wait()
	fmt.Printf("@@ run cpu_ns=%d\n", (processorTime() - used).Nanoseconds())
	return tasks, elapsed
}

// processorTime is that of all tasks so far, the collector's included.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("the processor time cannot be read: %v", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

var programs = map[string]struct {
	run       func(way string, arguments []int)
	arguments [][2]int
	usage     string
}{
	"counter": {runCounter, [][2]int{{1, 64}, {1, 60000}}, "TASKS MS"},
	"cache":   {runCache, [][2]int{{1, 64}, {0, 1000}, {1, 60000}}, "TASKS WRITES_PER_MILLE MS"},
	"starve":  {runStarve, [][2]int{{1, 63}, {1, 60000}}, "READERS MS"},
}

func main() {
	if len(os.Args) < 2 {
		fail("give the name of a program and its arguments")
	}
	prefix, way, _ := strings.Cut(os.Args[1], "_")
	program, known := programs[prefix]
	if !known {
		fail("there is no program `%s`", os.Args[1])
	}
	if len(os.Args)-2 != len(program.arguments) {
		fail("write: %s %s", os.Args[1], program.usage)
	}
	var arguments []int
	for i, limits := range program.arguments {
		value, err := strconv.Atoi(os.Args[2+i])
		if err != nil || value < limits[0] || value > limits[1] {
			fail("`%s` must be a number from %d to %d", os.Args[2+i], limits[0], limits[1])
		}
		arguments = append(arguments, value)
	}
	program.run(way, arguments)
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}
