#!/usr/bin/env python3
"""Fails where a sentence of Markdown has more than 35 words, and names its file and line.

    scripts/prose.py [--words N] [FILE...]

Without files, all Markdown of the repository is read but the pages of NOT_YET.
Tables, code, headings and HTML are not counted.
"""

import re
import subprocess
import sys

WORDS = 35

# Pages with longer sentences. The list only shrinks.
NOT_YET = """
""".split()


def paragraphs(lines):
    """Yields the words of each paragraph or list item, each with its line number."""
    words, fence = [], None
    for number, line in enumerate(lines, 1):
        text = line.strip()
        mark = re.match(r"(```+|~~~+)", text)
        if fence or mark:
            if fence and text.startswith(fence) and not text.strip(fence[0]):
                fence = None
            elif not fence:
                fence = mark.group(1)
            text = ""
        is_item = re.match(r"([-*+]|\d+[.)])\s+", text)
        if not text or is_item or text.startswith(("|", "#", "<")):
            yield words
            words = []
        is_code = line.startswith("    ") and not words and not is_item
        if not text or is_code or text.startswith(("|", "#", "<")):
            continue
        text = text[is_item.end():] if is_item else text.removeprefix("> ")
        text = re.sub(r"`[^`]*`", "code", text)
        text = re.sub(r"\]\([^)]*\)", "]", text)
        words += [(word, number) for word in text.split() if re.search(r"\w", word)]
    yield words


def sentences(words):
    """Splits a paragraph at full stops, question marks and exclamation marks."""
    sentence = []
    for word, number in words:
        sentence.append((word, number))
        if re.search(r"[.?!][)\]\"*_”’]*$", word) and not re.fullmatch(r"\(?(e\.g|i\.e|al|vs)\.", word):
            yield sentence
            sentence = []
    yield sentence


def main():
    arguments = sys.argv[1:]
    limit = WORDS
    if arguments[:1] == ["--words"]:
        limit, arguments = int(arguments[1]), arguments[2:]
    if not arguments:
        listed = subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True, check=True)
        arguments = [name for name in listed.stdout.splitlines() if name not in NOT_YET]
    is_well = True
    for name in arguments:
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
        for words in paragraphs(lines):
            for sentence in sentences(words):
                if len(sentence) > limit:
                    is_well = False
                    begin = " ".join(word for word, _ in sentence[:8])
                    print(f"{name}:{sentence[0][1]}: a sentence of {len(sentence)} words: {begin} …")
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
