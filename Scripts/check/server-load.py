#!/usr/bin/env python3
"""Loads a thumbnail server with everything at once, and checks each byte that it sends.

    server-load.py PROGRAM --root FOLDER --work FOLDER [--seconds N]

FOLDER holds photographs, and damaged files in hostile/damaged. Each image is made once by a server that has nothing else
to do. Then many clients at once ask a new server for the same images, known and new ones, while others purge them, leave,
read slowly, ask for damaged files and for far too much; sources are slow, break off, move, and change their image. Every
picture must be the one of before. In the middle of it the server gets SIGTERM, is started again over the same cache, killed
with -9, and started once more. Settings of the environment go to the server.
"""
import argparse
import hashlib
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from urllib.parse import quote

from services import Answering, serve
from raw_http import PATIENCE, Target, field

PHOTOGRAPHS = """autumn-avenue-nikon.jpg caps-p3-profile.jpg red-barn-progressive.jpg lighthouse-progressive.jpg statue-grey.jpg
waterfall-cliff-orientation-6.jpg aeroplane-rgb.png fishing-boat-16-bit.png hibiscus-window-alpha.png red-door-palette.png
white-lighthouse-adam7.png harbour-pier-lossless.webp motocross-lossy.webp yacht-lossy-alpha.webp houses-animated.webp
boats-animated.gif spinnakers-interlaced.gif alpha.avif display-p3.heic alpha.jxl cmyk.tiff drawing.svg""".split()
OPTIONS = """rs:fit:160:160 rs:fill:64:48 rs:fill:90:90/g:sm w:200/bl:2 w:120/rot:90 rs:fit:100:100/pd:4/bg:ff0000 w:180/q:40
w:90/sh:1 rs:force:50:70""".split()
FORMATS = ["jpg", "jpg", "png", "webp", "jpg", "avif", "webp", "jpg", "jxl", "gif"]
TURNS = ("autumn-avenue-nikon.jpg", "caps-p3-profile.jpg")
TOKEN = "load"


