"""fleet.py SERVER: what a shared tier costs and saves, by wrk, with all programs on the same cores.

Part `one`: an image from memory, disk, Redis and S3 beside one that nobody has: latency, processor time of the server, of Redis and of
the server of buckets apart, and what is asked of the two. Part `many`: one, two and three servers, without a tier, with Redis,
and with Redis and S3. PARTS (one many) narrows it. IMAGES (600) is the number of images of a row, CONNECTIONS (1 16) those of
part `one`.

Originals are the JPEG photographs of Examples/Photographs under any number of names, on nginx. Each image is asked for once in a row,
unless the row says otherwise. Processor time is taken after what waits to be written has been. fleet-estimate.py reads the result.
"""

import collections
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import services
import wrk

IMAGES = int(os.environ.get("IMAGES") or 600)
CONNECTIONS = [int(number) for number in (os.environ.get("CONNECTIONS") or "1 16").split()]
PARTS = (os.environ.get("PARTS") or "one many").split()
SIZE = 512
WRK = services.find("wrk")
program = os.path.abspath(sys.argv[1])

# Ends the run when so many answers have come.
SCRIPT = """
local seen = 0
response = function(status)
  seen = seen + 1
  if status ~= 200 then io.open('%(failed)s', 'a'):write(status, '\\n') end
  if seen == %(count)d then
    io.open('%(end)s', 'w'):close()
    wrk.thread:stop()
  end
end
"""


class Wrk:
    """One run of wrk: each path once, or `count` requests."""

    def __init__(self, group, server, paths, connections, count=None):
        self.folder = os.path.join(group.scratch, f"wrk-{server.port}")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)
        self.count = count or len(paths)
        files = {name: os.path.join(self.folder, name) for name in ("paths", "failed", "end", "lua")}
        with open(files["paths"], "w") as file:
            file.write("\n".join(paths) + "\n")
        with open(files["lua"], "w") as file:
            file.write(wrk.each(files["paths"]) + SCRIPT % dict(files, count=self.count))
        self.files = files
        self.run = services.Part(group, "wrk", [WRK, "-t1", f"-c{connections}", "-d600s", "--latency", "--timeout", "30s", "-s",
                                             files["lua"], f"http://127.0.0.1:{server.port}"], server.port)
        self.run.process = subprocess.Popen(self.run.command, stdout=subprocess.PIPE, text=True, start_new_session=True,
                                            preexec_fn=services.end_with_parent)

    def wait(self):
        """Returns the time of the last answer, and latencies in ms."""
        # wrk itself would wait for the end of its time.
        while not os.path.exists(self.files["end"]):
            if self.run.process.poll() is not None:
                raise SystemExit(f"wrk has ended: {self.run.process.stdout.read()}")
            time.sleep(0.005)
        end = os.stat(self.files["end"]).st_mtime
        self.run.process.send_signal(signal.SIGINT)
        text = self.run.process.communicate()[0]
        self.run.fleet.parts.remove(self.run)
        failed = 0
        if os.path.exists(self.files["failed"]):
            with open(self.files["failed"]) as file:
                failed = len(file.readlines())
        return end, wrk.latency(text, 50), wrk.latency(text, 99), failed


def info(redis):
    """Returns the numbers of Redis."""
    with socket.create_connection(("127.0.0.1", redis.port), 5) as connection, connection.makefile("rb") as file:
        connection.sendall(b"INFO\r\n")
        text = file.read(int(file.readline()[1:])).decode()
    return {name: int(value) for name, value in re.findall(r"(?m)^(\w+):(\d+)\r?$", text)}


