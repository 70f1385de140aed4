"""day.py SERVER PICTURE: memory of vitrine-server and of pyvips behind granian over as many requests as a day has.

Run by the Python of the peers' environment. One server after the other is asked by 16 clients, each of which waits for its
answer. Every second request is for a thumbnail that was never asked for, of the shipped JPEG, PNG and WebP photographs, in one of
hundreds of sizes, as JPEG or WebP; the others repeat earlier ones. Memory is taken after each quarter of an hour of requests.
REQUESTS (43200) is the length of the day, PEERS (vitrine pyvips) narrows it.
"""
import http.client
import os
import re
import sys
import tempfile
import threading
import time

import services

REQUESTS = int(os.environ.get("REQUESTS", "43200"))
PEERS = os.environ.get("PEERS", "vitrine pyvips").split()
CLIENTS, MARKS, QUIET = 16, 96, 60
server, picture = os.path.abspath(sys.argv[1]), sys.argv[2]
group = services.Fleet()
sources = os.path.join(services.HERE, "Examples/Photographs")
names = sorted(name for name in os.listdir(sources) if re.search(r"\.(jpg|png|webp)$", name) and "animated" not in name)


def start(peer):
    results = tempfile.mkdtemp(dir=group.scratch)
    if peer == "vitrine":
        return group.server(server, peer, folder=results, local_root=sources, local_ttl="24h").start()
    tools, port = os.path.dirname(sys.executable), services.free_port()
    environment = dict(os.environ, SOURCES=sources, RESULTS=results, VIPS_CONCURRENCY="1",
                       PYTHONPATH=os.path.join(services.HERE, "Benchmarks/Servers"))
    command = [os.path.join(tools, "granian"), "--interface", "asgi", "--workers", "2", "--host", "127.0.0.1", "--port", str(port),
               "--no-access-log", "pyvips_app:app"]
    return services.Part(group, peer, command, port, environment).start()


def path(peer, number):
    """Returns the path of a request: an even one is new, an odd one repeats one of the hundred before it."""
    new = number // 2 if number % 2 == 0 else max(0, number // 2 - number * 7 % 100)
    name, turn = names[new % len(names)], new // len(names)
    form, width = ("jpg", "webp")[turn % 2], 64 + turn // 2
    return f"/_/rs:fit:{width}:{width}/plain/local:///{name}@{form}" if peer == "vitrine" else f"/{width}/{form}/{name}"


def share(part):
    """Returns the megabytes of all processes of a server, where pages that several have count once."""
    total = 0
    for pid in part.processes():
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                total += int(re.search(r"^Pss:\s+(\d+)", file.read(), re.M).group(1)) / 1024
        except OSError:
            pass
    return total


def day(peer):
    """Returns the memory after each mark, and after a minute without requests."""
    part, lock, state = start(peer), threading.Lock(), {"next": 0, "failed": 0}
    marks, begun = [share(part)], time.monotonic()

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", part.port, timeout=120)
        while True:
            with lock:
                number = state["next"]
                if number >= REQUESTS:
                    return
                state["next"] += 1
                if number and number * MARKS // REQUESTS != (number - 1) * MARKS // REQUESTS:
                    marks.append(share(part))
            connection.request("GET", path(peer, number))
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                with lock:
                    state["failed"] += 1

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    marks.append(share(part))
    seconds = time.monotonic() - begun
    time.sleep(QUIET)
    quiet = share(part)
    print(f"{peer:<9} {seconds:>7.0f} {REQUESTS / seconds:>10.0f} {marks[0]:>8.0f} {marks[MARKS // 24]:>8.0f} {marks[MARKS // 2]:>8.0f} "
          f"{marks[-1]:>8.0f} {max(marks):>8.0f} {quiet:>8.0f}" + (f"   {state['failed']} failed" if state["failed"] else ""), flush=True)
    part.stop()
    group.parts.remove(part)
    return marks


def plot(days):
    """Returns the picture, readable on light and dark pages."""
    left, top, wide, tall = 60, 20, 560, 240
    most = -(-max(map(max, days.values())) // 100) * 100
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + wide + 150} {top + tall + 50}" font-family="sans-serif" '
             'font-size="12" fill="gray">']
    for step in range(5):
        y = top + tall - tall * step / 4
        lines.append(f'<line x1="{left}" x2="{left + wide}" y1="{y}" y2="{y}" stroke="gray" stroke-opacity="0.35"/>')
        lines.append(f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{most * step / 4:.0f} MB</text>')
    for hour in range(0, 25, 4):
        lines.append(f'<text x="{left + wide * hour / 24}" y="{top + tall + 18}" text-anchor="middle">{hour} h</text>')
    lines.append(f'<text x="{left + wide / 2}" y="{top + tall + 38}" text-anchor="middle">requests of a day, one in two seconds, sent without '
                 "pauses</text>")
    for (peer, marks), color, title in zip(days.items(), ("#d2603f", "#8a8f98"), ("vitrine-server", "pyvips on glibc")):
        points = " ".join(f"{left + wide * index / (len(marks) - 1):.1f},{top + tall * (1 - mark / most):.1f}" for index, mark in enumerate(marks))
        lines.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        lines.append(f'<text x="{left + wide + 8}" y="{top + tall * (1 - marks[-1] / most) + 4:.1f}" fill="{color}">{title}</text>')
    return "\n".join(lines + ["</svg>", ""])


print(f"{REQUESTS} requests, as a day has with one in two seconds, from {CLIENTS} clients without pauses; every second one is for a new "
      f"thumbnail\nof {len(names)} photographs, as JPEG or WebP. MB are the proportional share of all processes of a server. A real day has "
      "idle hours\nin which memory may be given back, and other pictures; neither is shown here.\n")
print(f"{'server':<9} {'seconds':>7} {'requests/s':>10} {'at start':>8} {'1 h':>8} {'12 h':>8} {'24 h':>8} {'most':>8} {'+1 min':>8}")
days = {peer: day(peer) for peer in PEERS}
if list(days) == ["vitrine", "pyvips"] and REQUESTS >= 40000:
    os.makedirs(os.path.dirname(picture), exist_ok=True)
    with open(picture, "w") as file:
        file.write(plot(days))
