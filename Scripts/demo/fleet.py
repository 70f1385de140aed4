"""fleet.py SERVER: three vitrine-servers, Redis, a server of buckets and Varnish under load, each killed in turn.

SERVER is the path of vitrine-server. A steady load goes through Varnish, and a part of it straight to the
servers, by clients that try another server if one fails. New images come all the time, and are asked of all servers at once.
Every answer is compared, body and entity tag, with that of a server which works alone. SECONDS_EACH (10) is the length of a
phase, RATE (120) the number of requests a second, NEW (4) that of new images a second. Fails if a byte is wrong, an image
could not be had although a way to it was open, or something does not recover.
"""

import collections
import hashlib
import http.client
import json
import os
import random
import sys
import threading
import time

import services
from load import Clients, percentile

SECONDS = float(os.environ.get("SECONDS_EACH") or 10)
RATE = float(os.environ.get("RATE") or 120)
NEW = float(os.environ.get("NEW") or 4)
WORKERS = 32
# A breaker leaves what has failed alone for at most 30 s.
PATIENCE = 60
COLUMNS = (("phase", -22), ("s", 4), ("requests", 8), ("errors", 6), ("again", 5), ("wrong", 5), ("p50 ms", 7), ("p99 ms", 7),
           ("new", 4), ("fetched", 7), ("late", 4), ("Varnish", 7), ("memory", 6), ("disk", 5), ("Redis", 5), ("S3", 4), ("recovered", 9))


def say(text):
    print(f"fleet: {text}", flush=True)


