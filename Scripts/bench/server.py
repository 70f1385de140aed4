"""server.py SERVER: compares vitrine-server with thumbor and with pyvips behind granian, in one run, by wrk.

Run by the Python of the peers' environment. Sources are photographs of VITRINE_CORPUS, or the shipped ones, under many names,
so that each request of a miss has a name of its own. CPU time is that of the server and its workers; memory is the
highest of each process since its start (VmHWM), and for vitrine-server its own process apart from the workers.
SECONDS_EACH (5) is the time of each run; FORMATS (jpg webp avif, and hits), KINDS (jpg progressive png webp) of sources,
CONNECTIONS (1 16 64) and PEERS (vitrine pyvips thumbor) narrow it. A run of `flat` loads vitrine-server for FLAT_SECONDS (300)
instead, and prints its memory on the way; one of `greedy` prints the waits of a client beside one that asks for too much.
"""

import http.client
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import services
import wrk

SECONDS = int(os.environ.get("SECONDS_EACH", "5"))
FORMATS = os.environ.get("FORMATS", "jpg webp avif hits").split()
KINDS = os.environ.get("KINDS", "jpg progressive png webp").split()
CONNECTIONS = [int(n) for n in os.environ.get("CONNECTIONS", "1 16 64").split()]
PEERS = os.environ.get("PEERS", "vitrine pyvips thumbor").split()
SIZE = 512
server = os.path.abspath(sys.argv[1])
group = services.Fleet()
scratch, sources = group.scratch, group.folder("sources")


def photographs():
    """Returns the paths of six photographs of each kind; progressive JPEG and WebP are made of the JPEG."""
    corpus, examples = os.environ.get("VITRINE_CORPUS"), os.path.join(services.HERE, "Examples/Photographs")

    def largest(folder, ends):
        found = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names
                 if name.lower().endswith(ends) and not re.search("invalid|corrupt|progressive|16-bit|palette", os.path.join(parent, name))]
        return sorted((path for path in found if os.path.getsize(path) < 8_000_000), key=os.path.getsize)[-6:]

    kinds = {"jpg": largest(os.path.join(corpus, "photos/jpg") if corpus else examples, (".jpg", ".jpeg")), "progressive": [],
             "png": largest(os.path.join(corpus, "kodak") if corpus else examples, (".png",)), "webp": []}
    for index, path in enumerate(kinds["jpg"]):
        made = os.path.join(scratch, f"made-{index}")
        with open(made + ".jpg", "wb") as file:
            subprocess.run(["jpegtran", "-progressive", "-copy", "all", path], stdout=file, check=True)
        subprocess.run(["cwebp", "-quiet", "-q", "85", "-metadata", "all", path, "-o", made + ".webp"], check=True)
        kinds["progressive"].append(made + ".jpg")
        kinds["webp"].append(made + ".webp")
    return kinds


kinds = photographs()
for kind, paths in kinds.items():
    print(f"{kind}: photographs of " + ", ".join(f"{os.path.getsize(path) // 1000}" for path in paths) + " KB")
names = {kind: [] for kind in kinds}
for kind, paths in kinds.items():
    for copy in range(2000 // max(1, len(paths))):
        for index, path in enumerate(paths):
            name = f"{kind}-{index}-{copy}.{path.rsplit('.', 1)[-1].lower()}"
            if copy == 0:
                shutil.copy(path, os.path.join(sources, name))
            else:
                os.link(os.path.join(sources, f"{kind}-{index}-0.{path.rsplit('.', 1)[-1].lower()}"),
                        os.path.join(sources, name))
            names[kind].append(name)


class Server:
    def __init__(self, peer):
        self.peer, self.port = peer, services.free_port()
        results = tempfile.mkdtemp(dir=scratch)
        environment = dict(os.environ, SOURCES=sources, RESULTS=results, PYTHONPATH=os.path.join(services.HERE, "Benchmarks/Servers"),
                           VIPS_CONCURRENCY="1")
        tools = os.path.dirname(sys.executable)
        if peer == "vitrine":
            self.part = group.server(server, peer, folder=results, local_root=sources, local_ttl="1h")
        elif peer == "pyvips":
            command = [os.path.join(tools, "granian"), "--interface", "asgi", "--workers", "2", "--host", "127.0.0.1",
                       "--port", str(self.port), "--no-access-log", "pyvips_app:app"]
        else:
            command = [os.path.join(tools, "thumbor"), "--ip", "127.0.0.1", "--port", str(self.port), "--processes", "2",
                       "--conf", os.path.join(services.HERE, "Benchmarks/Servers/thumbor.conf")]
        if peer != "vitrine":
            self.part = services.Part(group, peer, command, self.port, environment)
        self.port = self.part.start().port

    def path(self, name, form):
        if self.peer == "vitrine":
            return f"/_/rs:fit:{SIZE}:{SIZE}/q:{dict(jpg=85, webp=80, avif=60)[form]}/plain/local:///{name}@{form}"
        if self.peer == "pyvips":
            return f"/{SIZE}/{form}/{name}"
        return f"/unsafe/fit-in/{SIZE}x{SIZE}/filters:format({form.replace('jpg', 'jpeg')})/{name}"

    def get(self, name, form):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.path(name, form)}", timeout=60) as answer:
            return answer.read()

    def stop(self):
        self.part.stop()
        group.parts.remove(self.part)


