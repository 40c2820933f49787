"""Promise 7: a nutcracker.yml loads, and no key changes its server.

The same pools, in front of the same servers, once through nutcracker and once
through pointsman; 10,000 keys a pool.
"""

import os
import random
import tempfile

import pytest

from lib_nutcracker import (NUTCRACKER, Case, Nutcracker, Pointsman, Stubs,
                            get)

pytestmark = pytest.mark.skipif(NUTCRACKER is None,
                                reason="there is no nutcracker to compare with")

HASHES = ["one_at_a_time", "md5", "crc16", "crc32", "crc32a", "fnv1_64",
          "fnv1a_64", "fnv1_32", "fnv1a_32", "hsieh", "murmur", "jenkins"]
DISTRIBUTIONS = ["ketama", "modula"]
KEYS = 10000

# Corners of the tag rule, for each of the tags that cases use.
TAG_SHAPES = ["{}", "a{}b", "{a}", "x{a}y", "{a}{b}", "{}{b}", "a{b", "a}b{c",
              "a}b{c}d", "{{a}}", "{a}}", "{", "}", "}{", "x{abc}{def}",
              "{a\0b}c"]


def make_keys(seed=20):
    """Short and long, counted and random, text and binary."""
    rng = random.Random(seed)
    keys = [b"a", b"foo", b"0", b"-1", b"caf\xc3\xa9", b"\xff\xfe\xfd", b"\0",
            b"\0\0\0", b"\x80", b"\x7f\x80\x81", b"\r\n", b"a b", b"$3\r\nGET"]
    for opening, closing in ["{}", "$$", "[]"]:
        for shape in TAG_SHAPES:
            text = shape.replace("{", "\1").replace("}", "\2")
            keys.append(text.replace("\1", opening).replace("\2", closing)
                        .encode())
    keys += [b"k%d" % i for i in range(1000)]
    keys += [b"user:%d" % (1000 + i) for i in range(1500)]
    keys += [b"\x80" * i for i in range(1, 40)]
    while len(keys) < KEYS:
        kind = rng.randrange(6)
        if kind == 0:
            keys.append(b"session:{%d}:%08x" % (rng.randrange(500),
                                                rng.getrandbits(32)))
        elif kind == 1:
            keys.append(b"%d[%d]$%d$" % tuple(rng.randrange(900)
                                              for _ in range(3)))
        elif kind == 2:
            keys.append("".join(chr(rng.randrange(0x80, 0x2fff))
                                for _ in range(rng.randrange(1, 12))).encode())
        elif kind == 3:
            keys.append(rng.randbytes(rng.randrange(100, 400)))
        else:
            keys.append(rng.randbytes(rng.randrange(1, 40)))
    return keys[:KEYS]


def server_lists(where):
    """name -> server lines, in front of the stubs at `where`."""
    rng = random.Random(7)

    def lines(count, weight, name=None):
        return ["%s:%d%s" % (where[i], weight(i), name(i) if name else "")
                for i in range(count)]

    def shuffled(count, weight, name):
        result = lines(count, weight, name)
        rng.shuffle(result)
        return result

    return {
        "one": lines(1, lambda i: 1),
        "one_named": lines(1, lambda i: 7, lambda i: " alone"),
        "two": lines(2, lambda i: 1),
        "two_one_starves": lines(2, lambda i: (100000, 1)[i],
                                 lambda i: " w%d" % i),
        "three": shuffled(3, lambda i: 1, lambda i: " server%d" % (i + 1)),
        "three_weighted": shuffled(3, lambda i: i + 1, lambda i: " s%d" % i),
        "three_unnamed_weighted": lines(3, lambda i: (10, 20, 70)[i]),
        # Beyond 272 characters nutcracker cuts what it makes points of.
        "three_long_names": lines(3, lambda i: 1, lambda i: " " + "n" * 266
                                  + "xyz"[i] * 40),
        "ten": lines(10, lambda i: 1),
        "ten_by_length": shuffled(10, lambda i: 1 + i % 4,
                                  lambda i: " " + "zyxwvutsrq"[i] * (1 + i % 3)
                                  + "ab"[i % 2]),
        "twenty_five": shuffled(25, lambda i: 1, lambda i: " node-%d" % i),
        "twenty_five_unnamed_weighted": lines(25, lambda i: 1 + i),
        "fifty": lines(50, lambda i: 1),
        "fifty_weighted": shuffled(50, lambda i: 1 + i * i % 13,
                                   lambda i: " cache-%d.example" % i),
    }


def make_cases(where, distribution):
    lists = server_lists(where)
    cases = []

    def add(list_name, hash_name, tag=None):
        name = "p%02d_%s_%s" % (len(cases), hash_name, list_name)
        cases.append(Case(name, distribution, hash_name, lists[list_name], tag))

    for hash_name in HASHES:
        add("three_weighted", hash_name)
        add("ten", hash_name)
    for list_name in lists:
        add(list_name, "fnv1a_64")
        add(list_name, "murmur")
    for tag in ["{}", "$$", "[]", "}{"]:
        add("ten", "fnv1a_64", tag)
        add("three_weighted", "murmur", tag)
    return cases


def differences(cases, keys):
    """One line for each pool with keys that went elsewhere."""
    requests = [get(key) for key in keys]
    found = []
    with Nutcracker(cases) as theirs, Pointsman(cases) as ours:
        for case in cases:
            expected = theirs.ask(case.name, requests)
            actual = ours.ask(case.name, requests)
            wrong = [(key, a, b) for key, a, b in zip(keys, expected, actual)
                     if a != b]
            if wrong:
                found.append("%s: %d keys, first: %r is at %d, we ask %d"
                             % (case.name, len(wrong), *wrong[0]))
    return "\n".join(found)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_no_key_changes_its_server(distribution):
    with Stubs([("127.0.0.1", 0)] * 50) as stubs:
        cases = make_cases(stubs.where, distribution)
        assert differences(cases, make_keys()) == ""


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_server_at_a_unix_socket_has_the_name_it_had(distribution):
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, "s%d.sock" % i) for i in range(3)]
        with Stubs(paths) as stubs:
            servers = ["%s:1" % path for path in stubs.where]
            cases = [Case("paths", distribution, "fnv1a_64", servers)]
            assert differences(cases, make_keys()) == ""


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_server_at_port_11211_is_named_by_its_host_alone(distribution):
    addresses = [("127.0.0.%d" % (host + 7), 11211) for host in range(3)]
    with Stubs(addresses) as stubs:
        servers = ["%s:1" % address for address in stubs.where]
        cases = [Case("memcached_port", distribution, "fnv1a_64", servers)]
        assert differences(cases, make_keys()) == ""
