package kit

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// Placement is where threads run: on one processor (Main equals Partner), the main goroutine's on one and all others on another, or, if Free,
// wherever the system puts them.
type Placement struct {
	Free          bool
	Main, Partner int
}

// setWords is the length of a set of processors: room for 8192.
const setWords = 128

func pin(thread, processor int) error {
	var set [setWords]uint64
	if processor >= 64*setWords {
		return fmt.Errorf("the processor's number is too high")
	}
	set[processor/64] = 1 << (processor % 64)
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(thread), unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
	if errno != 0 {
		return errno
	}
	return nil
}

// PinProcess lets every thread that a process has now run on one processor alone; threads that they start later inherit it.
func PinProcess(process, processor int) error {
	// Threads that start meanwhile inherit their starter's place, which a second pass has set.
	for pass := 0; pass < 2; pass++ {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", process))
		if err != nil {
			return err
		}
		for _, entry := range entries {
			thread, err := strconv.Atoi(entry.Name())
			if err != nil {
				continue
			}
			if err := pin(thread, processor); err != nil && err != syscall.ESRCH {
				return err
			}
		}
	}
	return nil
}

// place puts all threads where they belong. Under `same` goroutines keep to one of the run-time's processors too. Under `across` the main
// goroutine keeps its thread, which then runs no other; threads for others are started by those that are on the partners' processor.
func place(placement Placement) error {
	switch {
	case placement.Free:
		return nil
	case placement.Main == placement.Partner:
		runtime.GOMAXPROCS(1)
		return PinProcess(os.Getpid(), placement.Main)
	}
	runtime.LockOSThread()
	ready := make(chan struct{})
	go close(ready) // a thread for others is there before all are moved
	<-ready
	if err := PinProcess(os.Getpid(), placement.Partner); err != nil {
		return err
	}
	return pin(0, placement.Main)
}

// Report is what a thread says of itself.
type Report struct {
	Role      string // main for the measuring thread, any other word for its partners
	Policy    string // other, fifo, rr or the system's number
	Priority  int
	Processor int
	Allowed   string // such as 0-1,4
}

// Fields of /proc/thread-self/stat, counted from the one after the command's name.
const (
	statProcessor = 36
	statPriority  = 37
	statPolicy    = 38
)

func thisThread(role string) Report {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	stat, _ := os.ReadFile("/proc/thread-self/stat")
	status, _ := os.ReadFile("/proc/thread-self/status")
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	field := func(index int) int {
		if index >= len(fields) {
			return 0
		}
		value, _ := strconv.Atoi(fields[index])
		return value
	}
	report := Report{Role: role, Priority: field(statPriority), Processor: field(statProcessor)}
	report.Allowed = statusWord(string(status), "Cpus_allowed_list:")
	switch policy := field(statPolicy); policy {
	case 0:
		report.Policy = "other"
	case 1:
		report.Policy = "fifo"
	case 2:
		report.Policy = "rr"
	default:
		report.Policy = strconv.Itoa(policy)
	}
	return report
}

// statusWord is the word after a key of /proc/…/status, empty if there is none.
func statusWord(status, key string) string {
	_, rest, found := strings.Cut(status, "\n"+key)
	if words := strings.Fields(rest); found && len(words) > 0 {
		return words[0]
	}
	return ""
}

var reports reportList

type reportList struct {
	sync.Mutex
	order []Report
	count map[Report]int
}

func (l *reportList) add(report Report) {
	l.Lock()
	defer l.Unlock()
	if l.count == nil {
		l.count = map[Report]int{}
	}
	if l.count[report]++; l.count[report] == 1 {
		l.order = append(l.order, report)
	}
}

func (l *reportList) forget() {
	l.Lock()
	defer l.Unlock()
	l.order, l.count = nil, nil
}

func (l *reportList) answer(a *answer) {
	l.Lock()
	defer l.Unlock()
	for _, r := range l.order {
		a.line("thread role=%s policy=%s priority=%d processor=%d allowed=%s count=%d",
			encode(r.Role), r.Policy, r.Priority, r.Processor, r.Allowed, l.count[r])
	}
}

func startReporting() {
	reporting.Store(true)
	reports.add(thisThread("main"))
}

func stopReporting() { reporting.Store(false) }

// reportOthers takes what partners of other processes report.
func reportOthers(prepared any) error {
	reporter, has := prepared.(Reporter)
	if !has {
		return nil
	}
	others, err := reporter.Reports()
	for _, report := range others {
		reports.add(report)
	}
	return err
}