def load(target, paths, connections):
    """Runs wrk over the paths, each once and then from the start; returns figures."""
    script, listing = os.path.join(scratch, "wrk.lua"), os.path.join(scratch, "paths")
    with open(listing, "w") as file:
        file.write("\n".join(paths) + "\n")
    with open(script, "w") as file:
        file.write(wrk.each(listing))
    before = target.part.cpu()
    output = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", "--timeout", "30s", "-s", script,
         f"http://127.0.0.1:{target.port}"], capture_output=True, text=True).stdout
    cpu = target.part.cpu() - before
    count = int(re.search(r"(\d+) requests in", output).group(1))
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))
    p50, p99 = wrk.latency(output, 50), wrk.latency(output, 99)
    failed = sum(map(int, re.findall(r"Non-2xx or 3xx responses: (\d+)", output)))
    return {"rate": rate, "p50": p50, "p99": p99, "cpu": cpu * 1000 / max(1, count), "failed": failed, "count": count}


def psnr(body, path):
    import pyvips
    image = pyvips.Image.new_from_buffer(body, "").colourspace("srgb")
    if image.hasalpha():
        image = image.flatten()
    whole = pyvips.Image.new_from_file(path).autorot().colourspace("srgb")
    if whole.hasalpha():
        whole = whole.flatten()
    small = whole.resize(image.width / whole.width, vscale=image.height / whole.height, kernel="lanczos3")
    small = small.cast("uchar")
    error = (image[0:3] if image.bands > 2 else image).cast("float") - (small[0:3] if small.bands > 2 else small).cast("float")
    mean = (error * error).avg()
    return 99.0 if mean == 0 else 10 * math.log10(255 * 255 / mean)


def row(name, connections, figures, peak, extra=""):
    failed = f"  {figures['failed']} failed" if figures["failed"] else ""
    print(f"{name:<9} {connections:>4} {figures['rate']:>9.1f} {figures['p50']:>9.2f} {figures['p99']:>9.2f} "
          f"{figures['cpu']:>9.3f} {peak[0]:>7.0f} {peak[1]:>7.0f}{extra}{failed}", flush=True)


def flat():
    """Loads vitrine-server with misses and hits, and prints its memory on the way."""
    seconds = int(os.environ.get("FLAT_SECONDS", "300"))
    target = Server("vitrine")
    try:
        paths = [target.path(name, "jpg") for kind in ("jpg", "png", "webp") for name in names[kind]]
        listing, script = os.path.join(scratch, "all"), os.path.join(scratch, "all.lua")
        with open(listing, "w") as file:
            file.write("\n".join(paths) + "\n")
        # New images for ever, a size smaller in each round, each of which is then asked for again.
        with open(script, "w") as file:
            file.write(f"local paths, i = {{}}, 0\nfor line in io.lines('{listing}') do paths[#paths + 1] = line end\n"
                       "request = function()\n  i = i + 1\n  local n = math.floor(i / 2)\n"
                       f"  local side = {SIZE} - math.floor(n / #paths)\n"
                       f"  return wrk.format('GET', (paths[n % #paths + 1]:gsub('{SIZE}:{SIZE}', side .. ':' .. side)))\nend\n")
        load = subprocess.Popen(["wrk", "-t1", "-c16", f"-d{seconds}s", "-s", script, f"http://127.0.0.1:{target.port}"],
                                stdout=subprocess.PIPE, text=True)
        marks = []
        while load.poll() is None:
            time.sleep(seconds / 20)
            marks.append(services.memory(target.part.process.pid))
        rate = re.search(r"(\d+) requests in", load.stdout.read()).group(1)
        print(f"{seconds} s of load by 16 connections, every second request a miss: {rate} requests\n"
              f"MB of the server's process, each {seconds // 20} s: " + " ".join(f"{mark:.0f}" for mark in marks), flush=True)
    finally:
        target.stop()


