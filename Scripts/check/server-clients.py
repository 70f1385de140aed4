#!/usr/bin/env python3
"""Attacks a thumbnail server with connections, sources and load, and says what its honest clients notice.

    server-clients.py ATTACK URL --pid PID --local NAME --root FOLDER

The attacks: `heads` of a megabyte; `halves` of requests that never end; `slow` clients, which send or read a byte at a
time; `idle` connections (--count); `sources` that send a byte a second; `overload`, where each request beyond the queue
must have its 503 within 5 ms; `flood` of --count URLs, no two alike, while the server's memory is watched. `crowd` is 200
clients of one image that is not known yet. `keep` has images made, and `find` wants them from a server that was killed and
started again, with their source gone; both name a file by --state.
"""
import gc
import os
import resource
import socket
import threading
import time

from checks import check, finish
from services import memory
from load import percentile
from raw_http import PATIENCE, Honest, Target, attack_arguments, descriptors, field, parsed
from trickle import Trickle


def is_cut(connection, within):
    """Returns whether the server closes a connection within some seconds."""
    end = time.monotonic() + within
    try:
        while (left := end - time.monotonic()) > 0:
            connection.settimeout(left)
            if not connection.recv(1 << 16):
                return True
    except TimeoutError:
        return False
    except OSError:
        return True
    return False


def heads(server, arguments):
    """Heads of a megabyte: one field, and ten thousand of them."""
    long = "X-Long: " + "x" * 1_000_000 + "\r\n"
    many = "".join(f"X-{index}: {'y' * 90}\r\n" for index in range(10_000))
    statuses = [server.ask("/health", fields)[0] for fields in [long, many] * 50]
    refused = sum(status in (0, 400, 413, 414, 431) for status in statuses)
    check(refused == 100, f"100 heads of a megabyte, {refused} refused: {sorted(set(statuses))}")
    check(server.ask("/" + "a" * 1_000_000)[0] in (0, 400, 404, 414, 431), "a target of a megabyte is refused")


def halves(server, arguments):
    """Requests that end in the middle; the server runs with a short VITRINE_HEAD_TIMEOUT."""
    beginnings = [b"", b"G", b"GET /hea", b"GET /health HTTP/1.1\r\n", b"GET /health HTTP/1.1\r\nHost: a\r\nX-Dr"]
    connections = []
    for index in range(500):
        connection = server.connect()
        connection.sendall(beginnings[index % len(beginnings)])
        connections.append(connection)
    began = time.monotonic()
    cut = sum(is_cut(connection, max(0.1, 10 * PATIENCE - (time.monotonic() - began))) for connection in connections)
    check(cut == 500, f"500 half requests, {cut} cut after {time.monotonic() - began:.1f} s")


def slow(server, arguments):
    """Clients that send a byte of the head at a time, and others that read nothing of many answers."""
    connections = [server.connect() for _ in range(200)]
    open_ones, began = set(connections), time.monotonic()
    while open_ones and time.monotonic() - began < 15 * PATIENCE:
        for connection in list(open_ones):
            try:
                connection.send(b"G" if time.monotonic() - began < 0.1 else b"X")
            except OSError:
                open_ones.discard(connection)
        time.sleep(0.2)
    check(not open_ones, f"200 slow writers, {200 - len(open_ones)} cut after {time.monotonic() - began:.1f} s")
    request = server.request(f"/_/w:600/plain/local:///{arguments.local}@png", closes=False)
    readers = []
    for _ in range(50):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect((server.host, server.port))
        connection.setblocking(False)
        readers.append(connection)
    left, began = set(readers), time.monotonic()
    while left and time.monotonic() - began < 60 * PATIENCE:
        for connection in list(left):
            try:
                connection.send(request * 20)
            except BlockingIOError:
                pass
            except OSError:
                left.discard(connection)
        time.sleep(0.2)
    check(not left, f"50 clients that read nothing, {50 - len(left)} cut after {time.monotonic() - began:.1f} s")


