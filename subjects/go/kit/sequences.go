package kit

import (
	"errors"
	"math"
	"syscall"
	"time"
	"unsafe"
)

const (
	readingsMost = 1_000_000
	gapsMost     = 200_000
	// Between two looks at whether time is up there are so many readings.
	readingsALook = 1024
)

// ownClock is the one that slices are timed with.
const ownClock = "time.Since"

type clock struct {
	name string
	read func() int64
}

var clocks = []clock{
	{ownClock, func() int64 { return int64(Now()) }},
	{"time.Now", func() int64 { return time.Now().UnixNano() }},
	{"CLOCK_PROCESS_CPUTIME_ID", func() int64 { return systemClock(2) }},
}

// systemClock asks the system, as the language has no name for the clock.
func systemClock(which uintptr) int64 {
	var reading syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, which, uintptr(unsafe.Pointer(&reading)), 0)
	return reading.Nano()
}

func clockNamed(name string) (*clock, error) {
	for i := range clocks {
		if clocks[i].name == name {
			return &clocks[i], nil
		}
	}
	return nil, refusal{"unknown-clock", name + "; `list` names the clocks"}
}

func (s *server) clock(r *request, a *answer) error {
	if err := r.expect(2, "clock NAME COUNT"); err != nil {
		return err
	}
	clock, err := clockNamed(r.words[1])
	if err != nil {
		return err
	}
	count, err := number("COUNT", r.words[2], 1, readingsMost)
	if err != nil {
		return err
	}
	readings := touched(count)
	reports.forget()
	reports.add(thisThread("main"))
	for i := range readings {
		readings[i] = clock.read()
	}
	reports.add(thisThread("main"))
	a.readings(readings)
	reports.answer(a)
	return nil
}

func touched(count uint64) []int64 {
	readings := make([]int64, count)
	for i := range readings {
		readings[i] = -1
	}
	return readings
}

type gapLoop struct {
	kept                          [][2]int64
	readings, elapsed, gaps, lost int64
}

// watch keeps the gaps alone. The last readings follow the look that found the time over.
func (g *gapLoop) watch(clock *clock, time, over int64) {
	first := clock.read()
	before, end, timeOver := first, int64(Now())+time, false
	g.readings = 1
	for !timeOver {
		timeOver = int64(Now()) >= end
		for i := 0; i < readingsALook; i++ {
			now := clock.read()
			if gap := now - before; gap > over {
				if g.gaps < gapsMost {
					g.kept[g.gaps] = [2]int64{before - first, gap}
				}
				g.gaps++
				g.lost += gap
			}
			before = now
		}
		g.readings += readingsALook
	}
	g.elapsed = max(before-first, 0)
}

func (s *server) gaps(r *request, a *answer) error {
	if err := r.expect(1, "gaps NAME time=NS over=D"); err != nil {
		return err
	}
	clock, err := clockNamed(r.words[1])
	if err != nil {
		return err
	}
	var time, over uint64
	err = r.numbers(wanted{"time", 1_000_000, 60_000_000_000, &time}, wanted{"over", 0, math.MaxInt64, &over})
	if err != nil {
		return err
	}
	loop := gapLoop{kept: make([][2]int64, gapsMost)}
	for i := range loop.kept {
		loop.kept[i][0] = -1
	}
	reports.forget()
	reports.add(thisThread("main"))
	before := s.subject.resources()
	loop.watch(clock, int64(time), int64(over))
	after := s.subject.resources()
	reports.add(thisThread("main"))
	for _, gap := range loop.kept[:min(loop.gaps, gapsMost)] {
		a.line("gap %d %d", gap[0], gap[1])
	}
	a.line("loop readings=%d elapsed=%d wait=%s gaps=%d lost=%d", loop.readings, loop.elapsed, waitBetween(before, after), loop.gaps, loop.lost)
	reports.answer(a)
	return nil
}

// --- Latency ---------------------------------------------------------------------------------------------------------------

type sample struct{ intended, actual, end time.Duration }

func (s *server) latency(r *request, a *answer) error {
	s.finish()
	t, err := s.named(r)
	if err != nil {
		return err
	}
	if t.PrepareLatency == nil {
		return otherKind(t, "latency")
	}
	argument, err := t.argument(r)
	if err != nil {
		return err
	}
	var count, interval uint64
	err = r.numbers(wanted{"count", 1, readingsMost, &count}, wanted{"interval", 0, 1_000_000_000_000, &interval})
	if err != nil {
		return err
	}
	samples := make([]sample, count)
	for i := range samples {
		samples[i].end = -1
	}
	if err := runLatency(t, argument, samples, time.Duration(interval)); err != nil {
		return failed(err)
	}
	for _, s := range samples {
		a.line("sample %d %d %d", s.intended, s.actual, s.end)
	}
	reports.answer(a)
	return nil
}

func runLatency(t *Test, argument uint64, samples []sample, interval time.Duration) (err error) {
	defer recovered(&err)
	reports.forget()
	startReporting()
	defer stopReporting()
	operation, err := t.PrepareLatency(argument)
	if err != nil {
		return err
	}
	defer finish(operation)
	untimed := func() error {
		if _, _, err := operation.Operate(); err != nil {
			return err
		}
		return reportOthers(operation)
	}
	if err := untimed(); err != nil {
		return err
	}
	stopReporting()
	first := Now()
	for i := range samples {
		s := &samples[i]
		if s.intended = Now(); interval > 0 {
			s.intended = first + time.Duration(i)*interval
			sleepUntil(s.intended)
		}
		if s.actual, s.end, err = operation.Operate(); err != nil {
			return err
		}
	}
	startReporting()
	return untimed()
}

// --- Series ----------------------------------------------------------------------------------------------------------------

func (s *server) series(r *request, a *answer) error {
	s.finish()
	t, err := s.named(r)
	if err != nil {
		return err
	}
	if t.PrepareSeries == nil {
		return otherKind(t, "series")
	}
	argument, err := t.argument(r)
	if err != nil {
		return err
	}
	count, err := r.number("count", 1, readingsMost)
	if err != nil {
		return err
	}
	readings := touched(count + 1)
	reports.forget()
	reports.add(thisThread("main"))
	completed, err := runSeries(t, argument, readings)
	reports.add(thisThread("main")) // when everything is released
	var exhausted Exhausted
	if err != nil && !errors.As(err, &exhausted) {
		return failed(err)
	}
	a.readings(readings[:completed+1])
	if err == nil {
		a.line("outcome completed=%d end=count", completed)
	} else {
		a.line("outcome completed=%d end=exhausted text=%s", completed, encode(string(exhausted)))
	}
	reports.answer(a)
	return nil
}

// runSeries gives how many turns were done; an error of type Exhausted leaves those before it as they are.
func runSeries(t *Test, argument uint64, readings []int64) (completed int, err error) {
	defer recovered(&err)
	turns, err := t.PrepareSeries(argument)
	if err != nil {
		return 0, err
	}
	defer finish(turns)
	readings[0] = int64(Now())
	for completed+1 < len(readings) {
		if err := turns.Turn(uint64(completed + 1)); err != nil {
			return completed, err
		}
		completed++
		readings[completed] = int64(Now())
	}
	return completed, nil
}
