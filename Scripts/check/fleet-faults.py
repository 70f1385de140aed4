"""torture-fleet.py SERVER: the latency of vitrine-server while its shared tier is slow, paused, full, cut off or gone.

States: `slow-MS` (each answer later by so much), `jitter` (one in twenty a second late), `cut` (connections end in the middle of
an answer), `silent` (no answers), `paused` (SIGSTOP), `killed` (and started again at the end), `emptied` (killed, and
started at once without its contents), `flushed` (FLUSHALL every second), `full`, `evicting`; `cloud` is a bucket that has always
taken 40 ms, which must stay used and is no fault; in `holder` a server is killed (-9) that holds leases for which others wait.

Starts redis-server (and SeaweedFS, where it is installed) behind slow-proxy.py, and loads a server at a steady rate with three
kinds of requests: `hit` (in the server's own caches), `shared` (only in the tier, where another server has put it) and `miss`
(nowhere). First without a tier, then in each state. Prints p50 and p99 of each kind, wrong bytes and errors, the tier's counts,
and the time from the end of the fault to the next hit in the tier. Latencies count from the time at which a request was due.
Fails for a wrong byte, an error, a p99 more than LIMIT_MS (50) above that without the tier, or a tier that is not used again.
TIERS (redis s3), STATES, SECONDS_EACH (7) and RATES (100 25 25 a second) narrow it; REDIS is the server to start.
"""

import hashlib
import http.client
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

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
here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
scratch = tempfile.mkdtemp()
sources = os.path.join(scratch, "sources")
os.mkdir(sources)
photographs = sorted(name for name in os.listdir(os.path.join(here, "Examples/Photographs")) if name.endswith(".jpg"))[:6]
failures, processes = [], []
# The number of images for the time after a fault.
LATER = 200
started = time.monotonic()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(command, **options):
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    processes.append(process)
    return process


def wait_for(port):
    for _ in range(300):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"nothing listens on {port}")


count = 0


def new_source():
    """Returns a name that nobody has asked for, and the number of the photograph behind it."""
    global count
    count += 1
    number = count % len(photographs)
    os.link(os.path.join(sources, f"{number}.jpg"), os.path.join(sources, f"{number}-{count}.jpg"))
    return f"{number}-{count}.jpg", number


def path(name):
    return f"/_/rs:fit:128:128/q:80/plain/local:///{name}@jpg"


