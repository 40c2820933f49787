"""Messages of channels between two processes: CLASS ADDRESS.

The layers are two objects here, which share nothing but the address.
"""

import asyncio
import sys

from channels.exceptions import ChannelFull
from django.conf import settings
from django.utils.module_loading import import_string

settings.configure()
KIND, ADDRESS = sys.argv[1:]
COUNT = 100


def make_layer(**options):
    return import_string(KIND)(hosts=[ADDRESS], **options)


async def receive_all(layer, channel, count):
    """What is not part of a greeting."""
    messages = []
    while len(messages) < count:
        message = await asyncio.wait_for(layer.receive(channel), 30)
        if message["type"] != "greeting":
            messages.append(message)
    return messages


async def greet(channels, send):
    """Until all hear: layers do not wait until they are subscribed."""
    futures = [asyncio.ensure_future(layer.receive(channel))
               for layer, channel in channels]
    while not all(future.done() for future in futures):
        await send({"type": "greeting"})
        await asyncio.wait(futures, timeout=0.05)


async def check_channel(here, there):
    """To one consumer, in order."""
    channel = await there.new_channel()
    await greet([(there, channel)],
                lambda message: here.send(channel, message))
    waiting = asyncio.ensure_future(receive_all(there, channel, COUNT))
    await asyncio.sleep(0)
    for number in range(COUNT):
        await here.send(channel, {"type": "count", "number": number,
                                  "bytes": b"\x00\xff"})
    assert await waiting == [
        {"type": "count", "number": number, "bytes": b"\x00\xff"}
        for number in range(COUNT)]


async def check_group(here, there):
    """To everyone in a room, whoever they are connected to."""
    channels = [(layer, await layer.new_channel())
                for layer in (here, there) for _ in range(10)]
    for layer, channel in channels:
        await layer.group_add("room", channel)
    await greet(channels, lambda message: here.group_send("room", message))
    layer, left = channels.pop()
    await layer.group_discard("room", left)
    waiting = [asyncio.ensure_future(receive_all(*place, 3))
               for place in channels]
    for number in range(3):
        await here.group_send("room", {"type": "chat", "number": number})
    for future in waiting:
        numbers = [message["number"] for message in await future]
        assert sorted(numbers) == [0, 1, 2], numbers
    # Who has left has got none of them: what comes next is this.
    await here.send(left, {"type": "alone"})
    assert await receive_all(layer, left, 1) == [{"type": "alone"}]
    for layer, channel in channels:
        await layer.group_discard("room", channel)


async def check_capacity():
    if "pubsub" in KIND:
        return  # these keep nothing
    layer = make_layer(capacity=3)
    channel = await layer.new_channel()
    for _ in range(3):
        await layer.send(channel, {"type": "more"})
    try:
        await layer.send(channel, {"type": "more"})
        raise AssertionError("no end of messages")
    except ChannelFull:
        pass
    await layer.close_pools()


async def main():
    here, there = make_layer(), make_layer()
    await check_channel(here, there)
    await check_group(here, there)
    await check_capacity()
    await here.flush()
    await there.flush()
    print("done")


asyncio.run(main())