class Rig:
    """The parts that stay, and what they have done between two marks."""

    def __init__(self, group, redis, bucket):
        self.group, self.redis, self.bucket, self.servers = group, redis, bucket, []

    def settle(self):
        """Waits until nothing is left to be written."""
        while any(value for server in self.servers for (name, _), value in services.metrics(server).items() if name == "queued_writes"):
            time.sleep(0.05)
        time.sleep(0.2)

    def mark(self):
        tiers = collections.Counter()
        for server in self.servers:
            tiers.update(services.metrics(server))
        return dict(server=sum(server.cpu() for server in self.servers), redis=self.redis.cpu() if self.redis else 0,
                    s3=self.bucket.cpu() if self.bucket else 0, info=info(self.redis) if self.redis else {}, tiers=tiers)

    def measure(self, runs):
        """Runs wrk, each as (server, paths, connections, count), and returns what a request took."""
        self.settle()
        before, start = self.mark(), time.time()
        results = [run.wait() for run in [Wrk(self.group, *run) for run in runs]]
        seconds = max(result[0] for result in results) - start
        self.settle()
        after = self.mark()
        count = sum(run[3] or len(run[1]) for run in runs)
        tiers, was, now = after["tiers"], before["info"], after["info"]
        s3 = {name: tiers[name, "s3"] - before["tiers"][name, "s3"]
              for name in ("head_hits_total", "head_misses_total", "hits_total", "misses_total", "writes_total")}
        figures = {name: (after[name] - before[name]) * 1000 / count for name in ("server", "redis", "s3")}
        figures.update(rate=count / seconds, p50=max(result[1] for result in results), p99=max(result[2] for result in results),
                       failed=sum(result[3] for result in results))
        if now:
            # The looks of this program are among the commands, two of each mark.
            figures.update(commands=(now["total_commands_processed"] - was["total_commands_processed"] - 1) / count,
                           received=(now["total_net_input_bytes"] - was["total_net_input_bytes"]) / count / 1000,
                           sent=(now["total_net_output_bytes"] - was["total_net_output_bytes"]) / count / 1000,
                           memory=(now["used_memory"] - was["used_memory"]) / count / 1000)
        figures.update(head=(s3["head_hits_total"] + s3["head_misses_total"]) / count,
                       get=(s3["hits_total"] + s3["misses_total"]) / count, put=s3["writes_total"] / count)
        late = sum(tiers[name, tier] - before["tiers"][name, tier] for name in ("time_outs_total", "errors_total", "dropped_writes_total")
                   for tier in ("redis", "s3"))
        figures["late"] = late
        return figures

    def stop_servers(self):
        for server in self.servers:
            server.stop()
            self.group.parts.remove(server)
        self.servers = []


class Names:
    """Paths of images that nobody has asked for yet."""

    def __init__(self, folder, origin):
        self.files, self.origin, self.number = sorted(os.listdir(folder)), origin, 0

    def take(self, count):
        self.number += count
        return [f"/_/rs:fit:{SIZE}:{SIZE}/plain/http://127.0.0.1:{self.origin.port}/{number}/{self.files[number % len(self.files)]}@jpg"
                for number in range(self.number - count, self.number)]


def row(name, figures, columns):
    text = f"| {name:<44} |"
    for column, digits in columns:
        text += f" {figures[column]:>{WIDTHS[column]}.{digits}f} |" if column in figures else f" {'':>{WIDTHS[column]}} |"
    notes = [f"{figures['failed']} requests failed"] * bool(figures["failed"])
    notes += [f"{figures['late']} calls to tiers failed or took too long"] * bool(figures["late"])
    print(text + (" " + "; ".join(notes) if notes else ""), flush=True)


WIDTHS = dict(conn=4, rate=6, p50=7, p99=7, server=9, redis=8, s3=6, commands=8, received=8, sent=8, memory=8, head=6, get=5, put=5)
TITLES = dict(conn="conn", rate="req/s", p50="p50 ms", p99="p99 ms", server="server ms", redis="Redis ms", s3="S3 ms", commands="commands",
              received="KB in", sent="KB out", memory="KB kept", head="S3HEAD", get="S3GET", put="S3PUT")


def head(columns):
    print("| " + " | ".join([f"{'image':<44}"] + [f"{TITLES[name]:>{WIDTHS[name]}}" for name, _ in columns]) + " |")
    print("|" + "|".join(["---"] * (len(columns) + 1)) + "|")


