package kit

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// resources is what the process has used so far. It is read outside of timed regions.
type resources struct {
	voluntary, involuntary, minor, major uint64
	wait                                 uint64
	waitKnown                            bool
	processor                            string
}

func (s *Subject) resources() resources {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	r := resources{
		voluntary: uint64(usage.Nvcsw), involuntary: uint64(usage.Nivcsw),
		minor: uint64(usage.Minflt), major: uint64(usage.Majflt),
	}
	r.wait, r.waitKnown = waited()
	r.processor = processor()
	if s.OwnSwitches != nil {
		r.voluntary, r.involuntary = s.OwnSwitches(), 0
	}
	return r
}

// getcpu is the call's number, which package syscall does not name.
var getcpu = map[string]uintptr{"amd64": 309, "arm64": 168, "riscv64": 168, "386": 318, "arm": 345}[runtime.GOARCH]

// processor is the one that the calling thread is on, as the protocol writes it.
func processor() string {
	var number uint32
	if getcpu == 0 {
		return "-"
	}
	if _, _, errno := syscall.RawSyscall(getcpu, uintptr(unsafe.Pointer(&number)), 0, 0); errno != 0 {
		return "-"
	}
	return strconv.Itoa(int(number))
}

// waited is the second of three numbers: time on the processor, time ready but not running, slices. The goroutine may have changed threads
// since the last time, so the file is opened anew; a difference across threads is none, and told as unknown.
func waited() (uint64, bool) {
	text, err := os.ReadFile("/proc/thread-self/schedstat")
	words := strings.Fields(string(text))
	if err != nil || len(words) < 2 || words[0] == "0" {
		return 0, false
	}
	wait, err := strconv.ParseUint(words[1], 10, 64)
	return wait, err == nil
}

// waitBetween is the time waited between two readings as the protocol writes it.
func waitBetween(before, after resources) string {
	if !before.waitKnown || !after.waitKnown || after.wait < before.wait {
		return "-"
	}
	return strconv.FormatUint(after.wait-before.wait, 10)
}

// answerUsage tells VmHWM as the peak: Maxrss would still hold the peak of the parent that this process was forked from.
func answerUsage(a *answer) {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	status, _ := os.ReadFile("/proc/self/status")
	peak, err := strconv.ParseInt(statusWord(string(status), "VmHWM:"), 10, 64)
	if err != nil {
		peak = usage.Maxrss
	}
	threads, _ := strconv.Atoi(statusWord(string(status), "Threads:"))
	a.line("usage user=%d system=%d peak_rss=%d minor=%d major=%d voluntary=%d involuntary=%d threads=%d",
		usage.Utime.Nano(), usage.Stime.Nano(), peak*1024, usage.Minflt, usage.Majflt, usage.Nvcsw, usage.Nivcsw, threads)
}

// sleepUntil waits for a moment; sleep ends late, so the last of it is spent looking at the clock.
func sleepUntil(moment time.Duration) {
	const spin = 150 * time.Microsecond
	if left := moment - Now(); left > spin {
		time.Sleep(left - spin)
	}
	for Now() < moment {
	}
}
