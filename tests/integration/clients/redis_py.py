"""redis-py through the proxy: PORT [PASSWORD]"""

import inspect
import sys

import redis

PORT = int(sys.argv[1])
PASSWORD = sys.argv[2] if len(sys.argv) > 2 else None


def connect(**options):
    return redis.Redis("127.0.0.1", PORT, password=PASSWORD,
                       socket_timeout=60, **options)


def check(client):
    assert client.ping() is True
    assert client.set("py:a", "1") is True
    assert client.get("py:a") == b"1"
    assert client.get("py:none") is None

    with client.pipeline(transaction=False) as pipe:
        for i in range(500):
            pipe.set(f"py:{i}", i).get(f"py:{i}")
        expected = [x for i in range(500) for x in (True, b"%d" % i)]
        assert pipe.execute() == expected

    values = {f"py:m{i}": b"v%d" % i for i in range(50)}
    assert client.mset(values) is True
    assert client.mget(*values, "py:none") == [*values.values(), None]
    assert client.delete(*values, "py:none") == 50
    assert client.exists(*values) == 0

    binary = bytes(range(256))
    assert client.set(binary, binary) is True
    assert client.get(binary) == binary
    large = binary * (5 * 1024 * 1024 // 256)
    assert client.set("py:large", large) is True
    assert client.get("py:large") == large

    with_id = client.client_id()
    try:
        client.execute_command("NOSUCH", "a")
        raise AssertionError("an unknown command was accepted")
    except redis.ResponseError as error:
        assert "unknown command 'NOSUCH'" in str(error), error
    assert client.client_id() == with_id
    assert client.hset("py:h", mapping={"f": 1, "g": 2}) in (0, 2)
    assert client.hgetall("py:h") == {b"f": b"1", b"g": b"2"}
    assert client.zadd("py:z", {"m": 1.5}) in (0, 1)
    assert client.zrange("py:z", 0, -1, withscores=True) == [(b"m", 1.5)]


check(connect())
check(connect(single_connection_client=True))
check(connect(connection_pool=None, client_name="py", db=0))
if "protocol" in inspect.signature(redis.Redis).parameters:
    check(connect(protocol=3))
assert connect(decode_responses=True).get("py:a") == "1"
if PASSWORD:
    PASSWORD = "wrong"
    try:
        connect().ping()
        raise AssertionError("a wrong password was accepted")
    except redis.RedisError as error:
        assert "WRONGPASS" in str(error), error
print("done")
