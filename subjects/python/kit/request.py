"""Request lines, read and taken apart."""

from kit.answer import Refused, bad_argument

LINE_MOST = 4096


def lines(stream):
    """The lines of a binary stream without their ends; instead of one that cannot be read, why. Half a line at the end is none."""
    while line := stream.readline(LINE_MOST + 1):
        if not line.endswith(b"\n"):
            long = len(line) > LINE_MOST
            while line and not line.endswith(b"\n"):
                line = stream.readline(LINE_MOST)
            if long and line:
                yield bad_argument(f"the request is longer than {LINE_MOST} bytes")
            continue
        try:
            yield line[:-1].decode()
        except UnicodeDecodeError:
            yield bad_argument("the request is not UTF-8")


class Request:
    def __init__(self, line):
        self.words = []
        self._fields = {}
        for word in line.split(" "):
            self._add(word)
        if not self.words:
            raise Refused("unknown-request", "the line begins with a field; it must begin with a verb")

    def _add(self, word):
        key, is_field, value = word.partition("=")
        if not word:
            raise bad_argument("words are separated by single spaces")
        if is_field and key in self._fields:
            raise bad_argument(f"{key} is given twice")
        if is_field:
            self._fields[key] = value
        elif self._fields:
            raise bad_argument(f"'{word}' stands after a key=value field: positional words come first")
        else:
            self.words.append(word)

    def expect(self, words, usage):
        """Refuses unless there are so many words after the verb; gives them."""
        if len(self.words) != words + 1:
            raise bad_argument(f"write: {usage}")
        return self.words[1:]

    def has(self, key):
        return key in self._fields

    def number(self, key, least, most):
        if key not in self._fields:
            raise bad_argument(f"{key}= is missing")
        return number(key, self._fields[key], least, most)


def number(what, text, least, most):
    """Decimal digits only: int() alone would take signs, spaces and underscores."""
    digits = text.isascii() and text.isdigit() and len(text) <= 20
    if not digits or not least <= int(text) <= most:
        raise bad_argument(f"{what} must be a decimal integer from {least} to {most}, not '{text}'")
    return int(text)
