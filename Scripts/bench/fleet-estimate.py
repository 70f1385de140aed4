"""fleet-estimate.py RESULTS: what a fleet would ask of Redis and of S3, on paper.

Replays traces of requests through models of a CDN, the servers' memories and disks, Redis and a bucket, each with least
recently used first out, and multiplies what is found where with the costs in RESULTS, the output of fleet.py.
VITRINE_TRACES is a folder of traces, `*.txt.gz` with lines of `id bytes`; those that begin with `synthetic` are left out. Without
it, requests are made up by Zipf's law. SERVERS (100), REQUESTS (20,000 a second at the CDN) and IMAGES (10,000,000 in all) are
the size of the fleet.
"""

import bisect
import collections
import gzip
import itertools
import os
import random
import sys

SERVERS = int(os.environ.get("SERVERS") or 100)
REQUESTS = int(os.environ.get("REQUESTS") or 20_000)
IMAGES = int(os.environ.get("IMAGES") or 10_000_000)
# Shares of all images that fit: in the CDN, on a server's disk, in Redis. Its memory holds so many.
CDN, DISK, REDIS = 0.03, 0.05, (0.01, 0.03, 0.1, 0.3)
MEMORY = 700
CLASSES = ("memory", "disk", "foreign", "redis", "s3", "nowhere")
ROWS = dict(memory="in memory", disk="on disk, made here; Redis", foreign="on disk, made by another; Redis", redis="in Redis",
            s3="in S3; Redis, which takes it", nowhere="nowhere; Redis and S3")


def costs(path):
    """Returns the columns of each row of the first table, at one connection."""
    found, names = {}, []
    with open(path) as file:
        for line in file:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if len(cells) > 10 and cells[0] == "image":
                names = cells
            elif len(cells) == len(names) > 10 and cells[1] == "1":
                found[cells[0]] = {name: float(cell or 0) for name, cell in zip(names[1:], cells[1:])}
    missing = [row for row in ROWS.values() if row not in found]
    if missing:
        raise SystemExit(f"fleet-estimate: {path} has no row for {'; '.join(missing)}. Run make bench NAME=fleet first")
    return {name: found[row] for name, row in ROWS.items()}


def traces():
    """Returns names and lists of (id, weight), whose mean is 1 over all ids."""
    folder = os.environ.get("VITRINE_TRACES")
    names = sorted(name for name in os.listdir(folder) if name.endswith(".txt.gz") and not name.startswith("synthetic")) if folder else []
    for name in names:
        with gzip.open(os.path.join(folder, name), "rt") as file:
            requests = [line.split() for line in file if line.strip()]
        sizes = {key: int(size) for key, size in requests}
        mean = sum(sizes.values()) / len(sizes)
        # A few files of a trace of the web are no images: none weighs more than ten do.
        weights = {key: min(10, size / mean) for key, size in sizes.items()}
        yield name.removesuffix(".txt.gz"), [(key, weights[key]) for key, _ in requests]
    if not names:
        chance = random.Random(1)
        limits = list(itertools.accumulate(1 / rank ** 0.9 for rank in range(1, 40_001)))
        yield "made up (Zipf, 0.9)", [(bisect.bisect(limits, chance.random() * limits[-1]), 1) for _ in range(100_000)]


class Cache:
    """Keeps the most recently used up to a limit of weight."""

    def __init__(self, limit):
        self.limit, self.weight, self.kept = limit, 0, collections.OrderedDict()

    def has(self, key):
        if key not in self.kept:
            return False
        self.kept.move_to_end(key)
        return True

    def add(self, key, weight, value=None):
        if weight > self.limit:
            return
        if key in self.kept:
            self.weight -= self.kept[key][0]
        self.kept[key] = (weight, value)
        self.kept.move_to_end(key)
        self.weight += weight
        while self.weight > self.limit:
            self.weight -= self.kept.popitem(last=False)[1][0]


