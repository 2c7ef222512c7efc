// Package kit speaks the subject protocol (docs/reference/subject-protocol.md) for any Go program that is measured.
//
// A program lists its tests and serves the laboratory's requests until it has had enough:
//
//	func main() {
//		kit.Serve(kit.Subject{Language: "Go", Tests: []kit.Test{
//			{Name: "lock.free", Prepare: func(uint64) (kit.Frames, error) { return new(lock), nil }},
//		}})
//	}
//
// What Prepare returns is used from before the warm-up until after the last slice. If it also has a method of [Resetter] or [io.Closer],
// those are called after each slice and at the end. The goroutines that it starts call [TakesPart] once an operation.
package kit

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Frames are a control loop and a test loop, alike but for what is measured. Both go round `iterations` times and give a checksum that
// depends on the work done, equal for equal iterations. They are timed: no output, no set-up.
type Frames interface {
	Control(iterations uint64) (uint64, error)
	Test(iterations uint64) (uint64, error)
}

// Resetter is what frames may be too: Reset gives back, untimed, what a slice took, or fails its test if it finds that the slice went wrong.
type Resetter interface {
	Reset() error
}

// Operation is one whose latency is measured. It tells when it started and ended, by [Now].
type Operation interface {
	Operate() (start, end time.Duration, err error)
}

// Turns is a loop with a clock reading after each turn; index counts from 1. An error of type [Exhausted] ends the loop as the protocol
// means it, any other is the test's failure.
type Turns interface {
	Turn(index uint64) error
}

// Exhausted says in which words the system refused what a turn asked for.
type Exhausted string

func (words Exhausted) Error() string { return string(words) }

// A Reporter has partners in other processes and hands in, untimed, what their threads report.
type Reporter interface {
	Reports() ([]Report, error)
}

// Test is one that a subject lists. One of Prepare, PrepareLatency and PrepareSeries is given, unless it is absent; each gets the argument,
// 0 if the test takes none.
type Test struct {
	Name           string
	Prepare        func(argument uint64) (Frames, error)
	PrepareLatency func(argument uint64) (Operation, error)
	PrepareSeries  func(argument uint64) (Turns, error)
	Arg            string // the argument's unit: ns, bytes or count; empty if it takes none
	Switches       string // context switches of an operation under placement same; empty if none are declared
	Threads        int    // that take part in one operation; 0 means 1
	Work           string // key of equal work across subjects
	Most           uint64 // iterations that a slice may have; 0: no limit
	Absent         string // why the test cannot run here, and what would mend it
}

// Subject is a program that is measured.
type Subject struct {
	Language string
	Tests    []Test
	// OwnSwitches counts the context switches so far of all processes that take part; nil: the kit counts those of this one.
	OwnSwitches func() uint64
	// OnPlacement does what more a placement asks for, such as moving the processes of partners; may be nil.
	OnPlacement func(Placement) error
}

// Functions are frames that need no preparation.
func Functions(control, test func(iterations uint64) uint64) func(uint64) (Frames, error) {
	return func(uint64) (Frames, error) { return functions{control, test}, nil }
}

type functions struct{ control, test func(uint64) uint64 }

func (f functions) Control(n uint64) (uint64, error) { return f.control(n), nil }
func (f functions) Test(n uint64) (uint64, error)    { return f.test(n), nil }

var start = time.Now()

// Now is the subject's clock: the monotonic clock since the program's start.
func Now() time.Duration { return time.Since(start) }

var reporting atomic.Bool

// TakesPart is what each goroutine that a test starts calls, at each operation: its thread reports in untimed iterations; in timed ones it
// costs a test of a variable.
func TakesPart(role string) {
	if reporting.Load() {
		reports.add(thisThread(role))
	}
}

// Multiplier and addend of the dependent chain, in variables: the compiler would make one step of several that it knows.
var multiplier, addend uint64 = 6364136223846793005, 1442695040888963407

// refusal is an `@@ error`.
type refusal struct{ code, text string }

func (r refusal) Error() string { return r.code + " " + r.text }

func badArgument(format string, values ...any) error {
	return refusal{"bad-argument", fmt.Sprintf(format, values...)}
}

func failed(err error) error { return refusal{"failed", err.Error()} }
