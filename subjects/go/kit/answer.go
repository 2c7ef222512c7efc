package kit

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"unicode"
)

// readingsALine keeps a line below 65536 bytes: a reading or difference takes 21 at most.
const readingsALine = 3000

// answer is put together in memory and written at once, when it is whole.
type answer struct{ bytes.Buffer }

func (a *answer) line(format string, values ...any) {
	fmt.Fprintf(a, "@@ "+format+"\n", values...)
}

func (a *answer) readings(readings []int64) {
	for i, reading := range readings {
		switch {
		case i%readingsALine > 0:
			fmt.Fprintf(a, " %d", reading-readings[i-1])
		case i > 0:
			fmt.Fprintf(a, "\n@@ readings %d", reading)
		default:
			fmt.Fprintf(a, "@@ readings %d", reading)
		}
	}
	a.WriteByte('\n')
}

func (a *answer) field(key, value string) {
	if value != "" {
		fmt.Fprintf(a, " %s=%s", key, encode(value))
	}
}

// close writes the answer with its closing line; an error means that nobody reads any more.
func (a *answer) close(err error) error {
	if err == nil {
		a.line("ok")
		_, err = os.Stdout.Write(a.Bytes())
		return err
	}
	refused, known := err.(refusal)
	if !known {
		refused = refusal{"failed", err.Error()}
	}
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, refused.text)
	_, err = fmt.Fprintf(os.Stdout, "@@ error %s %.1000s\n", refused.code, text)
	return err
}

// encode writes a field's value with %XX where the protocol wants it.
func encode(value string) string {
	var encoded strings.Builder
	for _, b := range []byte(value) {
		if b <= ' ' || b == '%' || b == '=' || b == 0x7f {
			fmt.Fprintf(&encoded, "%%%02X", b)
		} else {
			encoded.WriteByte(b)
		}
	}
	return encoded.String()
}
