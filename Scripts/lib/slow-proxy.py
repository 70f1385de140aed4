"""slow-proxy.py UPSTREAM_PORT: a TCP proxy on 127.0.0.1 that delays, swallows or cuts what servers answer.

Prints its port, then reads commands from standard input: `pass`, `delay MS`, `jitter MS PERCENT` (of the answers), `swallow`
(takes everything and answers nothing), `cut BYTES` (closes each connection after up to so many bytes, mostly in an answer).
Ends with its input.
"""

import asyncio
import random
import sys

state = {"mode": "pass", "delay": 0.0, "share": 1.0, "bytes": 0}
upstream = int(sys.argv[1])


def obey(line):
    words = line.split()
    state.update(mode=words[0], delay=0.0, share=1.0, bytes=0)
    if words[0] in ("delay", "jitter"):
        state["delay"] = float(words[1]) / 1000
        state["share"] = float(words[2]) / 100 if words[0] == "jitter" else 1.0
    elif words[0] == "cut":
        state["bytes"] = int(words[1])


async def requests(reader, writer):
    while data := await reader.read(65536):
        if state["mode"] == "swallow":
            continue
        writer.write(data)
        await writer.drain()


async def answers(reader, writer):
    """Each piece has its own delay, and none overtakes another."""
    loop, queue = asyncio.get_running_loop(), asyncio.Queue()

    async def send():
        while (item := await queue.get()) is not None:
            due, data = item
            if (wait := due - loop.time()) > 0:
                await asyncio.sleep(wait)
            writer.write(data)
            await writer.drain()

    sender = asyncio.ensure_future(send())
    rest = None
    try:
        while data := await reader.read(65536):
            if state["mode"] == "swallow":
                continue
            if state["mode"] == "cut":
                rest = random.randint(1, state["bytes"]) if rest is None else rest
                data = data[:rest]
                rest -= len(data)
            late = state["delay"] if random.random() < state["share"] else 0
            await queue.put((loop.time() + late, data))
            if rest == 0:
                break
    finally:
        await queue.put(None)
        await sender


async def serve(reader, writer):
    try:
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", upstream)
    except OSError:
        return writer.close()
    tasks = [asyncio.ensure_future(requests(reader, up_writer)), asyncio.ensure_future(answers(up_reader, writer))]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    writer.close()
    up_writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        obey(line)
    # Those that are open end with the process.
    sys.stdout.flush()
    __import__("os")._exit(0)


asyncio.run(main())