class Images:
    """The images: photographs under many names, each in three sizes, which together are all different."""

    def __init__(self, folder, count):
        self.names = sorted(name for name in os.listdir(folder) if name.endswith(".jpg"))
        self.count = count

    def targets(self, number, origin):
        """Returns the paths of one source's images."""
        name = self.names[number % len(self.names)]
        side = 120 + 3 * (number // len(self.names))
        return [f"/_/rs:fit:{side + step}:{side + step}/plain/http://127.0.0.1:{origin.port}/{number}/{name}@{form}"
                for step, form in ((0, "jpg"), (1, "webp"), (2, "jpg"))]


def proof(headers, body):
    return hashlib.sha256(body).digest(), headers.get("ETag")


class Traffic:
    """Clients of the servers and of Varnish, and what they have seen in the present phase."""

    def __init__(self, images, origin, expected, servers, varnish):
        self.images, self.origin, self.expected, self.servers, self.varnish = images, origin, expected, servers, varnish
        self.lock, self.known, self.random = threading.Lock(), 0, random.Random(1)
        self.seen, self.failures = self.fresh(), []
        self.clients = Clients(WORKERS)
        self.thread = threading.Thread(target=self.clients.run, args=[dict(new=NEW, known=RATE), self.call], daemon=True)
        self.thread.start()

    @staticmethod
    def fresh():
        return dict(requests=0, errors=0, straight_errors=0, again=0, wrong=0, times=[], varnish=0, known=0)

    def take(self):
        """Returns what has been seen since the last call."""
        with self.lock:
            seen, self.seen = self.seen, self.fresh()
            return seen

    def call(self, kind, due):
        """Asks for an image that nobody has asked for, or for one of the others. A server of None is Varnish."""
        with self.lock:
            if kind == "new":
                if self.known == self.images.count:
                    return
                target = self.random.choice(self.images.targets(self.known, self.origin))
                # Of all servers at once, and of Varnish.
                servers = list(range(len(self.servers))) + [None] * (self.varnish is not None)
                self.known += 1
                self.seen["known"] += 1
            else:
                if not self.known:
                    return
                target = self.random.choice(self.images.targets(self.random.randrange(self.known), self.origin))
                straight = self.varnish is None or self.random.random() < 0.4
                servers = [self.random.randrange(len(self.servers)) if straight else None]
        for server in servers[1:]:
            self.clients.pool.submit(self.request, target, server, due)
        self.request(target, servers[0], due)

    def request(self, target, server, due):
        ports = [self.varnish.port] if server is None else [
            self.servers[(server + step) % len(self.servers)].port for step in range(len(self.servers))]
        answer, reason, tries = None, "", 0
        for port in ports:
            tries += 1
            try:
                status, headers, body = self.clients.ask(port, target, timeout=20)
            except (OSError, http.client.HTTPException) as error:
                reason = f"{type(error).__name__}: {error}"
                continue
            if status == 200:
                answer = headers, body
                break
            reason = f"status {status}: {body[:100]!r}"
        self.note(target, server, answer, reason, tries, time.monotonic() - due)

    def note(self, target, server, answer, reason, tries, seconds):
        with self.lock:
            seen = self.seen
            seen["requests"] += 1
            seen["again"] += tries > 1
            if not answer:
                seen["errors"] += 1
                seen["straight_errors"] += server is not None
                self.failures.append(f"{'Varnish' if server is None else 'straight'}: {reason}")
                return
            seen["times"].append(seconds * 1000)
            seen["wrong"] += proof(*answer) != self.expected[target]
            # Varnish names two requests if one has found the answer of the other.
            seen["varnish"] += server is None and len(answer[0].get("X-Varnish", "").split()) == 2

    def end(self):
        self.clients.end()
        self.thread.join(30)


class Tally:
    """Adds up what servers count, over their restarts."""

    def __init__(self, servers):
        self.servers, self.last, self.sums = servers, [{} for _ in servers], collections.Counter()

    def look(self):
        for index, server in enumerate(self.servers):
            now = services.metrics(server)
            if not now:
                continue
            last = self.last[index]
            for name, value in now.items():
                before = last.get(name, 0)
                # One that has begun anew counts from 0.
                self.sums[name] += value - before if value >= before else value
            self.last[index] = now

    def is_used(self, tier, since):
        """Returns true if no server leaves the tier alone, and it has been used since then."""
        used = sum(self.sums[name, tier] for name in ("hits_total", "writes_total", "head_hits_total"))
        return used > since and all(now.get(("breaker_open", tier), 1) == 0 for now in self.last)

    def use(self, tier):
        return sum(self.sums[name, tier] for name in ("hits_total", "writes_total", "head_hits_total"))


def fetches(origin):
    return sum(json.loads(services.get(origin.port, "/fetches")[2]).values())


class Show:
    def __init__(self, traffic, tally, origin):
        self.traffic, self.tally, self.origin, self.rows, self.troubles = traffic, tally, origin, [], []

    def line(self, values):
        print("  ".join(f"{str(value):<{-width}}" if width < 0 else f"{str(value):>{width}}" for value, (_, width) in zip(values, COLUMNS)),
              flush=True)

    def head(self):
        self.line([name for name, _ in COLUMNS])

    def phase(self, name, recovers=None, down=()):
        """Runs a phase, and adds its row; `recovers` tells whether what was started works again, `down` which ways are shut."""
        self.traffic.take()
        self.tally.look()
        start, before, fetched = time.monotonic(), collections.Counter(self.tally.sums), fetches(self.origin)
        recovered = None
        while True:
            time.sleep(0.2)
            self.tally.look()
            passed = time.monotonic() - start
            if recovers and recovered is None and recovers():
                recovered = passed
            if passed >= SECONDS and (not recovers or recovered is not None or passed >= PATIENCE):
                break
        seen, passed = self.traffic.take(), time.monotonic() - start
        hits = self.tally.sums - before
        word = "" if not recovers else f"{recovered:.1f} s" if recovered is not None else "no"
        row = [name, f"{passed:.0f}", seen["requests"], seen["errors"], seen["again"], seen["wrong"], f"{percentile(seen['times'], 0.5):.1f}",
               f"{percentile(seen['times'], 0.99):.1f}", seen["known"], fetches(self.origin) - fetched,
               hits["time_outs_total", "redis"] + hits["time_outs_total", "s3"], seen["varnish"],
               hits["images_total", "memory"], hits["hits_total", "disk"], hits["hits_total", "redis"], hits["hits_total", "s3"], word]
        self.line(row)
        if seen["wrong"]:
            self.troubles.append(f"{name}: {seen['wrong']} answers had wrong bytes")
        # Who asks Varnish has no other way.
        errors = seen["straight_errors"] if "Varnish" in down else seen["errors"]
        if errors:
            self.troubles.append(f"{name}: {errors} images could not be had")
        if recovers and recovered is None:
            self.troubles.append(f"{name}: not used again within {PATIENCE} seconds")


def answers(part, target, expected):
    try:
        status, headers, body = services.get(part.port, target, timeout=2)
    except (OSError, http.client.HTTPException):
        return False
    return status == 200 and proof(headers, body) == expected


def main():
    program = os.path.abspath(sys.argv[1])
    group = services.Fleet()
    photographs = group.photographs()
    # Phases that wait for a breaker take longer.
    images = Images(photographs, int(NEW * (SECONDS * 10 + 2 * PATIENCE)))
    origin = group.origin(photographs).start()
    redis, bucket = group.redis(), group.bucket()
    for part, name in ((redis, "Redis: redis-server"), (bucket, "S3: weed (SeaweedFS)"), (services.find("varnishd"), "Varnish: varnishd")):
        if not part:
            say(f"skipping {name} is not installed; Scripts/setup.sh demo/fleet installs it")
    for part in (redis, bucket):
        if part:
            part.start(60)

    say(f"making {images.count * 3} images with one server alone, to compare with")
    reference = group.server(program, "reference").start()
    expected = {}
    for number in range(images.count):
        for target in images.targets(number, origin):
            status, headers, body = services.get(reference.port, target)
            if status != 200:
                raise SystemExit(f"fleet: {target} is answered with {status}: {body[:200]!r}")
            expected[target] = proof(headers, body)
    reference.stop()
    if len({body for body, _ in expected.values()}) != len(expected):
        raise SystemExit("fleet: some of these images are alike, so a mix-up would not be seen")

    servers = [group.server(program, f"server {number + 1}", redis, bucket, memory="96M", cache_bytes="64M").start() for number in range(3)]
    varnish = group.varnish("fleet.vcl", {8081 + number: server.port for number, server in enumerate(servers)})
    if varnish:
        varnish.start()
    names = [f"{len(servers)} servers"] + [part.name for part in (redis, bucket, varnish) if part]
    say(f"{', '.join(names)}; {RATE:.0f} requests and {NEW:.0f} new images a second"
        + (", 6 of 10 requests through Varnish" if varnish else ", straight to the servers") + "\n")

    traffic, tally = Traffic(images, origin, expected, servers, varnish), Tally(servers)
    show = Show(traffic, tally, origin)
    show.head()
    show.phase("all run")
    target = images.targets(0, origin)[0]

    def cycle(part, name, works, down=()):
        part.kill()
        show.phase(f"{name} killed", down=down)
        part.begin()
        # Before it works the ways through it are still shut.
        show.phase(f"{name} started again", works, down)

    cycle(servers[1], "server 2", lambda: answers(servers[1], target, expected[target]))
    for part, name, tier in ((redis, "Redis", "redis"), (bucket, "S3", "s3")):
        if part:
            used = []

            def works(tier=tier, used=used):
                # What is counted before the first look is the last of the time before the kill.
                used = used or [tally.use(tier)]
                return tally.is_used(tier, used[0])

            part.kill()
            show.phase(f"{name} killed")
            used.append(tally.use(tier))
            part.begin()
            show.phase(f"{name} started again", works)
    if varnish:
        cycle(varnish, "Varnish", lambda: answers(varnish, target, expected[target]), down={"Varnish"})
    show.phase("all run")
    traffic.end()

    print("\nagain: straight requests that another server answered, since the first one failed; new: images never asked for before;\n"
          "fetched: requests to the origin, for new images, and for others whose original has been lost with Redis and cannot be had from "
          "S3;\nlate: calls to Redis and S3 that took too long, after which a server may fetch what another has.\nVarnish, memory, disk, Redis, S3: hits, the last four of all servers together.")
    if traffic.failures:
        print("\nErrors, by reason:")
        for reason, count in collections.Counter(traffic.failures).most_common(5):
            print(f"  {count:>5}  {reason}")
    if show.troubles:
        print("\nfleet: not as it should be:\n  " + "\n  ".join(show.troubles))
        sys.exit(1)
    say("no wrong byte, no image that could not be had while a way to it was open; all parts are used again")


try:
    main()
except KeyboardInterrupt:
    say("ended; all of its programs are stopped")
    sys.exit(130)
