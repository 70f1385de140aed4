"""Requests at a steady rate, whatever becomes of the earlier ones."""
import heapq
import http.client
import threading
import time
from concurrent.futures import ThreadPoolExecutor


def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] if times else float("nan")


def steps(rate, kind):
    """Yields the times at which requests of a kind are due, for ever."""
    number = 0
    while True:
        yield number / rate, kind
        number += 1


class Clients:
    """Clients in threads of their own, each with connections that it keeps."""

    def __init__(self, count):
        self.pool, self.local, self.is_over = ThreadPoolExecutor(count), threading.local(), threading.Event()

    def ask(self, port, target, timeout=60):
        """Returns status, fields and body of an answer. Raises OSError or HTTPException if there is none."""
        connections = self.local.__dict__.setdefault("connections", {})
        while True:
            kept = connections.pop(port, None)
            connection = kept or http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
            try:
                connection.request("GET", target)
                answer = connection.getresponse()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                # A connection that has been idle may have been closed just now, which says nothing about its server.
                if kept:
                    continue
                raise
            connections[port] = connection
            # Those of servers that have gone.
            while len(connections) > 8:
                connections.pop(next(iter(connections))).close()
            return answer.status, answer.headers, body

    def run(self, rates, call, seconds=float("inf")):
        """Calls `call(kind, due)` so often a second for each kind, for some seconds or until the end; waits for all calls."""
        start, calls = time.monotonic(), set()
        for offset, kind in heapq.merge(*(steps(rate, kind) for kind, rate in rates.items() if rate)):
            if offset >= seconds or self.is_over.wait(max(0, start + offset - time.monotonic())):
                break
            calls.add(self.pool.submit(call, kind, start + offset))
            if len(calls) > 10_000:
                calls = {one for one in calls if not one.done()}
        if not self.is_over.is_set():
            for one in calls:
                one.result()

    def end(self):
        self.is_over.set()
        self.pool.shutdown(cancel_futures=True)
