package kit

// The kit's own tests, by which the method is tried: two copies of one loop, a loop that is 5 % dearer, and a loop that blocks against itself.
var own = []Test{
	{Name: "self.same", Work: "self.same", Prepare: Functions(chain20, chain20Again)},
	{Name: "self.dearer", Work: "self.dearer", Prepare: Functions(chain20, chain21)},
	{Name: "self.handoff", Threads: 2, Prepare: func(uint64) (Frames, error) { return newHandoff(), nil }},
}

//go:noinline
func chain16(iterations uint64) uint64 {
	x, m, a := uint64(1), multiplier, addend
	for i := uint64(0); i < iterations; i++ {
		for step := 0; step < 4; step++ {
			x = x*m + a
			x = x*m + a
			x = x*m + a
			x = x*m + a
		}
	}
	return x
}

//go:noinline
func chain20(iterations uint64) uint64 {
	x, m, a := uint64(1), multiplier, addend
	for i := uint64(0); i < iterations; i++ {
		for step := 0; step < 5; step++ {
			x = x*m + a
			x = x*m + a
			x = x*m + a
			x = x*m + a
		}
	}
	return x
}

//go:noinline
func chain20Again(iterations uint64) uint64 {
	x, m, a := uint64(1), multiplier, addend
	for i := uint64(0); i < iterations; i++ {
		for step := 0; step < 5; step++ {
			x = x*m + a
			x = x*m + a
			x = x*m + a
			x = x*m + a
		}
	}
	return x
}

//go:noinline
func chain21(iterations uint64) uint64 {
	x, m, a := uint64(1), multiplier, addend
	for i := uint64(0); i < iterations; i++ {
		for step := 0; step < 5; step++ {
			x = x*m + a
			x = x*m + a
			x = x*m + a
			x = x*m + a
		}
		x = x*m + a
	}
	return x
}

// handoff gives control to a partner goroutine and has it back.
type handoff struct {
	there chan uint64
	back  chan uint64
}

func newHandoff() *handoff {
	h := &handoff{make(chan uint64), make(chan uint64)}
	go func() {
		for exchanged := range h.there {
			TakesPart("partner")
			h.back <- exchanged + 1
		}
		close(h.back)
	}()
	return h
}

func (h *handoff) Control(iterations uint64) (uint64, error) {
	var exchanged, sum uint64
	for i := uint64(0); i < iterations; i++ {
		h.there <- exchanged
		exchanged = <-h.back
		sum += exchanged
	}
	return sum, nil
}

func (h *handoff) Test(iterations uint64) (uint64, error) { return h.Control(iterations) }

func (h *handoff) Close() error {
	close(h.there)
	<-h.back
	return nil
}