def one(group, names, redis, bucket):
    """What one request costs, by where the image is found."""
    columns = (("conn", 0), ("p50", 2), ("p99", 2), ("server", 3), ("redis", 3), ("s3", 3), ("commands", 1), ("received", 1), ("sent", 1),
               ("memory", 1), ("head", 1), ("get", 1), ("put", 1))
    print("## One server, by where the image is\n")
    print("ms are of the processor, a request; KB in and out are of Redis, and KB kept its memory, a request.\n")
    head(columns)
    rig = Rig(group, redis, bucket)

    def serve(*tiers, folder=None):
        rig.stop_servers()
        rig.servers.append(group.server(program, "server", redis if "redis" in tiers else None, bucket if "s3" in tiers else None, folder,
                                        memory="1G").start())
        return rig.servers[0]

    def ask(name, server, paths, connections, count=None):
        figures = rig.measure([(server, paths, connections, count)])
        row(name, dict(figures, conn=connections), columns)

    for connections in CONNECTIONS:
        alone, fresh, kept = group.folder(f"alone-{connections}"), group.folder(f"fresh-{connections}"), group.folder(f"kept-{connections}")
        paths = names.take(IMAGES)
        ask("nowhere; no tier", serve(folder=alone), paths, connections)
        ask("in memory", rig.servers[0], paths[:100], connections, IMAGES * 10)
        ask("on disk; no tier", serve(folder=alone), paths, connections)
        paths = names.take(IMAGES)
        ask("nowhere; Redis", serve("redis", folder=kept), paths, connections)
        ask("on disk, made here; Redis", serve("redis", folder=kept), paths, connections)
        ask("in Redis", serve("redis", folder=fresh), paths, connections)
        ask("on disk, made by another; Redis", serve("redis", folder=fresh), paths, connections)
        if bucket:
            paths = names.take(IMAGES)
            ask("nowhere; Redis and S3", serve("redis", "s3"), paths, connections)
            rig.stop_servers()
            # Redis is without a disk, so this empties it.
            redis.kill()
            redis.start()
            ask("in S3; Redis, which takes it", serve("redis", "s3"), paths, connections)
    rig.stop_servers()
    print(flush=True)


def many(group, names, redis, bucket):
    """One to three servers on the same cores."""
    columns = (("rate", 0), ("p50", 1), ("p99", 1), ("server", 2), ("redis", 3), ("s3", 3))
    tiers = [("no tier", ()), ("Redis", ("redis",))] + ([("Redis and S3", ("redis", "s3"))] if bucket else [])
    for title, is_shared, is_hot in (("Each server is asked for images of its own", False, False),
                                     ("All servers are asked for the same images, at different times", True, False),
                                     ("All are asked for 100 images that they have in memory", True, True)):
        print(f"## {title}\n\n16 connections in all; ms are of the processor, a request.\n")
        head(columns)
        for name, used in tiers:
            for number in (1, 2, 3):
                rig = Rig(group, redis, bucket)
                rig.servers = [group.server(program, f"server {index}", redis if "redis" in used else None,
                                            bucket if "s3" in used else None, memory="1G").start() for index in range(number)]
                paths = names.take(100 if is_hot else IMAGES)
                runs = []
                for index, server in enumerate(rig.servers):
                    part = len(paths) // number
                    own = paths[index * part:] + paths[:index * part] if is_shared else paths[index * part:(index + 1) * part]
                    runs.append((server, own, 16 // number, IMAGES * 150 // number if is_hot else None))
                if is_hot:
                    rig.measure([(server, own, connections, 100) for server, own, connections, _ in runs])
                row(f"{name}, {number} server{'s' if number > 1 else ''}", rig.measure(runs), columns)
                rig.stop_servers()
        print(flush=True)


def main():
    group = services.Fleet()
    photographs = group.photographs()
    sizes = [os.path.getsize(os.path.join(photographs, name)) // 1000 for name in sorted(os.listdir(photographs))]
    for needed in ("nginx", "redis-server", "wrk"):
        if not services.find(needed):
            raise SystemExit(f"fleet: {needed} is not installed; Scripts/setup.sh bench/fleet installs it")
    origin = group.nginx(photographs).start()
    redis, bucket = group.redis("--maxmemory", "2gb").start(), group.bucket()
    print("# A fleet: several servers that share their images\n")
    print("- the cores are shared by the servers, Redis, the server of buckets, nginx, which has the originals, and wrk")
    print(f"- JPEG photographs of {', '.join(map(str, sizes))} KB, as JPEG within {SIZE} pixels; {IMAGES} images a row")
    if bucket:
        bucket.start(60)
    else:
        print("- without S3: weed (SeaweedFS) is not installed; Scripts/setup.sh bench/fleet installs it")
    names = Names(photographs, origin)
    body = services.get(group.server(program, "first", memory="1G").start().port, names.take(len(names.files))[0])[2]
    group.parts[-1].stop()
    print(f"- the first of them has {len(body) / 1000:.0f} KB at that size\n")
    if "one" in PARTS:
        one(group, names, redis, bucket)
    if "many" in PARTS:
        many(group, names, redis, bucket)


try:
    main()
except KeyboardInterrupt:
    sys.exit(130)
