package kit

// unlearn makes branch prediction forget; untimed, some microseconds.
//
//go:noescape
func unlearn(bits uint64)
