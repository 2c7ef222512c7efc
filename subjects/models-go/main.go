// Models runs one of the programs that compare execution models: `models PROGRAM ARGUMENTS`.
//
// The programs in concurrent style (_cp) synchronize with what the language has for it. Those in cooperative style (_cm) look at shared
// variables and give way; they need GOMAXPROCS=1 and GODEBUG=asyncpreemptoff=1, and call no function between a test and what
// follows it, so that nothing else can run between the two.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A program: its arguments' names with their least values, and what it does. It returns its answer.
type program struct {
	parameters []parameter
	run        func(arguments []int, account *account) string
}

type parameter struct {
	name  string
	least int
}

// account is what a run tells of itself beside its answer.
type account struct {
	operations, turns int
}

var programs = map[string]program{
	"loop":    {[]parameter{{"goroutines", 1}, {"iterations", 0}}, loop},
	"sync_cp": {[]parameter{{"rounds", 1}}, handOver},
	"sync_cm": {[]parameter{{"rounds", 1}}, giveWay},
	"dp_cp":   {[]parameter{{"philosophers", 2}, {"meals", 0}, {"work", 0}}, dineConcurrently},
	"dp_cm":   {[]parameter{{"philosophers", 2}, {"meals", 0}, {"work", 0}}, dineCooperatively},
	"pc_cp":   {[]parameter{{"items", 0}, {"work", 0}}, produceConcurrently},
	"pc_cm":   {[]parameter{{"items", 0}, {"work", 0}}, produceCooperatively},
	"rw_cp":   {[]parameter{{"readers", 0}, {"writers", 0}, {"rounds", 0}, {"work", 0}}, accessConcurrently},
	"rw_cm":   {[]parameter{{"readers", 0}, {"writers", 0}, {"rounds", 0}, {"work", 0}}, accessCooperatively},
	"ji_cp":   {[]parameter{{"size", 1}, {"workers", 1}, {"iterations", 0}}, iterateConcurrently},
	"ji_cm":   {[]parameter{{"size", 1}, {"workers", 1}, {"iterations", 0}}, iterateCooperatively},
	"sharing": {[]parameter{{"chunks", 1}, {"work", 0}}, share},
}

func main() {
	if len(os.Args) < 2 {
		fail("give the name of a program and its arguments")
	}
	name := os.Args[1]
	chosen, known := programs[name]
	if !known {
		fail("there is no program `%s`", name)
	}
	arguments := parse(chosen.parameters, os.Args[2:])
	if strings.HasSuffix(name, "_cm") {
		mustBeCooperative()
	}
	var told account
	began := time.Now()
	answer := chosen.run(arguments, &told)
	elapsed := time.Since(began)
	fmt.Printf("@@ run elapsed_ns=%d", elapsed.Nanoseconds())
	if told.operations > 0 {
		fmt.Printf(" operations=%d", told.operations)
	}
	if told.turns > 0 {
		fmt.Printf(" turns=%d", told.turns)
	}
	fmt.Printf("\n%s\n", answer)
}

func parse(parameters []parameter, words []string) []int {
	var values []int
	for i, parameter := range parameters {
		if i >= len(words) {
			fail("an argument is missing: number of %s", parameter.name)
		}
		value, err := strconv.Atoi(words[i])
		if err != nil || value < parameter.least {
			fail("`%s` is no number of %s: give a whole number of at least %d", words[i], parameter.name, parameter.least)
		}
		values = append(values, value)
	}
	return values
}

func mustBeCooperative() {
	if runtime.GOMAXPROCS(0) != 1 || !strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") {
		fail("a cooperative program needs GOMAXPROCS=1 and GODEBUG=asyncpreemptoff=1")
	}
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "models: "+format+"\n", arguments...)
	os.Exit(2)
}

// together runs count goroutines of body, each with its number from 0, and waits for all.
func together(count int, body func(own int)) {
	var all sync.WaitGroup
	all.Add(count)
	for own := 0; own < count; own++ {
		go func(own int) {
			defer all.Done()
			body(own)
		}(own)
	}
	all.Wait()
}

// busy is a loop of work dependent steps.
func busy(seed uint32, work int) uint32 {
	x := seed
	for i := 1; i <= work; i++ {
		x = x*3 + uint32(i)
	}
	return x
}

// compute is real work: work steps with a remainder each.
func compute(value int32, work int) int32 {
	x := value
	for i := int32(1); i <= int32(work); i++ {
		x = x*3 + x%i
	}
	return x
}
