"""fleet-faults.py SERVER: the latency of vitrine-server while its shared tier is slow, paused, full, cut off or gone.

States: `slow-MS` (each answer later by so much), `jitter` (one in twenty a second late), `cut` (connections end in the middle of
an answer), `silent` (no answers), `paused` (SIGSTOP), `killed` (and started again at the end), `emptied` (killed, and
started at once without its contents), `flushed` (FLUSHALL every second), `full`, `evicting`; `cloud` is a bucket that has always
taken 40 ms, which must stay used and is no fault; in `holder` a server is killed (-9) that holds leases for which others wait.

Starts redis-server (and SeaweedFS, where it is installed) behind lib/slow-proxy.py, and loads a server at a steady rate with three
kinds of requests: `hit` (in the server's own caches), `shared` (only in the tier, where another server has put it) and `miss`
(nowhere). First without a tier, then in each state. Prints p50 and p99 of each kind, wrong bytes and errors, the tier's counts,
and the time from the end of the fault to the next hit in the tier. Latencies count from the time at which a request was due.
Fails for a wrong byte, an error, a p99 more than LIMIT_MS (50) above that without the tier, or a tier that is not used again.
TIERS (redis s3), STATES, SECONDS_EACH (7) and RATES (100 25 25 a second) narrow it; REDIS is the server to start.
"""

import hashlib
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import services
from load import Clients, percentile

SECONDS = float(os.environ.get("SECONDS_EACH", "7"))
LIMIT = float(os.environ.get("LIMIT_MS", "50"))
RATES = dict(zip(("hit", "shared", "miss"), map(float, os.environ.get("RATES", "100 25 25").split())))
TIERS = os.environ.get("TIERS", "redis s3").split()
FAULTS = {
    "redis": "healthy slow-30 slow-100 slow-1000 jitter cut silent paused killed emptied flushed full evicting holder".split(),
    "s3": "healthy cloud slow-30 slow-100 slow-1000 jitter cut silent paused killed".split(),
}
STATES = os.environ.get("STATES", "").split()
program = os.path.abspath(sys.argv[1])
group = services.Fleet()
sources = group.photographs()
photographs = sorted(os.listdir(sources))[:6]
clients = Clients(96)
failures, digests, hot = [], {}, []
# The number of images for the time after a fault.
LATER = 200
started = time.monotonic()
count = 0


def new_source():
    """Returns a name that nobody has asked for, and the number of the photograph behind it."""
    global count
    count += 1
    number = count % len(photographs)
    os.link(os.path.join(sources, photographs[number]), os.path.join(sources, f"{number}-{count}.jpg"))
    return f"{number}-{count}.jpg", number


def path(name):
    return f"/_/rs:fit:128:128/q:80/plain/local:///{name}@jpg"


def ask(server, target):
    """Returns the status and the body of an answer; status 0 if there is none."""
    try:
        status, _, body = clients.ask(server.port, target)
        return status, body
    except (OSError, http.client.HTTPException):
        return 0, b""


def serve(tier, through=None):
    """Starts a server, of which `through` is the way to the tier."""
    tiers = {tier.name: through or tier.part} if tier else {}
    return group.server(program, "server", tiers.get("redis"), tiers.get("s3"), local_root=sources, local_ttl="1h", sandbox="none").start()


def stop(server):
    server.stop()
    group.parts.remove(server)


def counts(server, tier):
    """Returns the numbers of a tier; empty without."""
    return {name: value for (name, other), value in services.metrics(server, 60).items() if tier and other == tier.name}