def greedy():
    """Prints how long new small thumbnails of one client take, alone and beside 60 connections of another for AVIF of 12 MP."""
    import pyvips
    large = pyvips.Image.new_from_file(kinds["jpg"][-1]).thumbnail_image(4000, height=3000, size="force")
    large.jpegsave(os.path.join(sources, "greedy-0.jpg"), Q=90)
    for number in range(1, 60):
        os.link(os.path.join(sources, "greedy-0.jpg"), os.path.join(sources, f"greedy-{number}.jpg"))
    target, is_over = Server("vitrine"), threading.Event()

    def ask(connection, path):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    def connect(address):
        return http.client.HTTPConnection("127.0.0.1", target.port, timeout=600, source_address=(address, 0))

    def load(number):
        connection, height = connect("127.0.0.2"), 3000
        try:
            while not is_over.is_set():
                height -= 1
                ask(connection, f"/_/rs:force:4000:{height}/plain/local:///greedy-{number}.jpg@avif")
        except OSError:
            pass  # The server has ended.

    def waits(name, seconds, connection, quality):
        times, end, failed = [], time.monotonic() + seconds, 0
        while time.monotonic() < end:
            start, height = time.monotonic(), 100 + len(times) % 200
            path = f"/_/rs:force:200:{height}/q:{quality + len(times) // 200}/plain/local:///{names['jpg'][0]}@jpg"
            failed += ask(connection, path) != 200
            times.append((time.monotonic() - start) * 1000)
            time.sleep(0.05)
        times.sort()
        shares = " ".join(f"{times[min(len(times) - 1, int(len(times) * share))]:>8.0f}" for share in (0.5, 0.9, 0.99, 1))
        print(f"{name:<22} {len(times):>8} {shares}" + (f"  {failed} failed" if failed else ""), flush=True)

    try:
        print("Waits of one client for new JPEGs of 200 pixels, in ms, beside another's 60 connections for AVIF of 12 megapixels\n"
              f"{'':<22} {'answers':>8} {'median':>8} {'90 %':>8} {'99 %':>8} {'longest':>8}")
        connection = connect("127.0.0.1")
        waits("alone", 5, connection, 60)
        threads = [threading.Thread(target=load, args=(number,), daemon=True) for number in range(60)]
        for thread in threads:
            thread.start()
        time.sleep(2)
        waits("beside the other", max(20, SECONDS), connection, 70)
    finally:
        is_over.set()
        target.stop()


head = (f"{'server':<9} {'conn':>4} {'req/s':>9} {'p50 ms':>9} {'p99 ms':>9} {'CPU ms':>9} {'peak MB':>7} {'all MB':>7}")
print(f"Thumbnails of {SIZE} pixels, {SECONDS} s each, wrk on the same cores.")
print("peak MB is of the server's first process, all MB of it and its workers; CPU ms is of all, a request.\n")
for form in [form for form in FORMATS if form not in ("hits", "flat", "greedy")]:
    for kind in [kind for kind in KINDS if names[kind]] if form == "jpg" else ["jpg"]:
        print(f"Misses: {kind} to {form}\n{head}   PSNR")
        for peer in PEERS:
            for connections in CONNECTIONS:
                target = Server(peer)
                try:
                    quality = [psnr(target.get(f"{kind}-{i}-0.{p.rsplit('.', 1)[-1].lower()}", form), p)
                               for i, p in enumerate(kinds[kind])]
                    paths = [target.path(name, form) for name in names[kind][len(kinds[kind]):]]
                    figures = load(target, paths, connections)
                    row(peer, connections, figures, target.part.peaks(), f"   {sum(quality) / len(quality):.1f}")
                finally:
                    target.stop()
        print(flush=True)
if "flat" in FORMATS:
    flat()
if "greedy" in FORMATS:
    greedy()
if "hits" in FORMATS:
    print(f"Hits: 100 thumbnails as jpg\n{head}")
for peer in PEERS if "hits" in FORMATS else []:
    target = Server(peer)
    try:
        hot = names["jpg"][:100]
        for name in hot:
            target.get(name, "jpg")
        for connections in CONNECTIONS:
            row(peer, connections, load(target, [target.path(name, "jpg") for name in hot], connections), target.part.peaks())
    finally:
        target.stop()
