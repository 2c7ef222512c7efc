package kit

import (
	"fmt"
	"io"
	"math"
	"time"
)

type role string

const (
	control   role = "control"
	test      role = "test"
	reference role = "reference"
)

const blocksMost = 100_000

type slice struct {
	role          role
	iterations    uint64
	start, end    time.Duration
	before, after resources
	checksum      uint64
}

// run calls a frame; a panic in it is the test's failure.
func run(frames Frames, role role, iterations uint64) (checksum uint64, err error) {
	defer recovered(&err)
	switch role {
	case control:
		return frames.Control(iterations)
	case test:
		return frames.Test(iterations)
	default:
		return chain16(iterations), nil
	}
}

func recovered(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("it panicked: %v", panicked)
	}
}

// reset also follows a frame that failed, whose error then stands.
func reset(prepared any, failed error) (err error) {
	defer func() {
		if failed != nil {
			err = failed
		}
	}()
	defer recovered(&err)
	if resetter, has := prepared.(Resetter); has {
		return resetter.Reset()
	}
	return nil
}

func finish(prepared any) (err error) {
	defer recovered(&err)
	if closer, has := prepared.(io.Closer); has {
		return closer.Close()
	}
	return nil
}

// unpredictable is the state of what makes the processor forget learnt branches.
var unpredictable uint64 = 88172645463325252

func (s *Subject) slice(frames Frames, role role, iterations uint64) (slice, error) {
	var err error
	result := slice{role: role, iterations: iterations}
	unpredictable ^= unpredictable << 13
	unpredictable ^= unpredictable >> 7
	unpredictable ^= unpredictable << 17
	unlearn(unpredictable)
	result.before = s.resources()
	result.start = Now()
	result.checksum, err = run(frames, role, iterations)
	result.end = Now()
	result.after = s.resources()
	return result, reset(frames, err)
}

func untimed(frames Frames, role role, iterations uint64) error {
	if iterations == 0 {
		return nil
	}
	_, err := run(frames, role, iterations)
	return reset(frames, err)
}

func (r *slice) answer(block int, a *answer) {
	a.line("slice %d %s %d %d %d %d %d %d %d %s %s %d", block, r.role, r.iterations, r.start.Nanoseconds(), (r.end - r.start).Nanoseconds(),
		r.after.voluntary-r.before.voluntary, r.after.involuntary-r.before.involuntary,
		r.after.minor-r.before.minor, r.after.major-r.before.major,
		waitBetween(r.before, r.after), r.after.processor, r.checksum)
}

func fits(t *Test, key string, iterations uint64) error {
	if t.Most > 0 && iterations > t.Most {
		return badArgument("%s=%d: %s keeps what it takes until the slice ends; at most %d", key, iterations, t.Name, t.Most)
	}
	return nil
}

func prepare(t *Test, argument uint64) (frames Frames, err error) {
	defer recovered(&err)
	return t.Prepare(argument)
}

// --- Batches ---------------------------------------------------------------------------------------------------------------

var (
	withReference    = []role{reference, control, test, test, control, reference}
	withoutReference = []role{control, test, test, control}
)

type batch struct{ iterations, blocks, reference, warmup uint64 }

func (b *batch) order() []role {
	if b.reference == 0 {
		return withoutReference
	}
	return withReference
}

func (s *server) batch(r *request, a *answer) error {
	s.finish()
	t, err := s.frameTest(r)
	if err == nil {
		err = r.expect(1, "batch NAME iterations=N blocks=B reference=R warmup=W [arg=A]")
	}
	if err != nil {
		return err
	}
	argument, err := t.argument(r)
	if err != nil {
		return err
	}
	var b batch
	err = r.numbers(
		wanted{"iterations", 1, math.MaxInt64, &b.iterations}, wanted{"blocks", 1, blocksMost, &b.blocks},
		wanted{"reference", 0, math.MaxInt64, &b.reference}, wanted{"warmup", 0, math.MaxInt64, &b.warmup})
	if err == nil {
		err = fits(t, "iterations", b.iterations)
	}
	if err == nil {
		err = fits(t, "warmup", b.warmup)
	}
	if err != nil {
		return err
	}
	slices := make([]slice, int(b.blocks)*len(b.order()))
	for i := range slices {
		slices[i].checksum = math.MaxUint64 // no page is first touched while time is taken
	}
	if err := s.runBatch(t, argument, &b, slices); err != nil {
		return failed(err)
	}
	for i := range slices {
		slices[i].answer(i/len(b.order()), a)
	}
	reports.answer(a)
	return nil
}

func (s *server) runBatch(t *Test, argument uint64, b *batch, slices []slice) (err error) {
	reports.forget()
	startReporting()
	defer stopReporting()
	frames, err := prepare(t, argument)
	if err != nil {
		return err
	}
	defer func() {
		if ended := finish(frames); err == nil {
			err = ended
		}
	}()
	if err := untimed(frames, control, b.warmup); err != nil {
		return err
	}
	if err := untimed(frames, test, b.warmup); err != nil {
		return err
	}
	if err := reportOthers(frames); err != nil {
		return err
	}
	stopReporting()
	order := b.order()
	for i := range slices {
		role, iterations := order[i%len(order)], b.iterations
		if role == reference {
			iterations = b.reference
		}
		if slices[i], err = s.subject.slice(frames, role, iterations); err != nil {
			return err
		}
	}
	startReporting()
	if err := untimed(frames, test, 1); err != nil {
		return err
	}
	return reportOthers(frames)
}

// --- Single slices ---------------------------------------------------------------------------------------------------------

// prepared is the test that stays so between requests for its slices.
type prepared struct {
	test     *Test
	argument uint64
	frames   Frames
}

func (s *server) finish() {
	if s.prepared.frames != nil {
		finish(s.prepared.frames)
	}
	s.prepared = prepared{}
}

func (s *server) slice(r *request, a *answer) error {
	t, err := s.frameTest(r)
	if err != nil {
		return err
	}
	argument, err := t.argument(r)
	if err == nil {
		err = r.expect(2, "slice NAME ROLE iterations=N warmup=W [arg=A]")
	}
	if err != nil {
		return err
	}
	role := role(r.words[2])
	if role != control && role != test && role != reference {
		return badArgument("the role must be control, test or reference, not '%s'", role)
	}
	var iterations, warmup uint64
	err = r.numbers(wanted{"iterations", 1, math.MaxInt64, &iterations}, wanted{"warmup", 0, math.MaxInt64, &warmup})
	if err == nil && role != reference {
		err = fits(t, "iterations", max(iterations, warmup))
	}
	if err != nil {
		return err
	}
	result, err := s.runSlice(t, argument, role, iterations, warmup)
	if err != nil {
		s.finish()
		return failed(err)
	}
	result.answer(0, a)
	return nil
}

func (s *server) runSlice(t *Test, argument uint64, role role, iterations, warmup uint64) (result slice, err error) {
	if s.prepared.test != t || s.prepared.argument != argument {
		s.finish()
		frames, err := prepare(t, argument)
		if err != nil {
			return result, err
		}
		s.prepared = prepared{t, argument, frames}
	}
	if err := untimed(s.prepared.frames, role, warmup); err != nil {
		return result, err
	}
	return s.subject.slice(s.prepared.frames, role, iterations)
}
