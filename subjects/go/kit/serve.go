package kit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

type server struct {
	subject  Subject
	tests    []Test
	placed   bool
	prepared prepared
}

// Serve answers requests from standard input until `quit` or its end, then ends the program. The calling goroutine is the one that measures.
func Serve(subject Subject) {
	s := &server{subject: subject, tests: append(append([]Test(nil), own...), subject.Tests...)}
	input := bufio.NewReaderSize(os.Stdin, lineMost+1)
	for {
		line, err := readLine(input)
		if errors.Is(err, io.EOF) {
			s.finish()
			os.Exit(0)
		}
		var a answer
		quit := false
		if err == nil {
			quit, err = s.serve(line, &a)
		}
		if closed := a.close(err); closed != nil {
			os.Exit(1)
		}
		if quit && err == nil {
			os.Exit(0)
		}
	}
}

func (s *server) serve(line string, a *answer) (quit bool, err error) {
	r, err := parse(line)
	if err != nil {
		return false, err
	}
	switch r.words[0] {
	case "hello":
		return false, s.hello(r, a)
	case "list":
		return false, s.list(r, a)
	case "clock":
		return false, s.clock(r, a)
	case "gaps":
		return false, s.gaps(r, a)
	case "placement":
		return false, s.placement(r)
	case "batch":
		return false, s.batch(r, a)
	case "slice":
		return false, s.slice(r, a)
	case "latency":
		return false, s.latency(r, a)
	case "series":
		return false, s.series(r, a)
	case "usage":
		answerUsage(a)
		return false, r.expect(0, "usage")
	case "quit":
		s.finish()
		return true, r.expect(0, "quit")
	default:
		return false, refusal{"unknown-request", r.words[0]}
	}
}

func (s *server) hello(r *request, a *answer) error {
	if err := r.expect(1, "hello VERSION"); err != nil {
		return err
	}
	version, err := number("VERSION", r.words[1], 0, math.MaxUint64)
	if err != nil {
		return err
	}
	if version != 1 {
		return refusal{"version", "speaks 1"}
	}
	switches := ""
	if s.subject.OwnSwitches != nil {
		switches = " switches=own"
	}
	a.line("hello protocol=1 language=%s kit=1.0 clock=%s%s", encode(s.subject.Language), ownClock, switches)
	return nil
}

func (s *server) list(r *request, a *answer) error {
	for _, clock := range clocks {
		a.line("clock name=%s unit=ns", clock.name)
	}
	for i := range s.tests {
		t := &s.tests[i]
		fmt.Fprintf(a, "@@ test name=%s kind=%s", t.Name, t.kind())
		a.field("arg", t.Arg)
		a.field("switches", t.Switches)
		if t.Threads > 1 {
			a.field("threads", fmt.Sprint(t.Threads))
		}
		a.field("work", t.Work)
		if t.Most > 0 {
			a.field("most", fmt.Sprint(t.Most))
		}
		a.field("absent", t.Absent)
		a.WriteByte('\n')
	}
	return r.expect(0, "list")
}

func (s *server) placement(r *request) error {
	const usage = "placement same P, placement across P Q, or placement free"
	s.finish()
	if s.placed {
		return badArgument("placement was given before; it is given once, after hello")
	}
	var processors []int
	for _, word := range r.words[min(2, len(r.words)):] {
		processor, err := number("a processor", word, 0, math.MaxInt32)
		if err != nil {
			return err
		}
		processors = append(processors, int(processor))
	}
	var wanted Placement
	switch how := fmt.Sprint(r.words[1:min(2, len(r.words))], len(processors)); how {
	case "[free] 0":
		wanted.Free = true
	case "[same] 1":
		wanted.Main, wanted.Partner = processors[0], processors[0]
	case "[across] 2":
		wanted.Main, wanted.Partner = processors[0], processors[1]
		if wanted.Main == wanted.Partner {
			return badArgument("across wants two processors; `placement same` is for one")
		}
	default:
		return badArgument("write: %s", usage)
	}
	err := place(wanted)
	if err == nil && s.subject.OnPlacement != nil {
		err = s.subject.OnPlacement(wanted)
	}
	if err != nil {
		return refusal{"unsupported", "threads cannot run there: " + err.Error()}
	}
	s.placed = true
	return nil
}

func (t *Test) kind() string {
	switch {
	case t.PrepareLatency != nil:
		return "latency"
	case t.PrepareSeries != nil:
		return "series"
	default:
		return "frame"
	}
}

// argument is that of a test, if it takes one.
func (t *Test) argument(r *request) (uint64, error) {
	if t.Arg != "" {
		return r.number("arg", 0, math.MaxInt64)
	}
	if _, given := r.fields["arg"]; given {
		return 0, badArgument("%s takes no argument", t.Name)
	}
	return 0, nil
}

func (s *server) named(r *request) (*Test, error) {
	if len(r.words) < 2 {
		return nil, badArgument("name a test; `list` tells them")
	}
	for i := range s.tests {
		if t := &s.tests[i]; t.Name == r.words[1] {
			if t.Absent != "" {
				return nil, refusal{"unsupported", t.Name + ": " + t.Absent}
			}
			return t, nil
		}
	}
	return nil, refusal{"unknown-test", r.words[1] + "; `list` names the tests"}
}

func (s *server) frameTest(r *request) (*Test, error) {
	t, err := s.named(r)
	if err == nil && t.Prepare == nil {
		err = otherKind(t, "frame")
	}
	return t, err
}

func otherKind(t *Test, wanted string) error {
	return badArgument("%s is a %s test, not a %s test", t.Name, t.kind(), wanted)
}
