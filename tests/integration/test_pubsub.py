"""Channels: SUBSCRIBE, PUBLISH and their kin, as one server has them."""

import re

import pytest

from harness import eventually
from lib_three import ONE_AND_THREE, direct, proxy, servers, world

SERVERS = 4
THREE = ONE_AND_THREE + """    tagged:
      listen: 127.0.0.1:0
      distribution: modulo
      hash: md5
      hash_tag: "{}"
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""
POOLS = ["one", "three"]
CHANNELS = [f"news{n}" for n in range(12)]

# What one client says, and how many replies that makes.
CONVERSATIONS = {
    "leaving what was not heard": [
        ("UNSUBSCRIBE", 1), ("PUNSUBSCRIBE", 1), ("SUNSUBSCRIBE", 1),
        ("UNSUBSCRIBE a b", 2), ("PUNSUBSCRIBE a* b*", 2),
        ("SUNSUBSCRIBE a b", 2), ("GET k", 1)],
    "counting": [
        ("SUBSCRIBE a b c", 3), ("SUBSCRIBE b d", 2), ("PSUBSCRIBE x* a", 2),
        ("SSUBSCRIBE a s", 2), ("UNSUBSCRIBE b", 1), ("UNSUBSCRIBE b", 1),
        ("PUNSUBSCRIBE x*", 1), ("SUNSUBSCRIBE s", 1),
        ("SUBSCRIBE a a", 2), ("UNSUBSCRIBE a c d", 3),
        ("SUNSUBSCRIBE a", 1), ("PUNSUBSCRIBE", 1), ("UNSUBSCRIBE", 1)],
    "what may be said": [
        ("SUBSCRIBE a", 1), ("PING", 1), ("PING hello", 1), ("PING a b", 1),
        ("GET k", 1), ("DEL k", 1), ("PUBLISH x m", 1),
        ("CLIENT GETNAME", 1), ("NOSUCH x", 1), ("GET", 1), ("SUBSCRIBE", 1),
        ("MULTI", 1), ("DISCARD", 1),
        ("UNSUBSCRIBE a", 1), ("PING", 1), ("GET k", 1)],
    "a pattern alone": [
        ("PSUBSCRIBE a*", 1), ("GET k", 1), ("PUNSUBSCRIBE", 1), ("GET k", 1)],
    "a shard channel alone": [
        ("SSUBSCRIBE a", 1), ("GET k", 1), ("SUNSUBSCRIBE", 1), ("GET k", 1)],
    "reset": [
        ("SUBSCRIBE a", 1), ("RESET", 1), ("GET k", 1), ("UNSUBSCRIBE", 1)],
    "an empty name": [("SUBSCRIBE ''", 1), ("UNSUBSCRIBE ''", 1)],
    "silence": [
        ("CLIENT REPLY OFF", 0), ("SUBSCRIBE a", 1), ("UNSUBSCRIBE a", 1),
        ("CLIENT REPLY ON", 1)],
}


def words_of(line):
    return ["" if word == "''" else word for word in line.split()]


def hold(client, conversation, resp):
    """What is said, and what comes back."""
    if resp == 3:
        client.command("HELLO", 3)
    said = []
    for line, count in conversation:
        client.send_command(*words_of(line))
        said.append((line, client.read_replies(count)))
    return said


def sorted_kinds(conversation):
    """Servers leave many channels in any order."""
    return [(line, sorted(replies)) for line, replies in conversation]


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("resp", [2, 3])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_client_is_answered_as_by_one_server(proxy, direct, pool, resp,
                                               name):
    said = CONVERSATIONS[name]
    with direct.raw() as there, proxy.raw(pool) as here:
        assert hold(here, said, resp) == hold(there, said, resp)


def listen(client, *lines, resp=2):
    """Say these, and return the bytes of what confirms them."""
    if resp == 3:
        client.command("HELLO", 3)
    replies = []
    for line in lines:
        words = words_of(line)
        client.send_command(*words)
        replies += client.read_replies(len(words) - 1)
    return replies


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("resp", [2, 3])
def test_messages_are_those_of_one_server(proxy, direct, pool, resp):
    """Bytes and numbers of listeners, by channels, patterns and shards."""
    def talk(make, publisher):
        listeners = [make() for _ in range(5)]
        for listener in listeners[:3]:
            listen(listener, "SUBSCRIBE " + " ".join(CHANNELS), resp=resp)
        listen(listeners[3], "PSUBSCRIBE news* n?ws1 other[0-9]", resp=resp)
        listen(listeners[4], "SSUBSCRIBE " + " ".join(CHANNELS), resp=resp)
        counts = [publisher.publish(channel, f"to {channel}")
                  for channel in CHANNELS]
        counts += [publisher.publish("other5", "x" * 100000),
                   publisher.publish("nobody", "x"),
                   publisher.publish("news1", b"\r\n\0\xff")]
        counts += [publisher.execute_command("SPUBLISH", c, "shard")
                   for c in CHANNELS]
        heard = [listener.read_replies(13) for listener in listeners[:3]]
        # news1 comes three times, as do its two patterns.
        heard.append(listeners[3].read_replies(12 + 1 + 1 + 2))
        heard.append(listeners[4].read_replies(12))
        for listener in listeners:
            listener.close()
        return counts, [sorted(h) for h in heard]

    here = talk(lambda: proxy.raw(pool), proxy.client(pool))
    there = talk(direct.raw, direct.client())
    assert here == there


@pytest.mark.parametrize("pool", POOLS)
def test_what_is_listened_to_can_be_asked(proxy, direct, pool):
    """PUBSUB counts clients, not the connections of the proxy."""
    questions = ["PUBSUB CHANNELS", "PUBSUB CHANNELS news1*",
                 "PUBSUB NUMSUB news1 news2 none", "PUBSUB NUMSUB",
                 "PUBSUB NUMPAT", "PUBSUB SHARDCHANNELS",
                 "PUBSUB SHARDNUMSUB news1 none", "PUBSUB HELP"]

    def ask(make):
        listeners = [make() for _ in range(4)]
        for listener in listeners:
            listen(listener, "SUBSCRIBE " + " ".join(CHANNELS), "PSUBSCRIBE n* m*",
                   "SSUBSCRIBE news1 news3")
        listen(listeners[0], "PSUBSCRIBE alone*", "UNSUBSCRIBE news2")
        client = make()
        answers = []
        for line in questions:
            reply = client.command(*line.split())
            answers.append(sorted(reply.split(b"\r\n"))
                           if "CHANNELS" in line else reply)
        for listener in listeners:
            listener.close()
        # Gone: nobody is left there.
        for line in ("PUBSUB CHANNELS", "PUBSUB SHARDCHANNELS"):
            eventually(lambda l=line: client.command(*l.split()) == b"*0\r\n")
        eventually(lambda: client.command("PUBSUB", "NUMPAT") == b":0\r\n")
        client.close()
        return answers

    assert ask(lambda: proxy.raw(pool)) == ask(direct.raw)


def test_a_message_comes_once_and_in_order(proxy, servers):
    """Also by a pattern, which is listened to at every shard."""
    publisher = proxy.client("three")
    with proxy.raw("three") as by_name, proxy.raw("three") as by_pattern:
        listen(by_name, "SUBSCRIBE " + " ".join(CHANNELS))
        listen(by_pattern, "PSUBSCRIBE news*")
        sent = [(f"news{n % 12}", str(n)) for n in range(600)]
        with publisher.pipeline(transaction=False) as pipe:
            for channel, text in sent:
                pipe.publish(channel, text)
            assert pipe.execute() == [2] * 600
        for client, count in ((by_name, 600), (by_pattern, 600)):
            heard = [r.split(b"\r\n") for r in client.read_replies(count)]
            for channel in CHANNELS:
                assert [int(h[-2]) for h in heard
                        if h[-4] == channel.encode()] == \
                    [int(text) for c, text in sent if c == channel]
        by_name.send_command("PING")
        assert by_name.read_reply() == b"*2\r\n$4\r\npong\r\n$0\r\n\r\n"
    assert len(servers) == 4


def test_events_of_keys_come_from_all_shards(proxy, servers):
    for server in servers[:3]:
        server.client().config_set("notify-keyspace-events", "KEA")
    try:
        client = proxy.client("three")
        keys = [f"key{n}" for n in range(30)]
        with proxy.raw("three") as by_pattern, proxy.raw("three") as by_name:
            listen(by_pattern, "PSUBSCRIBE __keyspace@*__:key*")
            listen(by_name, "SUBSCRIBE __keyevent@0__:set")
            for key in keys:
                client.set(key, "v")
            heard = {r.split(b"\r\n")[6].decode()
                     for r in by_pattern.read_replies(30)}
            assert heard == {f"__keyspace@0__:{key}" for key in keys}
            assert {r.split(b"\r\n")[-2].decode()
                    for r in by_name.read_replies(30)} == set(keys)
            by_name.send_command("PING")
            assert b"pong" in by_name.read_reply()
    finally:
        for server in servers[:3]:
            server.client().config_set("notify-keyspace-events", "")


def test_clients_that_listen_are_listed(proxy, direct):
    def look(make):
        client = make()
        listen(client, "SUBSCRIBE a b", "PSUBSCRIBE p*", "SSUBSCRIBE s",
               resp=3)
        line = client.command("CLIENT", "LIST", "TYPE", "pubsub").decode()
        assert line.count(" addr=") == 1
        normal = client.command("CLIENT", "LIST", "TYPE", "normal").decode()
        words = dict(re.findall(r"([a-z-]+)=(\S*)", line))
        assert f"id={words['id']} " not in normal
        listen(client, "UNSUBSCRIBE a b", "PUNSUBSCRIBE p*", "SUNSUBSCRIBE s")
        again = client.command("CLIENT", "LIST", "TYPE", "pubsub")
        client.close()
        return [words[k] for k in ("flags", "sub", "psub", "ssub")], again

    here, there = look(lambda: proxy.raw("three")), look(direct.raw)
    assert here == there


def test_a_transaction_publishes_where_its_keys_are(proxy, direct):
    """There a channel counts as a key."""
    client = proxy.raw("tagged")
    alike = ["MULTI", "SET {t}k v", "PUBLISH {t}c m", "SPUBLISH {t}c s",
             "EXEC"]
    with proxy.raw("tagged") as listener, direct.raw() as there:
        listen(listener, "SUBSCRIBE {t}c")
        answers = [client.command(*line.split()) for line in alike]
        assert listener.read_reply().endswith(b"$1\r\nm\r\n")
        there.send_command("SUBSCRIBE", "{t}c")
        with direct.raw() as other:
            assert answers == [other.command(*line.split()) for line in alike]
    replies = [client.command("MULTI")] + [
        client.command("PUBLISH", channel, "m") for channel in CHANNELS]
    assert any(reply.startswith(b"-CROSSSLOT") for reply in replies)
    assert client.command("EXEC").startswith(b"-EXECABORT")