def replay(requests, redis_share, is_hashed, is_full):
    """Returns how many requests each place answers, of the second half of a trace; the first one fills the caches."""
    whole = sum(dict(requests).values())
    cdn, redis, bucket = Cache(CDN * whole), Cache(redis_share * whole), {key for key, _ in requests} if is_full else set()
    memories = [Cache(max(1, MEMORY / IMAGES * whole)) for _ in range(SERVERS)]
    disks = [Cache(DISK * whole) for _ in range(SERVERS)]
    chance, found = random.Random(1), collections.Counter()
    for number, (key, weight) in enumerate(requests):
        place = "cdn"
        if not cdn.has(key):
            cdn.add(key, weight)
            server = random.Random(key).randrange(SERVERS) if is_hashed else chance.randrange(SERVERS)
            memory, disk = memories[server], disks[server]
            if memory.has(key):
                place = "memory"
            elif disk.has(key):
                place = "foreign" if disk.kept[key][1] else "disk"
            else:
                place = "redis" if redis.has(key) else "s3" if key in bucket else "nowhere"
                if place != "redis":
                    redis.add(key, weight)
                bucket.add(key)
                disk.add(key, weight, place != "nowhere")
            memory.add(key, weight)
        if number >= len(requests) // 2:
            found[place] += 1
    return found


def main():
    cost = costs(sys.argv[1])
    kept, image, entry = cost["nowhere"]["KB kept"], cost["redis"]["KB out"], cost["s3"]["KB in"]
    print(f"# {SERVERS} servers, on paper\n")
    print(f"- {REQUESTS:,} requests a second at the CDN, of {IMAGES:,} images. The CDN has room for {CDN:.0%} of them, the disk of each server\n"
          f"  for {DISK:.0%}, its memory for {MEMORY}; the bucket has all. Each throws out what was used the longest ago.")
    print(f"- An image takes {kept:.0f} KB in Redis with its original, and has {image:.0f} KB itself. These and the costs of a request are those\n"
          f"  of {os.path.basename(sys.argv[1])}, at one connection.")
    print("- Nothing expires, nothing fails, and nobody asks for a new image at the same time as another.")
    print("- The first half of each trace fills the caches, the second one is counted. CDN: share of all requests; the others: shares of\n"
          "  what the CDN does not have.")
    print("- `any` sends a request to any server, `hash` equal URLs to equal servers, so that it does not matter what Redis has room for.\n"
          "  A bucket `of trace` has what the trace has asked for before. A trace is short, so that much is new in it. A `full` one has\n"
          "  all images: the two are the bounds of what a fleet sees in the long run.\n")
    columns = (("trace", 9), ("to", 4), ("bucket", 8), ("Redis fits", 10), ("CDN", 5), ("memory", 6), ("disk", 5), ("Redis", 5), ("S3", 5), ("origin", 6),
               ("origin/s", 8), ("Redis GB", 8), ("commands/s", 10), ("MB/s in", 7), ("MB/s out", 8), ("Redis cores", 11),
               ("S3 HEAD/s", 9), ("GET/s", 6), ("PUT/s", 6), ("MB/s read", 9), ("MB/s put", 8), ("server cores", 12))
    print("| " + " | ".join(f"{name:>{width}}" for name, width in columns) + " |")
    print("|" + "---|" * len(columns))
    for name, requests in traces():
        for is_hashed, is_full in ((False, False), (False, True), (True, False), (True, True)):
            for share in REDIS[:1] if is_hashed else REDIS:
                found = replay(requests, share, is_hashed, is_full)
                total = sum(found.values())
                behind = total - found["cdn"]
                # Requests a second that are answered from each place.
                rate = {place: found[place] / total * REQUESTS for place in CLASSES}

                def sums(column):
                    return sum(rate[place] * cost[place][column] for place in CLASSES)

                part = {place: f"{found[place] / behind:.1%}" for place in CLASSES}
                values = (name, "hash" if is_hashed else "any", "full" if is_full else "of trace", f"{share:.0%}", f"{found['cdn'] / total:.1%}", part["memory"],
                          f"{(found['disk'] + found['foreign']) / behind:.1%}", part["redis"], part["s3"], part["nowhere"],
                          f"{rate['nowhere']:,.0f}", f"{share * IMAGES * kept / 1e6:,.0f}", f"{sums('commands'):,.0f}",
                          f"{sums('KB in') / 1000:,.0f}", f"{sums('KB out') / 1000:,.0f}", f"{sums('Redis ms') / 1000:.2f}",
                          f"{sums('S3HEAD'):,.0f}", f"{sums('S3GET'):,.0f}", f"{sums('S3PUT'):,.0f}",
                          f"{rate['s3'] * entry / 1000:,.0f}", f"{rate['nowhere'] * cost['nowhere']['KB in'] / 1000:,.0f}",
                          f"{sums('server ms') / 1000:,.1f}")
                print("| " + " | ".join(f"{value:>{width}}" for value, (_, width) in zip(values, columns)) + " |", flush=True)


main()
