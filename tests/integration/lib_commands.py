"""Commands made of lib_templates.py, the same ones for the same seed."""

import random
import re

from lib_templates import (FAMILIES, KINDS, ODD_KEYS, PURE_KINDS, RARE,
                           SCRIPTS, TAGS, WORDS)
from resp import encode

# What a spoilt command gets: nothing that a time or a count could be.
GARBAGE = [b"", b"\x00\xff\r\n", b"notanumber", b"0", b"-1", b"x" * 200,
           b"99999999999999999999", b"'\"", b"\\x00"]


class Command:
    """Words and the very bytes that are sent for them."""

    def __init__(self, words, data):
        self.words = words
        self.data = data
        self.name = words[0].lower()

    @property
    def is_big(self):
        return len(self.data) > 20_000 or any(
            word.endswith((b"big", b"biglist")) for word in self.words)

    def __repr__(self):
        return " ".join(repr(word[:60])[2:-1] + ("~" if len(word) > 60 else "")
                        for word in self.words)


def inline(words):
    """The same as one line, everything odd written as an escape."""
    def quoted(word):
        return b'"%s"' % b"".join(b"\\x%02x" % byte for byte in word)
    return b" ".join(word if re.fullmatch(rb"[\w*{}.:+-]+", word)
                     else quoted(word) for word in words) + b"\r\n"


def parse(templates):
    """The lines of a family as lists of words, and whether to spoil."""
    for line in templates.strip().splitlines():
        line = line.strip()
        yield line.lstrip("!").split(), not line.startswith("!")


class Generator:
    """An endless row of commands that is the same for the same seed."""

    def __init__(self, seed, shas):
        self.random = random.Random(seed)
        self.shas = shas
        self.tag = None
        self.families = {name: list(parse(text))
                         for name, text in FAMILIES.items()}

    # --- words ---------------------------------------------------------------

    def chance(self, probability):
        return self.random.random() < probability

    def key(self, kind):
        if kind in PURE_KINDS:
            keys = PURE_KINDS[kind]
        elif self.chance(0.03):
            keys = ODD_KEYS
        elif kind == "any" or self.chance(0.08):
            keys = KINDS[self.random.choice(list(KINDS))]
        else:
            keys = KINDS[kind]
        tagged = [key for key in keys if self.tag and key[:3] == self.tag]
        return self.random.choice(tagged or keys)

    def placeholder(self, name):
        if name.startswith("n:"):
            keys = [self.key(name[2:])
                    for _ in range(self.random.randint(1, 3))]
            return [str(len(keys)).encode()] + keys
        if name in WORDS:
            word = self.random.choice(WORDS[name])
            return [word if isinstance(word, bytes) else word.encode()]
        return [self.key(name)]

    def word(self, text):
        choice = self.random.choice(text.split("|"))
        if choice[0] == "$":
            return [SCRIPTS[choice[1:]].encode()]
        if choice[0] == "#" and choice[1:] in self.shas:
            return [self.shas[choice[1:]]]
        match = re.fullmatch(r"<([\w:]+)>(\w*)", choice)
        if match is None:
            return [choice.encode()]
        words = self.placeholder(match[1])
        words[-1] += match[2].encode()
        return words

    def expand(self, template):
        """Words for a template; a group is a template again."""
        words, at = [], 0
        while at < len(template):
            if template[at] in ("[", "("):
                end = closing(template, at)
                times = (self.random.randint(0, 1) if template[at] == "["
                         else self.random.randint(1, 4))
                for _ in range(times):
                    words += self.expand(template[at + 1:end])
                at = end
            else:
                words += self.word(template[at])
            at += 1
        return words

    # --- commands ------------------------------------------------------------

    def spoil(self, words):
        """Break it: the key, if there is one, stays."""
        words = list(words)
        at = self.random.randrange(len(words))
        kind = self.random.randrange(5)
        if kind == 0 and at > 0:
            del words[at]
        elif kind == 1 and at > 1:
            words[at] = self.random.choice(GARBAGE)
        elif kind == 2 and at > 0:
            words.insert(at, words[at])
        elif kind == 3:
            words.append(self.random.choice(GARBAGE))
        else:
            words[0] = words[0].swapcase()
        return words

    def make(self, template, may_spoil):
        self.tag = self.random.choice(TAGS) if self.chance(0.75) else None
        words = self.expand(template)
        if may_spoil and self.chance(0.12):
            words = self.spoil(words)
        as_line = self.chance(0.05) and max(map(len, words)) < 1000
        return Command(words, inline(words) if as_line else encode(*words))

    def each_once(self):
        """Every template, as it is meant."""
        for family in self.families.values():
            for template, _ in family:
                yield self.make(template, False)

    def commands(self, count):
        """Every template once, and then whatever comes."""
        yield from self.each_once()
        names = list(self.families)
        weights = [RARE.get(name, 1) for name in names]
        for _ in range(count):
            family = self.random.choices(names, weights)[0]
            yield self.make(*self.random.choice(self.families[family]))


def closing(template, at):
    """Where the group that opens at `at` ends."""
    depth = 0
    for i in range(at, len(template)):
        depth += template[i] in ("[", "(")
        depth -= template[i] in ("]", ")")
        if depth == 0:
            return i
    raise ValueError(f"a group is not closed: {template}")
