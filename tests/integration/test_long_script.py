"""A script that does not end is told to everybody else, and can be killed."""

from harness import eventually

CONFIG = """
    pointsman:
      workers: 1
    pool:
      listen: 127.0.0.1:0
      redis: true
      servers: ["$a:1 a"]
"""
ENDLESS = ("EVAL", "while true do end", "0")


def is_busy(client):
    return client.command("GET", "k").startswith(b"-BUSY")


def stop_a_script(place):
    """What everybody is told from its start to its end."""
    author, other = place.raw(), place.raw()
    assert other.command("SET", "k", "v") == b"+OK\r\n"
    author.send_command(*ENDLESS)
    eventually(lambda: is_busy(other))
    replies = [other.command("SET", "k", "w"), other.command("SCRIPT", "KILL"),
               author.read_reply(), author.command("GET", "k")]
    return replies


def test_others_are_told_as_by_the_server(world):
    server = world.server("--busy-reply-threshold", "10")
    proxy = world.proxy(CONFIG, a=server.address)
    expected = stop_a_script(server)
    assert expected[1] == b"+OK\r\n" and expected[3] == b"$1\r\nv\r\n"
    for _ in range(3):
        assert stop_a_script(proxy) == expected
