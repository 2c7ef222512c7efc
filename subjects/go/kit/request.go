package kit

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const lineMost = 4096

var errLong = badArgument("the request is longer than %d bytes", lineMost)

// readLine gives a request without its end; half a line at the end of input is none.
func readLine(input *bufio.Reader) (string, error) {
	line, err := input.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = input.ReadSlice('\n')
		}
		if err != nil {
			return "", io.EOF
		}
		return "", errLong
	}
	if err != nil {
		return "", io.EOF
	}
	if len(line)-1 > lineMost {
		return "", errLong
	}
	if !utf8.Valid(line) {
		return "", badArgument("the request is not UTF-8")
	}
	return string(line[:len(line)-1]), nil
}

type request struct {
	words  []string
	fields map[string]string
}

func parse(line string) (*request, error) {
	r := &request{fields: map[string]string{}}
	for _, word := range strings.Split(line, " ") {
		key, value, isField := strings.Cut(word, "=")
		_, twice := r.fields[key]
		switch {
		case word == "":
			return nil, badArgument("words are separated by single spaces")
		case isField && twice:
			return nil, badArgument("%s is given twice", key)
		case isField:
			r.fields[key] = value
		case len(r.fields) > 0:
			return nil, badArgument("'%s' stands after a key=value field: positional words come first", word)
		default:
			r.words = append(r.words, word)
		}
	}
	if len(r.words) == 0 {
		return nil, refusal{"unknown-request", "the line begins with a field; it must begin with a verb"}
	}
	return r, nil
}

// expect says whether there are so many words after the verb.
func (r *request) expect(words int, usage string) error {
	if len(r.words) != 1+words {
		return badArgument("write: %s", usage)
	}
	return nil
}

func (r *request) number(key string, least, most uint64) (uint64, error) {
	text, given := r.fields[key]
	if !given {
		return 0, badArgument("%s= is missing", key)
	}
	return number(key, text, least, most)
}

// numbers reads fields into variables, up to the first fault.
func (r *request) numbers(wanted ...wanted) error {
	for _, w := range wanted {
		value, err := r.number(w.key, w.least, w.most)
		if err != nil {
			return err
		}
		*w.into = value
	}
	return nil
}

type wanted struct {
	key         string
	least, most uint64
	into        *uint64
}

// number reads decimal digits; ParseUint takes no sign, and base 10 no underscores.
func number(what, text string, least, most uint64) (uint64, error) {
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil || value < least || value > most {
		return 0, badArgument("%s must be a decimal integer from %d to %d, not '%s'", what, least, most, text)
	}
	return value, nil
}