def idle(server, arguments):
    """More idle connections than the server keeps."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, arguments.count + 1000), hard))
    connections, refused = [], 0
    for _ in range(arguments.count):
        try:
            connections.append(server.connect(5))
        except OSError:
            refused += 1
    check(refused < arguments.count // 100, f"{len(connections)} idle connections were opened, {refused} refused")
    print(f"  the server has {descriptors(arguments.pid)} descriptors and {memory(arguments.pid):.0f} MB")
    statuses = [server.ask("/health")[0] for _ in range(50)]
    check(statuses.count(200) == 50, f"{statuses.count(200)} of 50 new clients were served")
    for connection in connections:
        connection.close()


class Photograph(Trickle):
    """A server of one photograph under every name, which takes its time."""

    def __init__(self, path, delay=0.0):
        with open(path, "rb") as file:
            self.body = file.read()
        self.delay, self.requests = delay, 0
        super().__init__()

    def answer(self, connection):
        rest = b""
        while part := connection.recv(1 << 16):
            rest += part
            while b"\r\n\r\n" in rest:
                rest = rest.partition(b"\r\n\r\n")[2]
                self.requests += 1
                time.sleep(self.delay)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nCache-Control: max-age=3600\r\nContent-Length: "
                                   + str(len(self.body)).encode() + b"\r\n\r\n" + self.body)


def counter(server, name):
    """Returns a number of /metrics."""
    _, _, body = server.ask("/metrics")
    return int(next((line.split()[-1] for line in body.decode().splitlines() if line.startswith(name + " ")), 0))


def crowd(server, arguments):
    """200 clients of one image that is not known yet"""
    source = Photograph(os.path.join(arguments.root, arguments.local), delay=1)
    stages = {stage: f'vitrine_stage_duration_seconds_count{{stage="{stage}"}}' for stage in ("transfer", "decode", "encode")}
    before = {stage: counter(server, name) for stage, name in stages.items()}
    answers = ask_all(server, [f"/_/w:300/plain/http://127.0.0.1:{source.port}/a.jpg@jpg"] * 200)
    check(all(status == 200 for status, _ in answers), f"{sum(status == 200 for status, _ in answers)} of 200 were served")
    # The meter may be a moment behind.
    time.sleep(0.5 * PATIENCE)
    done = {stage: counter(server, name) - before[stage] for stage, name in stages.items()}
    check(source.requests == 1 and done == dict(transfer=1, decode=1, encode=1), f"{source.requests} request to the source; {done}")


def keep(server, arguments):
    """Images of a server nearby, before a kill"""
    source = Photograph(os.path.join(arguments.root, arguments.local))
    targets = [f"/_/w:{100 + index}/plain/http://127.0.0.1:{source.port}/{index % 10}.jpg@jpg" for index in range(50)]
    answers = [server.ask(target) for target in targets]
    check(all(status == 200 for status, _, _ in answers) and source.requests == 10, f"50 images of {source.requests} requests")
    with open(arguments.state, "w") as file:
        file.writelines(f"{target} {field(head, 'ETag')}\n" for target, (_, head, _) in zip(targets, answers))
    # Writing is behind the answers.
    time.sleep(2 * PATIENCE)


def find(server, arguments):
    """The same images after kill -9 and a new start, with their source gone"""
    with open(arguments.state) as file:
        wanted = [line.split() for line in file]
    found = 0
    for target, tag in wanted:
        status, head, _ = server.ask(target)
        found += status == 200 and field(head, "ETag") == tag and field(head, "Server-Timing").startswith("disk")
    check(found == len(wanted), f"{found} of {len(wanted)} are found on disk")


def ask_all(server, targets, fields=""):
    """Asks for all at once; returns statuses and seconds."""
    answers = [None] * len(targets)

    def one(index):
        began = time.monotonic()
        status, _, _ = server.ask(targets[index], fields, timeout=60)
        answers[index] = (status, time.monotonic() - began)

    threads = [threading.Thread(target=one, args=[index]) for index in range(len(targets))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def sources(server, arguments):
    """Sources that send a byte a second; the server runs with a VITRINE_REQUEST_TIMEOUT of 5 s."""
    source = Trickle()
    targets = [f"/_/w:{index}/plain/http://127.0.0.1:{source.port}/{index}.jpg@jpg" for index in range(1, 61)]
    answers = ask_all(server, targets, "X-Forwarded-For: 203.0.113.1\r\n")
    good = sum(status in (503, 504) and seconds < 30 * PATIENCE for status, seconds in answers)
    longest = max(seconds for _, seconds in answers)
    check(good == 60, f"60 images of slow sources, {good} given up in time, the last after {longest:.1f} s: "
          f"{sorted(set(status for status, _ in answers))}")
    check(source.accepted > 0, f"{source.accepted} of them were asked for at their source")


def timed(connection, request):
    """Returns the status of an answer and the milliseconds until its beginning has come."""
    began = time.perf_counter()
    connection.sendall(request)
    answer = connection.recv(1 << 16)
    elapsed = (time.perf_counter() - began) * 1000
    status, head, body = parsed(answer)
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length:
        body += connection.recv(1 << 16)
    return status, elapsed


def refusals(server, targets, hot):
    """Times refusals on one connection, on new ones, and a known image in between."""
    gc.disable()
    kept, fresh, known, statuses = [], [], [], []
    connection = server.connect()
    for index, target in enumerate(targets):
        fields = "X-Forwarded-For: 203.0.113.9\r\n"
        status, elapsed = timed(connection, server.request(target, fields, closes=False))
        statuses.append(status)
        if status == 503:
            kept.append(elapsed)
        with server.connect() as other:
            status, elapsed = timed(other, server.request(target, fields))
            statuses.append(status)
            if status == 503:
                fresh.append(elapsed)
        status, elapsed = timed(connection, server.request(hot, closes=False))
        known.append((status, elapsed))
        time.sleep(0.01)
    gc.enable()
    return kept, fresh, known, statuses


def overload(server, arguments):
    """A full queue: of slow sources first, then of photographs that are being made."""
    hot = f"/_/w:40/plain/local:///{arguments.local}@jpg"
    try:
        # What is measured is the server, not the wait of this client for a core.
        os.nice(-10)
    except OSError:
        print("  (without the right to a higher priority, times are those of this client too)")
    source = Trickle()
    places = arguments.count

    def measure(name, targets):
        kept, fresh, known, statuses = refusals(server, targets, hot)
        unserved = sum(status != 200 for status, _ in known)
        times = kept + fresh
        check(len(times) >= 50, f"{name}: {len(times)} of {len(statuses)} requests were refused")
        for label, part in (("on a kept connection", kept), ("on a new one", fresh), ("a known image", [t for _, t in known])):
            print(f"    {label}: median {percentile(part, 0.5):.2f} ms, 99 % within {percentile(part, 0.99):.2f} ms, "
                  f"longest {max(part, default=float('nan')):.2f} ms")
        late = sum(time > 5 * PATIENCE for time in times)
        # All clients need the same cores, so a few of the waits are their own.
        check(late <= max(1, len(times) // 50), f"{late} of {len(times)} refusals took more than {5 * PATIENCE:g} ms")
        check(unserved == 0, f"{unserved} of {len(known)} known images were not served meanwhile")

    slow_ones = [f"/_/w:{index}/plain/http://127.0.0.1:{source.port}/{index}.jpg@jpg" for index in range(1, places + 1)]
    crowd = threading.Thread(target=ask_all, args=[server, slow_ones, "X-Forwarded-For: 203.0.113.9\r\n"])
    crowd.start()
    time.sleep(0.5)
    measure("full of slow sources", [f"/_/w:{1000 + index}/plain/local:///{arguments.local}@jpg" for index in range(200)])
    crowd.join()

    # Clients of another process, whose own work does not delay the measurements.
    ends = time.monotonic() + 12
    children = []
    for child in range(places * 3):
        if pid := os.fork():
            children.append(pid)
            continue
        number = 0
        while time.monotonic() < ends:
            number += 1
            # No two are one picture: what has been made once is on disk.
            status, _, _ = server.ask(f"/_/rs:force:{900 + number % 100}:{600 + child}/q:{40 + number // 100}/plain/local:///{arguments.local}@webp",
                                      "X-Forwarded-For: 203.0.113.9\r\n")
            if status == 503:
                time.sleep(0.25)
        os._exit(0)
    time.sleep(1)
    measure("full of photographs", [f"/_/w:{2000 + index}/plain/local:///{arguments.local}@webp" for index in range(200)])
    for pid in children:
        os.waitpid(pid, 0)


def flood(server, arguments):
    """URLs that are all different: of files that are not there, refused ones, nonsense, and a few real images."""
    request_count, batch = arguments.count, 50
    small = arguments.local
    kinds = ["/_/w:10/plain/local:///none-{}.jpg@jpg", "/_/w:10/plain/http://127.0.0.1/{}.jpg@jpg", "/_/{}:1/plain/local:///a",
             "/_/w:10/cb:{}/plain/local:///none.jpg@jpg", "/?src=local:///none-{}.jpg&w=10", "/nonsense/{}"]
    marks, counts, lock = [], {}, threading.Lock()

    def worker(start):
        connection, rest = server.connect(), b""
        seen = {}
        for first in range(start * batch, request_count, 4 * batch):
            lines = []
            for number in range(first, min(request_count, first + batch)):
                target = f"/_/w:8/cb:{number}/plain/local:///{small}@jpg" if number % 100 == 0 else kinds[number % len(kinds)].format(number)
                lines.append(server.request(target, closes=False))
            connection.sendall(b"".join(lines))
            for _ in lines:
                while b"\r\n\r\n" not in rest:
                    rest += connection.recv(1 << 18)
                status, head, rest = parsed(rest)
                length = int(head[head.lower().index(b"content-length:") + 15:].split(b"\r", 1)[0])
                while len(rest) < length:
                    rest += connection.recv(1 << 18)
                rest = rest[length:]
                seen[status] = seen.get(status, 0) + 1
            if start == 0 and first % (request_count // 10 or 1) < 4 * batch:
                marks.append((first, memory(arguments.pid)))
        with lock:
            for status, count in seen.items():
                counts[status] = counts.get(status, 0) + count

    began = time.monotonic()
    threads = [threading.Thread(target=worker, args=[start]) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, last = time.monotonic() - began, memory(arguments.pid)
    print(f"  {request_count} URLs in {seconds:.0f} s: {dict(sorted(counts.items()))}")
    print("  memory on the way: " + ", ".join(f"{megabytes:.0f}" for _, megabytes in marks) + f", at the end {last:.0f} MB")
    middle = [megabytes for number, megabytes in marks if number >= request_count // 4] or [last]
    check(last < min(middle) + 30 * PATIENCE, f"memory has grown by {last - min(middle):.0f} MB since the first quarter")
    check(set(counts) <= {200, 400, 403, 404, 503}, "nothing but images and refusals came")


def main():
    attacks = {attack.__name__: attack for attack in (heads, halves, slow, idle, crowd, keep, find, sources, overload, flood)}

    def add(parser):
        parser.add_argument("--state", help="a file that `keep` writes and `find` reads")
        parser.add_argument("--count", type=int, default=24)

    arguments = attack_arguments(__doc__, attacks, add)
    server = Target(arguments.server)
    # Known from now on.
    if arguments.attack != "crowd":
        server.ask(f"/_/w:40/plain/local:///{arguments.local}@jpg")
    print(f"{arguments.attack}: {attacks[arguments.attack].__doc__.split(';')[0].rstrip('.')}")
    watches = arguments.attack not in ("overload", "crowd", "keep", "find")
    honest = Honest(server, arguments.local, makes_new=arguments.attack not in ("sources", "flood"))
    if watches:
        honest.start()
    attacks[arguments.attack](server, arguments)
    if watches:
        check(honest.finish() == 0, "honest clients were served")
    finish()


main()