class Proxy:
    """Stands between servers and a tier."""

    def __init__(self, port):
        self.process = subprocess.Popen([sys.executable, os.path.join(services.HERE, "Scripts/lib/slow-proxy.py"), str(port)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()


class Tier:
    """What a tier can be made to suffer."""

    def __init__(self, name, part):
        self.name, self.part = name, part.start(60)
        self.proxy, self.flushes = Proxy(part.port), False

    def begin(self, state):
        kind, _, number = state.partition("-")
        if kind == "slow":
            self.proxy.say(f"delay {number}")
        elif state == "jitter":
            self.proxy.say("jitter 1000 5")
        elif state == "cloud":
            self.proxy.say("delay 40")
        elif state == "cut":
            self.proxy.say("cut 200000")
        elif state == "silent":
            self.proxy.say("swallow")
        elif state == "paused":
            self.part.process.send_signal(signal.SIGSTOP)
        elif state == "killed":
            self.part.kill()
        elif state == "emptied":
            # Nothing of Redis is on disk.
            self.part.kill()
            self.part.start()
        elif state == "flushed":
            self.flushes = True
            threading.Thread(target=self.flush, daemon=True).start()
        elif state in ("full", "evicting"):
            used = int(re.search(r"used_memory:(\d+)", self.command("INFO", "memory")).group(1))
            self.command("CONFIG", "SET", "maxmemory-policy", "noeviction" if state == "full" else "allkeys-lru")
            self.command("CONFIG", "SET", "maxmemory", str(used if state == "full" else max(2_000_000, used - 500_000)))

    def end(self, state):
        self.proxy.say("pass")
        if state == "paused":
            self.part.process.send_signal(signal.SIGCONT)
        elif state == "killed":
            self.part.start(60)
        elif state == "flushed":
            self.flushes = False
        elif state in ("full", "evicting"):
            self.command("CONFIG", "SET", "maxmemory", "0")

    def command(self, *words):
        """Sends Redis a command."""
        with socket.create_connection(("127.0.0.1", self.part.port), 5) as connection:
            connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
            return connection.recv(65536).decode()

    def flush(self):
        while self.flushes:
            self.command("FLUSHALL")
            time.sleep(1)


class Sample:
    """What became of requests."""

    def __init__(self, server, ready):
        self.server, self.ready, self.taken = server, list(ready), 0
        self.times = {kind: [] for kind in RATES}
        self.wrong, self.errors = 0, 0
        self.lock = threading.Lock()

    def one(self, kind, due):
        with self.lock:
            if kind == "hit":
                self.taken += 1
                name, number = hot[self.taken % len(hot)]
            elif kind == "shared" and self.ready:
                name, number = self.ready.pop()
            else:
                name, number = new_source()
        status, body = ask(self.server, path(name))
        took = (time.monotonic() - due) * 1000
        with self.lock:
            self.times[kind].append(took)
            if status != 200:
                self.errors += 1
            elif hashlib.sha256(body).digest() != digests[number]:
                self.wrong += 1

    def run(self, seconds):
        clients.run(RATES, self.one, seconds)


def row(name, load, numbers, recovery, baseline, limit=LIMIT):
    figures, notes = [], []
    for kind in RATES:
        p50, p99 = percentile(load.times[kind], 0.5), percentile(load.times[kind], 0.99)
        figures.append(f"{p50:>7.1f} {p99:>7.1f}")
        if baseline and p99 > baseline[kind] + limit:
            notes.append(f"p99 of {kind} is {p99 - baseline[kind]:.0f} ms above")
    if load.wrong:
        notes.append(f"{load.wrong} wrong")
    if load.errors:
        notes.append(f"{load.errors} errors")
    if recovery is None and numbers:
        notes.append("not used again")
    failures.extend(f"{name}: {note}" for note in notes)
    shown = "hits misses time_outs slow hedges errors refusals skipped dropped_writes breaker_openings".split()
    columns = " ".join(f"{numbers.get(key + '_total', 0):>8}" for key in shown) if numbers else ""
    again = "" if not numbers or recovery is None else f"{recovery:>8.1f}"
    print(f"{name:<16} {'  '.join(figures)}  {load.wrong:>5} {load.errors:>6} {again:>8} {columns}"
          + ("   " + "; ".join(notes) if notes else ""), flush=True)


def fill(server, amount):
    """Has a server make images, which all share from then on."""
    ready = [new_source() for _ in range(amount)]
    for _ in clients.pool.map(lambda source: ask(server, path(source[0])), ready):
        pass
    return ready


def warm(server):
    for name, number in hot:
        ask(server, path(name))
    Sample(server, []).run(1)


HEAD = (f"{'state':<16} {'hit p50':>7} {'p99':>7}  {'shared':>7} {'p99':>7}  {'miss':>7} {'p99':>7}  {'wrong':>5} {'errors':>6} "
        f"{'again s':>8} {'hits':>8} {'misses':>8} {'timeout':>8} {'late':>8} {'twice':>8} {'errors':>8} {'refused':>8} {'skipped':>8} "
        f"{'dropped':>8} {'opened':>8}")


def recover(server, tier, names):
    """Returns the seconds until the tier has an answer again, and the load that found that out; `None` for never."""
    began, hits = time.monotonic(), counts(server, tier).get("hits_total", 0)
    light = Sample(server, names)
    while light.ready and time.monotonic() < began + 60:
        light.one("shared", time.monotonic())
        if counts(server, tier).get("hits_total", 0) > hits:
            return time.monotonic() - began, light
        time.sleep(0.05 if time.monotonic() < began + 5 else 0.5)
    return None, light


def suffer(tier, baseline):
    filler = serve(tier)
    for state in [state for state in FAULTS[tier.name] if not STATES or state in STATES]:
        if state == "holder":
            kill_holder(tier, baseline)
            continue
        if state == "cloud":
            tier.begin(state)
        # A server of its own, so that what one state has left behind does not count in the next.
        server = serve(tier, tier.proxy)
        warm(server)
        ready = fill(filler, int(RATES["shared"] * SECONDS) + LATER)
        time.sleep(0.5)
        first, later = ready[:-LATER], ready[-LATER:]
        before = counts(server, tier)
        load = Sample(server, first)
        if state != "cloud":
            tier.begin(state)
        load.run(SECONDS)
        after = counts(server, tier)
        numbers = {key: after[key] - before.get(key, 0) for key in after}
        tier.end(state)
        if state in ("emptied", "flushed") or (state == "killed" and tier.name == "redis"):
            # What was there has gone, so another server has to put something there first.
            later = fill(filler, LATER)
        recovery, light = recover(server, tier, later)
        load.wrong, load.errors = load.wrong + light.wrong, load.errors + light.errors
        is_fault = state != "cloud"
        row(f"{tier.name} {state}", load, numbers, recovery, baseline, LIMIT if is_fault else float("inf"))
        if not is_fault and (numbers["skipped_total"] or numbers["hits_total"] < len(first) * 0.95):
            failures.append(f"{tier.name} {state}: a bucket that is slow by nature is left alone")
        stop(server)
    stop(filler)


class HeldOrigin(services.Answering):
    """Serves the photographs, and answers the first request for a name only after the server is killed that has sent it."""

    requests, lock, gate = {}, threading.Lock(), threading.Event()

    def do_GET(self):
        with self.lock:
            count = self.requests[self.path] = self.requests.get(self.path, 0) + 1
        if count == 1:
            self.gate.wait(60)
        with open(os.path.join(sources, photographs[int(self.path.strip("/").split("-")[0])]), "rb") as file:
            self.answer(200, file.read(), Content_Type="image/jpeg", Cache_Control="max-age=3600")


def kill_holder(tier, baseline, amount=10):
    """Kills a server that holds leases; others wait for what it would have made, under the usual load."""
    port = services.serve(HeldOrigin)
    paths = [(f"/_/rs:fit:128:128/q:80/plain/http://127.0.0.1:{port}/{number % len(photographs)}-{number}.jpg@jpg",
              number % len(photographs)) for number in range(amount)]
    holder, server = (serve(tier, tier.proxy) for _ in range(2))
    warm(server)
    asked = [threading.Thread(target=ask, args=(holder, target), daemon=True) for target, _ in paths]
    for thread in asked:
        thread.start()
    while len(HeldOrigin.requests) < amount:
        time.sleep(0.01)
    before, load, results = counts(server, tier), Sample(server, []), []

    def wait(target, number):
        began = time.monotonic()
        status, body = ask(server, target)
        is_right = status == 200 and hashlib.sha256(body).digest() == digests[number]
        results.append((time.monotonic() - began, status, is_right))

    waiting = [threading.Thread(target=wait, args=item, daemon=True) for item in paths]
    for thread in waiting:
        thread.start()
    time.sleep(0.3)
    holder.kill()
    HeldOrigin.gate.set()
    load.run(SECONDS)
    for thread in waiting:
        thread.join(60)
    load.errors += sum(status != 200 for _, status, _ in results) + amount - len(results)
    load.wrong += sum(status == 200 and not is_right for _, status, is_right in results)
    after = counts(server, tier)
    longest = max(seconds for seconds, _, _ in results)
    row(f"{tier.name} holder", load, {key: after[key] - before.get(key, 0) for key in after}, longest - 0.3, baseline)
    total = sum(HeldOrigin.requests.values())
    print(f"{'':<16} {amount} images whose leases the killed server held: answered within {longest:.1f} s, after {total} fetches "
          f"of theirs", flush=True)
    if longest > 11:
        failures.append(f"{tier.name} holder: {longest:.1f} s")
    stop(server)
    stop(holder)


def main():
    plain = serve(None)
    for number, name in enumerate(photographs):
        digests[number] = hashlib.sha256(ask(plain, path(name))[1]).digest()
    hot.extend(new_source() for _ in range(50))
    warm(plain)
    print(f"{SECONDS:.0f} s of each state; requests a second: " + ", ".join(f"{rate:.0f} {kind}" for kind, rate in RATES.items())
          + "; all on the same cores. Latencies in ms, from the time at which a request was due.\n"
          f"'again' is the time from the end of the fault to the next hit in the tier.\n\n{HEAD}", flush=True)
    load = Sample(plain, [])
    load.run(SECONDS)
    baseline = {kind: percentile(load.times[kind], 0.99) for kind in RATES}
    # What only the tier has must be made without it.
    baseline["shared"] = baseline["miss"]
    row("without a tier", load, {}, None, None)
    stop(plain)
    for kind in TIERS:
        part = {"redis": lambda: group.redis("--maxmemory", "0"), "s3": group.bucket}[kind]()
        if part:
            suffer(Tier(kind, part), baseline)
        else:
            print(f"{kind}: left out, since its server is not installed")
    print(f"\n{time.monotonic() - started:.0f} s in all")
    print("\n" + ("\n".join(f"TOO SLOW OR WRONG: {failure}" for failure in failures) or "All within the limit."))
    clients.end()
    sys.exit(1 if failures else 0)


main()