class Server:
    def __init__(self, **settings):
        self.port, folder = free_port(), tempfile.mkdtemp(dir=scratch)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("VITRINE_")}
        environment.update(VITRINE_PORT=str(self.port), VITRINE_LOCAL_ROOT=sources, VITRINE_CACHE_DIR=folder, VITRINE_LOG="off",
                           VITRINE_ALLOW_ROOT="on", VITRINE_LOCAL_TTL="1h", VITRINE_SANDBOX="none", no_proxy="127.0.0.1",
                           VITRINE_ALLOWED_NETWORKS="127.0.0.1/32", VITRINE_ALLOWED_PORTS="", **settings)
        self.process = start([program], env=environment, stdout=subprocess.DEVNULL)
        wait_for(self.port)
        self.local = threading.local()

    def get(self, target):
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = self.local.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                connection.request("GET", target)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException):
                # An idle connection may have been closed.
                self.local.connection = None
                if attempt == 2:
                    return 0, b""

    def counts(self, tier):
        """Returns the numbers of the tier; empty without."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        return {name: int(value) for name, value in re.findall(r'vitrine_tier_(\w+)\{tier="%s"\} (\d+)' % tier, text)}

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)


class Proxy:
    def __init__(self, port):
        self.process = start([sys.executable, os.path.join(here, "Scripts/lib/slow-proxy.py"), str(port)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()


class Engine:
    """What all engines can be made to suffer."""

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
            self.process.send_signal(signal.SIGSTOP)
        elif state == "killed":
            self.kill()

    def end(self, state):
        self.proxy.say("pass")
        if state == "paused":
            self.process.send_signal(signal.SIGCONT)
        elif state == "killed":
            self.launch()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Redis(Engine):
    name = "redis"

    def __init__(self):
        self.port = free_port()
        self.launch()
        self.proxy = Proxy(self.port)

    def launch(self):
        self.process = start([os.environ.get("REDIS", "redis-server"), "--port", str(self.port), "--bind", "127.0.0.1", "--save",
                              "", "--appendonly", "no", "--dir", scratch], stdout=subprocess.DEVNULL)
        wait_for(self.port)

    def command(self, *words):
        with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
            connection.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
            return connection.recv(65536).decode()

    def settings(self, port):
        return {"VITRINE_SHARED": f"redis://127.0.0.1:{port}"}

    def begin(self, state):
        super().begin(state)
        if state == "emptied":
            self.kill()
            self.launch()
        elif state == "flushed":
            self.flushes = True
            threading.Thread(target=self.flush, daemon=True).start()
        elif state in ("full", "evicting"):
            used = int(re.search(r"used_memory:(\d+)", self.command("INFO", "memory")).group(1))
            self.command("CONFIG", "SET", "maxmemory-policy", "noeviction" if state == "full" else "allkeys-lru")
            self.command("CONFIG", "SET", "maxmemory", str(used if state == "full" else max(2_000_000, used - 500_000)))

    def flush(self):
        while self.flushes:
            self.command("FLUSHALL")
            time.sleep(1)

    def end(self, state):
        super().end(state)
        self.flushes = False
        self.command("CONFIG", "SET", "maxmemory", "0")


class S3(Engine):
    name = "s3"

    def __init__(self):
        self.weed = next((place for place in (shutil.which("weed"), os.path.join(here, ".build/weed/bin/weed"))
                          if place and os.path.exists(place)), None)
        if not self.weed:
            raise FileNotFoundError("weed")
        self.ports, self.folder = [free_port() for _ in range(10)], tempfile.mkdtemp(dir=scratch)
        self.port = self.ports[0]
        self.launch()
        self.proxy = Proxy(self.port)

    def launch(self):
        names = ("s3.port s3.port.grpc master.port master.port.grpc volume.port volume.port.grpc filer.port filer.port.grpc "
                 "admin.port admin.port.grpc").split()
        self.process = start([self.weed, "-logtostderr=true", "mini", f"-dir={self.folder}", "-ip=127.0.0.1",
                              "-ip.bind=127.0.0.1", "-s3.port.iceberg=0", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false"]
                             + [f"-{name}={port}" for name, port in zip(names, self.ports)], stdout=subprocess.DEVNULL)
        wait_for(self.port)
        for _ in range(300):
            try:
                request = urllib.request.Request(f"http://127.0.0.1:{self.port}/torture", method="PUT")
                return urllib.request.urlopen(request, timeout=5).close()
            except urllib.error.HTTPError as error:
                if error.code == 409:
                    return
                time.sleep(0.2)
            except OSError:
                time.sleep(0.2)
        raise SystemExit("SeaweedFS does not start")

    def settings(self, port):
        return {"VITRINE_DURABLE": "s3://torture/thumbnails", "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_REGION": "us-east-1"}


digests, hot = {}, []
pool = ThreadPoolExecutor(96)


class Load:
    """Requests at a steady rate, whatever becomes of the earlier ones."""

    def __init__(self, server, ready):
        self.server, self.ready, self.taken = server, list(ready), 0
        self.times = {kind: [] for kind in RATES}
        self.wrong, self.errors = 0, 0
        self.lock = threading.Lock()

    def one(self, kind, due):
        if kind == "hit":
            with self.lock:
                self.taken += 1
                name, number = hot[self.taken % len(hot)]
        elif kind == "shared" and self.ready:
            with self.lock:
                name, number = self.ready.pop()
        else:
            with self.lock:
                name, number = new_source()
        status, body = self.server.get(path(name))
        took = (time.monotonic() - due) * 1000
        with self.lock:
            self.times[kind].append(took)
            if status != 200:
                self.errors += 1
            elif hashlib.sha256(body).digest() != digests[number]:
                self.wrong += 1

    def run(self, seconds, until=lambda: False):
        began, futures = time.monotonic(), []
        schedule = sorted((number / rate, kind) for kind, rate in RATES.items() for number in range(int(rate * seconds)))
        for offset, kind in schedule:
            if (wait := began + offset - time.monotonic()) > 0:
                time.sleep(wait)
            if until():
                break
            futures.append(pool.submit(self.one, kind, began + offset))
        for future in futures:
            future.result()


def quantile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(len(times) * share))] if times else float("nan")


def row(name, load, counts, recovery, baseline, limit=LIMIT):
    figures, notes = [], []
    for kind in RATES:
        p50, p99 = quantile(load.times[kind], 0.5), quantile(load.times[kind], 0.99)
        figures.append(f"{p50:>7.1f} {p99:>7.1f}")
        if baseline and p99 > baseline[kind] + limit:
            notes.append(f"p99 of {kind} is {p99 - baseline[kind]:.0f} ms above")
    if load.wrong:
        notes.append(f"{load.wrong} wrong")
    if load.errors:
        notes.append(f"{load.errors} errors")
    if recovery is None and counts:
        notes.append("not used again")
    failures.extend(f"{name}: {note}" for note in notes)
    shown = "hits misses time_outs slow hedges errors refusals skipped dropped_writes breaker_openings".split()
    numbers = " ".join(f"{counts.get(key + '_total', 0):>8}" for key in shown) if counts else ""
    again = "" if not counts or recovery is None else f"{recovery:>8.1f}"
    print(f"{name:<16} {'  '.join(figures)}  {load.wrong:>5} {load.errors:>6} {again:>8} {numbers}"
          + ("   " + "; ".join(notes) if notes else ""), flush=True)


def fill(server, amount):
    """Has a server make images, which all share from then on."""
    ready = [new_source() for _ in range(amount)]
    for _ in pool.map(lambda source: server.get(path(source[0])), ready):
        pass
    return ready


def warm(server):
    for name, number in hot:
        server.get(path(name))
    Load(server, []).run(1)


HEAD = (f"{'state':<16} {'hit p50':>7} {'p99':>7}  {'shared':>7} {'p99':>7}  {'miss':>7} {'p99':>7}  {'wrong':>5} {'errors':>6} "
        f"{'again s':>8} {'hits':>8} {'misses':>8} {'timeout':>8} {'late':>8} {'twice':>8} {'errors':>8} {'refused':>8} {'skipped':>8} "
        f"{'dropped':>8} {'opened':>8}")


def recover(server, engine, names):
    """Returns the seconds until the tier has an answer again, and the load that found that out; `None` for never."""
    began, hits = time.monotonic(), server.counts(engine.name).get("hits_total", 0)
    light = Load(server, names)
    while light.ready and time.monotonic() < began + 60:
        light.one("shared", time.monotonic())
        if server.counts(engine.name).get("hits_total", 0) > hits:
            return time.monotonic() - began, light
        time.sleep(0.05 if time.monotonic() < began + 5 else 0.5)
    return None, light


def torture(engine, baseline):
    filler = Server(**engine.settings(engine.port))
    for state in [state for state in FAULTS[engine.name] if not STATES or state in STATES]:
        if state == "holder":
            kill_holder(engine, baseline)
            continue
        if state == "cloud":
            engine.begin(state)
        # A server of its own, so that what one state has left behind does not count in the next.
        server = Server(**engine.settings(engine.proxy.port))
        warm(server)
        ready = fill(filler, int(RATES["shared"] * SECONDS) + LATER)
        time.sleep(0.5)
        first, later = ready[:-LATER], ready[-LATER:]
        before = server.counts(engine.name)
        load = Load(server, first)
        if state != "cloud":
            engine.begin(state)
        load.run(SECONDS)
        after = server.counts(engine.name)
        counts = {key: after[key] - before.get(key, 0) for key in after}
        engine.end(state)
        if state in ("emptied", "flushed") or (state == "killed" and engine.name == "redis"):
            # What was there has gone, so another server has to put something there first.
            later = fill(filler, LATER)
        recovery, light = recover(server, engine, later)
        load.wrong, load.errors = load.wrong + light.wrong, load.errors + light.errors
        is_fault = state != "cloud"
        row(f"{engine.name} {state}", load, counts, recovery, baseline, LIMIT if is_fault else float("inf"))
        if not is_fault and (counts["skipped_total"] or counts["hits_total"] < len(first) * 0.95):
            failures.append(f"{engine.name} {state}: a bucket that is slow by nature is left alone")
        server.stop()
    filler.stop()


class HeldOrigin(http.server.BaseHTTPRequestHandler):
    """Serves the photographs, and answers the first request for a name only after the server is killed that has sent it."""

    protocol_version, requests, lock, gate = "HTTP/1.1", {}, threading.Lock(), threading.Event()

    def do_GET(self):
        with self.lock:
            count = self.requests[self.path] = self.requests.get(self.path, 0) + 1
        if count == 1:
            self.gate.wait(60)
        with open(os.path.join(sources, self.path.strip("/").split("-")[0] + ".jpg"), "rb") as file:
            body = file.read()
        self.send_response(200)
        for name, value in (("Content-Type", "image/jpeg"), ("Content-Length", str(len(body))), ("Cache-Control", "max-age=3600")):
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass

    def log_message(self, *arguments):
        pass


def kill_holder(engine, baseline, amount=10):
    """Kills a server that holds leases; others wait for what it would have made, under the usual load."""
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HeldOrigin)
    origin.daemon_threads, origin.handle_error = True, lambda *arguments: None
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    paths = [(f"/_/rs:fit:128:128/q:80/plain/http://127.0.0.1:{origin.server_port}/{number % len(photographs)}-{number}.jpg@jpg",
              number % len(photographs)) for number in range(amount)]
    holder, server = (Server(**engine.settings(engine.proxy.port)) for _ in range(2))
    warm(server)
    asked = [threading.Thread(target=holder.get, args=(target,), daemon=True) for target, _ in paths]
    for thread in asked:
        thread.start()
    while len(HeldOrigin.requests) < amount:
        time.sleep(0.01)
    before, load, results = server.counts(engine.name), Load(server, []), []

    def wait(target, number):
        began = time.monotonic()
        status, body = server.get(target)
        is_right = status == 200 and hashlib.sha256(body).digest() == digests[number]
        results.append((time.monotonic() - began, status, is_right))

    waiting = [threading.Thread(target=wait, args=item, daemon=True) for item in paths]
    for thread in waiting:
        thread.start()
    time.sleep(0.3)
    holder.process.kill()
    HeldOrigin.gate.set()
    load.run(SECONDS)
    for thread in waiting:
        thread.join(60)
    load.errors += sum(status != 200 for _, status, _ in results) + amount - len(results)
    load.wrong += sum(status == 200 and not is_right for _, status, is_right in results)
    after = server.counts(engine.name)
    longest = max(seconds for seconds, _, _ in results)
    row(f"{engine.name} holder", load, {key: after[key] - before.get(key, 0) for key in after}, longest - 0.3, baseline)
    total = sum(HeldOrigin.requests.values())
    print(f"{'':<16} {amount} images whose leases the killed server held: answered within {longest:.1f} s, after {total} fetches "
          f"of theirs", flush=True)
    if longest > 11:
        failures.append(f"{engine.name} holder: {longest:.1f} s")
    server.stop()
    origin.shutdown()


try:
    for number, name in enumerate(photographs):
        shutil.copy(os.path.join(here, "Examples/Photographs", name), os.path.join(sources, f"{number}.jpg"))
    plain = Server()
    for number in range(len(photographs)):
        digests[number] = hashlib.sha256(plain.get(path(f"{number}.jpg"))[1]).digest()
    hot.extend(new_source() for _ in range(50))
    warm(plain)
    print(f"{SECONDS:.0f} s of each state; requests a second: " + ", ".join(f"{rate:.0f} {kind}" for kind, rate in RATES.items())
          + f"; {os.cpu_count()} cores for all of it. Latencies in ms, from the time at which a request was due.\n"
          f"'again' is the time from the end of the fault to the next hit in the tier.\n\n{HEAD}", flush=True)
    load = Load(plain, [])
    load.run(SECONDS)
    baseline = {kind: quantile(load.times[kind], 0.99) for kind in RATES}
    # What only the tier has must be made without it.
    baseline["shared"] = baseline["miss"]
    row("without a tier", load, {}, None, None)
    plain.stop()
    for kind in TIERS:
        try:
            engine = {"redis": Redis, "s3": S3}[kind]()
        except FileNotFoundError as error:
            print(f"{kind}: left out, {error} is not installed")
            continue
        torture(engine, baseline)
    print(f"\n{time.monotonic() - started:.0f} s in all")
    print("\n" + ("\n".join(f"TOO SLOW OR WRONG: {failure}" for failure in failures) or "All within the limit."))
finally:
    for process in processes:
        try:
            process.send_signal(signal.SIGCONT)
            process.kill()
        except ProcessLookupError:
            pass
    shutil.rmtree(scratch, ignore_errors=True)
sys.exit(1 if failures else 0)