class Source(Answering):
    """Serves the photographs over loopback, in ways named by the first part of the path."""

    counts, lock = Counter(), threading.Lock()
    root = ""

    def do_GET(self):
        way, _, name = self.path.lstrip("/").partition("/")
        with self.lock:
            self.counts[self.path] += 1
            turn = self.counts[self.path] % 2
        if way == "turn":
            name = TURNS[turn]
        try:
            self.serve(way, name.rpartition("/")[2])
        except OSError:
            self.close_connection = True

    def serve(self, way, name):
        if way == "gone" or way == "error":
            return self.answer(404 if way == "gone" else 500)
        if way == "moved":
            return self.answer(302, Location=f"/plain/{name}")
        with open(os.path.join(self.root, name), "rb") as file:
            body = file.read()
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        if self.headers.get("If-None-Match") == tag:
            return self.answer(304, ETag=tag, Cache_Control="max-age=1")
        if way == "hot":
            time.sleep(0.5)
        age = "max-age=600" if way == "hot" else "max-age=1"
        is_whole = way not in ("cut", "slow")
        self.answer(200, body, is_whole, ETag=tag, Cache_Control=age, Content_Type="application/octet-stream")
        if way == "cut":
            self.wfile.write(body[:len(body) // 2])
            self.close_connection = True
        elif way == "slow":
            for start in range(0, len(body), 16384):
                self.wfile.write(body[start:start + 16384])
                time.sleep(0.02)


class Nobody(Exception):
    """The connection ended without a whole answer."""


class Client:
    """A connection that is kept, and knows where an answer ends."""

    def __init__(self, server, address):
        self.server, self.fields, self.connection = server, f"X-Forwarded-For: {address}\r\n", None

    def ask(self, target, fields="", method="GET"):
        try:
            if self.connection is None:
                self.connection = self.server.connect(120 * PATIENCE)
                self.rest = b""
            self.connection.sendall(self.server.request(target, self.fields + fields, method, closes=False))
            return self.read(method)
        except OSError as error:
            self.close()
            raise Nobody(str(error)) from error

    def read(self, method):
        while b"\r\n\r\n" not in self.rest:
            self.receive()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        length = 0 if method == "HEAD" or status in (204, 304) else int(field(head, "Content-Length"))
        while len(self.rest) < length:
            self.receive()
        body, self.rest = self.rest[:length], self.rest[length:]
        if self.rest:
            self.close()
            raise ValueError(f"{len(body)} bytes and more that nobody asked for: {head[:200]}")
        if field(head, "Connection").lower() == "close":
            self.close()
        return status, head, body

    def receive(self):
        part = self.connection.recv(1 << 18)
        if not part:
            self.close()
            raise Nobody("closed")
        self.rest += part

    def close(self, resets=False):
        if self.connection is None:
            return
        if resets:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.connection = None


class Program:
    """The server's process."""

    def __init__(self, arguments, cache, **settings):
        self.log = open(os.path.join(arguments.work, "server.log"), "a")
        environment = dict(os.environ, VITRINE_LOCAL_ROOT=arguments.root, VITRINE_CACHE_DIR=cache, VITRINE_PORT="0",
                           VITRINE_CACHE_BYTES="32M", VITRINE_MEMORY="1G", VITRINE_TRUST_FORWARDED_FOR="on",
                           VITRINE_ALLOWED_NETWORKS="127.0.0.0/8", VITRINE_ALLOWED_PORTS="", VITRINE_PURGE_TOKEN=TOKEN,
                           VITRINE_LOCAL_TTL="1s", VITRINE_HEAD_TIMEOUT="10s", VITRINE_SEND_TIMEOUT="3s", VITRINE_IDLE_TIMEOUT="3s",
                           VITRINE_REQUEST_TIMEOUT="300s", VITRINE_DECODE_TIMEOUT="60s", VITRINE_DRAIN_TIMEOUT="20s", **settings)
        environment.pop("VITRINE_CORPUS", None)
        self.lines = open(os.path.join(arguments.work, "requests.log"), "a")
        before = self.log.tell()
        self.process = subprocess.Popen([arguments.program], env=environment, stdout=self.lines, stderr=self.log)
        ends = time.monotonic() + 30 * PATIENCE
        while True:
            with open(self.log.name) as file:
                file.seek(before)
                lines = [line for line in file if "listening on" in line]
            if lines:
                break
            if self.process.poll() is not None or time.monotonic() > ends:
                sys.exit(f"server-load: the server does not start; see {self.log.name}")
            time.sleep(0.1)
        self.target = Target(lines[0].split("listening on ")[1].strip())

    def end(self, number):
        """Returns the status of the process, and the seconds that it took."""
        began = time.monotonic()
        self.process.send_signal(number)
        try:
            status = self.process.wait(60 * PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = "never"
        self.log.close()
        self.lines.close()
        return status, time.monotonic() - began


class Crowd:
    """All kinds of clients, and what they have seen."""

    def __init__(self, arguments, source):
        self.source, self.damaged = source, sorted(os.listdir(os.path.join(arguments.root, "hostile/damaged")))
        self.counts, self.wrong, self.lock = Counter(), [], threading.Lock()
        self.references, self.pictures, self.number = {}, {}, random.randrange(1 << 40)
        self.server, self.ends = None, threading.Event()
        # The server is about to go: no answer is no fault then, a wrong one is.
        self.is_leaving = False
        plan, self.recipes = random.Random(24), []
        for index, name in enumerate(PHOTOGRAPHS):
            for _ in range(2):
                options, ending = plan.choice(OPTIONS), FORMATS[len(self.recipes) % len(FORMATS)]
                place = f"local:///{name}" if index % 2 else f"{source}/{plan.choice(['plain', 'slow', 'moved'])}/{name}"
                self.recipes.append((options, f"plain/{place}@{ending}"))

    def complain(self, kind, text):
        with self.lock:
            self.wrong.append(f"{kind}: {text}")

    def count(self, kind):
        with self.lock:
            self.counts[kind] += 1

    def fresh(self, recipe):
        """Returns the path of an image like that of a recipe that nobody has asked for."""
        with self.lock:
            self.number += 1
            return f"/_/{recipe[0]}/cb:{self.number}/{recipe[1]}"

    def refer(self, client):
        """Makes each image once."""
        for options, rest in self.recipes:
            status, head, body = client.ask(f"/_/{options}/{rest}")
            if status != 200:
                self.complain("reference", f"{status} for {options}/{rest}: {body[:100]}")
            self.references[options, rest] = field(head, "Content-Type"), hashlib.sha256(body).hexdigest()
        for name in TURNS:
            _, _, body = client.ask(f"/_/w:150/plain/local:///{name}@jpg")
            self.references[name] = hashlib.sha256(body).hexdigest()

    def check(self, kind, target, answer, wanted, statuses=(200,)):
        """Checks an answer; `wanted` has the kinds and hashes of bodies that are right, nothing for any that stays the same."""
        status, head, body = answer
        if status == 503:
            return self.count("refused for now")
        if status not in statuses:
            return self.complain(kind, f"{status} for {target}: {body[:150]}")
        if status == 200:
            seen = field(head, "Content-Type"), hashlib.sha256(body).hexdigest()
            with self.lock:
                is_right = seen in wanted if wanted else self.pictures.setdefault(target, seen) == seen
            if not is_right:
                self.complain(kind, f"wrong bytes, {len(body)} of them, for {target}: {head[:300]}")
            if "disk" in field(head, "Server-Timing"):
                self.count("found on disk")
        self.count(kind)

    # Each of them asks once, or a few times.

    def known(self, client, dice):
        recipe = dice.choice(self.recipes[:12])
        target = f"/_/{recipe[0]}/{recipe[1]}"
        for _ in range(10):
            answer = client.ask(target)
            self.check("known images", target, answer, [self.references[recipe]])
        if answer[0] == 200:
            status, _, body = client.ask(target, f"If-None-Match: {field(answer[1], 'ETag')}\r\n")
            if status not in (200, 304, 503):
                self.complain("revalidations", f"{status} {body[:100]}")
            self.count("revalidations")

    def new(self, client, dice):
        recipe = dice.choice(self.recipes)
        target = self.fresh(recipe)
        self.check("new images", target, client.ask(target), [self.references[recipe]])

    def turning(self, client, dice):
        target = f"/_/w:150/plain/{self.source}/turn/{dice.randrange(4)}@jpg"
        self.check("changing sources", target, client.ask(target), [("image/jpeg", self.references[name]) for name in TURNS])

    def broken(self, client, dice):
        way, name = dice.choice(["gone", "error", "cut"]), dice.choice(PHOTOGRAPHS)
        target = f"/_/w:60/plain/{self.source}/{way}/{dice.randrange(50)}/{name}@jpg"
        self.check("broken sources", target, client.ask(target), [], (404, 502, 422))

    def spoilt(self, client, dice):
        form = dice.choice(["/_/rs:fit:100:100/plain/local:///{}@jpg", "/_/w:80/plain/local:///{}@webp", "/info/_/plain/local:///{}",
                            "/_/rs:fill:60:60/g:sm/plain/local:///{}@png", "/_/plain/local:///{}@gif"])
        target = form.format("hostile/damaged/" + quote(dice.choice(self.damaged)))
        self.check("damaged files", target, client.ask(target), [], (200, 404, 422, 504))

    def purging(self, client, dice):
        _, rest = dice.choice(self.recipes[:16])
        status, _, body = client.ask(f"/_/{rest}", f"Authorization: Bearer {TOKEN}\r\n", dice.choice(["PURGE", "DELETE"]))
        if status != 200:
            self.complain("purges", f"{status} {body[:100]}")
        self.count("purges")
        self.ends.wait(0.05)

    def leaving(self, client, dice):
        connection = None
        try:
            connection = self.server.connect(5 * PATIENCE)
            recipe = dice.choice(self.recipes)
            for _ in range(dice.randint(1, 3)):
                connection.sendall(self.server.request(self.fresh(recipe), client.fields, closes=False))
            self.ends.wait(dice.choice([0, 0.001, 0.01, 0.05, 0.2]))
            if dice.random() < 0.3:
                connection.settimeout(0.05)
                connection.recv(dice.choice([1, 100, 5000]))
        except OSError:
            pass
        finally:
            client.connection = connection
            client.close(resets=dice.random() < 0.5)
        self.count("clients that left")

    def slow(self, client, dice):
        """Sends a byte at a time, or reads a little at a time; both are cut off, or served."""
        recipe = dice.choice(self.recipes[:12])
        target = f"/_/{recipe[0]}/{recipe[1]}"
        connection = socket.socket()
        try:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.settimeout(20 * PATIENCE)
            connection.connect((self.server.host, self.server.port))
            request = self.server.request(target, client.fields, closes=dice.random() < 0.5)
            if dice.random() < 0.5:
                for index in range(len(request)):
                    connection.send(request[index:index + 1])
                    self.ends.wait(dice.choice([0.005, 0.2]))
            else:
                connection.sendall(request * 20)
            for _ in range(200):
                if self.ends.wait(0.01) or not connection.recv(500):
                    break
        except OSError:
            pass
        finally:
            connection.close()
        self.count("slow clients")

    def crowd(self, client, dice):
        """200 clients of one image that nobody has asked for before."""
        with self.lock:
            self.number += 1
            place = f"/hot/{self.number}/{TURNS[0]}"
        target, answers = f"/_/w:150/plain/{self.source}{place}@jpg", []

        def one():
            own = Client(self.server, client.fields.split()[1])
            try:
                answers.append(own.ask(target))
            except Nobody as error:
                if not self.is_leaving:
                    self.complain("a crowd", f"no answer: {error}")
            own.close()

        together([one] * 200)
        for answer in answers:
            self.check("clients of one image", target, answer, [("image/jpeg", self.references[TURNS[0]])])
        # Only once, unless the first ones were refused.
        if Source.counts[place] > 1 and all(answer[0] == 200 for answer in answers) and not self.is_leaving:
            self.complain("a crowd", f"{Source.counts[place]} requests to the source")

    def flood(self, client, dice):
        """More than the server takes on."""
        def one():
            recipe = dice.choice(self.recipes)
            target, own = self.fresh(recipe), Client(self.server, "203.0.113.9")
            try:
                self.check("too many at once", target, own.ask(target), [self.references[recipe]])
            except Nobody as error:
                if not self.is_leaving:
                    self.complain("too many at once", f"no answer: {error}")
            own.close()

        together([one] * 120)
        self.ends.wait(1)

    def looking(self, client, dice):
        target, method, wanted = dice.choice([
            ("/metrics", "GET", 200), ("/health", "GET", 200), ("/ready", "GET", 200), ("/metrics", "HEAD", 200), ("/a", "OPTIONS", 204),
            (f"/info/_/plain/local:///{dice.choice(PHOTOGRAPHS)}", "GET", 200), ("/_/w:1/plain/local:///none.jpg", "GET", 404),
            (f"/_/w:10/plain/local:///{TURNS[0]}@jpg", "HEAD", 200), ("/_/nonsense:1/plain/x", "GET", 400)])
        status, _, body = client.ask(target, "", method)
        if status not in (wanted, 503):
            self.complain("the rest", f"{status} for {method} {target}: {body[:100]}")
        self.count("the rest")

    def run(self, server, seconds, then=None):
        """Runs all kinds of clients for some seconds; `then` is called before they end."""
        self.server, self.is_leaving = server.target, False
        self.ends.clear()
        plan = dict(known=10, new=10, turning=3, broken=3, spoilt=6, purging=2, leaving=5, slow=8, crowd=1, flood=1, looking=3)

        def one(kind, index):
            client, dice = Client(self.server, f"192.0.2.{index}"), random.Random(f"{kind}{index}{self.number}")
            while not self.ends.is_set():
                try:
                    getattr(self, kind)(client, dice)
                except Nobody as error:
                    # The server may close a kept connection at any time between requests.
                    if not self.is_leaving and not error.args[0].startswith(("closed", "[Errno 104]", "[Errno 32]")):
                        self.complain(kind, f"no answer: {error}")
                    self.count("connections that had ended")
                except Exception as error:  # pylint: disable=broad-except
                    self.complain(kind, repr(error))
                if self.is_leaving:
                    self.ends.wait(0.05)
            client.close()

        kinds = [kind for kind, count in plan.items() for _ in range(count)]
        threads = [threading.Thread(target=one, args=[kind, index], daemon=True) for index, kind in enumerate(kinds)]
        for thread in threads:
            thread.start()
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and server.process.poll() is None:
            time.sleep(0.2)
        if server.process.poll() is not None:
            self.complain("the server", f"it has ended with status {server.process.returncode}")
        self.is_leaving = then is not None
        result = then() if then and server.process.poll() is None else None
        self.ends.set()
        for thread in threads:
            thread.join(60 * PATIENCE)
        if any(thread.is_alive() for thread in threads):
            self.complain("clients", "some wait for ever")
        return result


def together(calls):
    threads = [threading.Thread(target=call, daemon=True) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def logged(path, crowd):
    """Checks that each line of the log is one whole object; the last one before a kill may be cut."""
    count = bad = 0
    with open(path, errors="replace") as file:
        for line in file:
            count += 1
            try:
                json.loads(line)
            except ValueError:
                bad += 1
    if bad > 1 or count == 0:
        crowd.complain("the log", f"{bad} of {count} lines are no JSON")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--root", required=True, help="the folder of photographs")
    parser.add_argument("--work", required=True, help="a folder for caches and logs")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    Source.root = arguments.root
    crowd = Crowd(arguments, f"http://127.0.0.1:{serve(Source)}")

    quiet = Program(arguments, os.path.join(arguments.work, "quiet"))
    client = Client(quiet.target, "192.0.2.250")
    crowd.refer(client)
    client.close()
    endings = [("after the references", *quiet.end(signal.SIGTERM), 0)]
    if crowd.wrong:
        sys.exit("\n".join(["  WRONG: there is nothing to compare with", *crowd.wrong[:5]]))
    print(f"  {len(crowd.recipes)} images were made one at a time", flush=True)

    cache, busy = os.path.join(arguments.work, "cache"), dict(VITRINE_MAX_IMAGES="128")
    for name, part, number, wanted in [("under load", 0.6, signal.SIGTERM, 0), ("killed", 0.2, signal.SIGKILL, -9), ("again", 0.2, None, 0)]:
        server = Program(arguments, cache, **busy)
        result = crowd.run(server, max(5, arguments.seconds * part), (lambda: server.end(number)) if number else None)
        if number is None:
            result = server.end(signal.SIGTERM)
        if result is not None:
            endings.append((name, *result, wanted))
    for name, status, seconds, wanted in endings:
        print(f"  {name}: ended with status {status} after {seconds:.1f} s")
        if status != wanted:
            crowd.complain("the server", f"{name}, it ended with status {status} instead of {wanted}")
    lines = logged(os.path.join(arguments.work, "requests.log"), crowd)
    print(f"  {lines} lines in the log; " + ", ".join(f"{count} {kind}" for kind, count in sorted(crowd.counts.items())))
    for kind in ("known images", "new images", "revalidations", "changing sources", "broken sources", "damaged files", "purges",
                 "clients that left", "slow clients", "clients of one image", "too many at once", "the rest", "refused for now", "found on disk"):
        if not crowd.counts[kind]:
            crowd.complain("load", f"there was nothing of: {kind}")
    for text, times in Counter(crowd.wrong).most_common(30):
        print(f"  WRONG: {text}" + (f" ({times} times)" if times > 1 else ""))
    if len(crowd.wrong) > 30:
        print(f"  WRONG: {len(crowd.wrong)} in all")
    sys.exit(1 if crowd.wrong else 0)


main()
