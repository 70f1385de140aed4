"""The parts of a fleet, all on loopback: origins, vitrine-servers, Redis, a server of buckets, Varnish.

Run as `services.py origin PORT FOLDER`, it is the origin of the demo.
"""

import atexit
import ctypes
import http.client
import http.server
import json
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

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEYS = ("FLEET", "a-secret-of-this-run-alone")
TICKS = os.sysconf("SC_CLK_TCK")


def find(name, *more):
    """Returns the path of a program, or None."""
    folders = list(more) + os.environ.get("PATH", "").split(":") + ["/usr/sbin", "/sbin"]
    return next((path for path in (os.path.join(folder, name) for folder in folders)
                 if os.path.isfile(path) and os.access(path, os.X_OK)), None)


def free_ports(count):
    """Returns free ports, which differ."""
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def free_port():
    return free_ports(1)[0]


def get(port, target, fields=None, timeout=30, method="GET"):
    """Returns status, fields and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, target, headers=fields or {})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def end_with_parent():
    """Ends a child when this program is killed; runs in the child."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Part:
    """A program of the fleet. Start it on the main thread: it ends with the thread that has started it."""

    def __init__(self, fleet, name, command, port, environment=None, is_ready=None):
        self.fleet, self.name, self.command, self.port = fleet, name, command, port
        self.environment, self.is_ready = environment, is_ready
        self.process = None
        fleet.parts.append(self)

    def start(self, seconds=30):
        """Starts the program, and waits until it can be used."""
        self.begin()
        self.wait(seconds)
        return self

    def begin(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, env=self.environment or plain_environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.fleet.scratch, start_new_session=True, preexec_fn=end_with_parent)

    @property
    def log(self):
        return os.path.join(self.fleet.scratch, self.name.replace(" ", "-") + ".log")

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            if self.answers():
                return
            time.sleep(0.05)
        with open(self.log, errors="replace") as log:
            last = log.read()[-1000:].strip()
        state = "has ended" if self.process.poll() is not None else f"cannot be used after {seconds} seconds"
        raise SystemExit(f"{self.name} {state}. Its last words:\n{last or '(none)'}")

    def answers(self):
        try:
            if self.is_ready:
                return self.is_ready(self)
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except (OSError, http.client.HTTPException):
            return False

    def kill(self):
        """Ends the program at once, as kill -9 and a crash do."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if not self.process or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        # Those that it has started go with it.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def processes(self):
        """Returns the program's process, and below it all that it has started."""
        found, rest = [], [self.process.pid]
        while rest:
            found.append(rest.pop())
            rest += children(found[-1])
        return found

    def cpu(self):
        """Returns the seconds of processor time of the program and of those that it has started, of ended ones too."""
        total = 0
        for pid in self.processes():
            try:
                with open(f"/proc/{pid}/stat") as file:
                    total += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:15]))
            except OSError:
                pass
        return total / TICKS

    def peaks(self):
        """Returns the highest resident memory in MB: of the program's own process, and the sum of all."""
        peaks = [memory(pid, "VmHWM") for pid in self.processes()]
        return peaks[0], sum(peak for peak in peaks if peak == peak)


def children(pid):
    """Returns the processes that one has started."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += map(int, file.read().split())
    except OSError:
        # It has ended meanwhile.
        pass
    return found


def memory(pid, key="VmRSS"):
    """Returns megabytes of a process, without those that it has started; none of one that has ended."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return int(re.search(rf"{key}:\s+(\d+)", file.read()).group(1)) / 1024
    except (OSError, AttributeError):
        return float("nan")


def plain_environment():
    """Returns the environment without settings of a server and keys of buckets, which may be the user's own."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("VITRINE_", "AWS_"))}


class Fleet:
    """A folder for all files of the parts, and what ends them: with the program, however it ends."""

    def __init__(self):
        self.scratch = tempfile.mkdtemp(prefix="vitrine-fleet-")
        self.parts = []
        atexit.register(self.end)
        # As ctrl-C: what is below is ended, and then this program.
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, frame: sys.exit(128 + number))

    def end(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for part in reversed(self.parts):
            if part.process and part.process.poll() is None:
                part.process.terminate()
        for part in reversed(self.parts):
            part.stop()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def folder(self, name):
        path = os.path.join(self.scratch, name)
        os.makedirs(path, exist_ok=True)
        return path

    def photographs(self):
        """Returns a folder of the JPEG photographs of Examples, and nothing else."""
        path = self.folder("photographs")
        for name in os.listdir(os.path.join(HERE, "Examples/Photographs")):
            if name.endswith(".jpg"):
                shutil.copy(os.path.join(HERE, "Examples/Photographs", name), path)
        return path

    def origin(self, folder):
        port = free_port()
        return Part(self, "origin", [sys.executable, os.path.abspath(__file__), "origin", str(port), folder], port)

    def nginx(self, folder):
        """An origin with any number of names: /17/cat.jpg is the file cat.jpg."""
        port = free_port()
        path = os.path.join(self.scratch, "nginx.conf")
        with open(path, "w") as file:
            file.write(f"""
                daemon off; worker_processes 1; pid {self.scratch}/nginx.pid; error_log stderr;
                {'user root;' if os.geteuid() == 0 else ''}
                events {{ worker_connections 1024; }}
                http {{
                  access_log off; default_type image/jpeg; sendfile on; keepalive_requests 1000000;
                  client_body_temp_path {self.scratch}/t1; proxy_temp_path {self.scratch}/t2; fastcgi_temp_path {self.scratch}/t3;
                  uwsgi_temp_path {self.scratch}/t4; scgi_temp_path {self.scratch}/t5;
                  server {{
                    listen 127.0.0.1:{port};
                    location / {{
                      root {folder}; rewrite ^/[0-9]+/(.*)$ /$1 break; add_header Cache-Control max-age=3600;
                    }}
                  }}
                }}""")
        return Part(self, "nginx", [find("nginx"), "-p", self.scratch, "-c", path], port)

    def redis(self, *options):
        """Nothing of it is on disk, so it is empty when it starts. REDIS names another program, such as Valkey's."""
        port = free_port()
        program = find(os.environ.get("REDIS") or "redis-server")
        if not program:
            return None
        return Part(self, "Redis", [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                    "--maxmemory", "256mb", "--maxmemory-policy", "allkeys-lru", "--dir", self.scratch, *options], port)

    def bucket(self):
        """SeaweedFS, whose folder outlives a kill; it has a bucket named thumbnails, and checks signatures."""
        program = find("weed", os.path.join(HERE, ".build/weed/bin"))
        if not program:
            return None
        folder = self.folder("bucket")
        identities = os.path.join(self.scratch, "identities.json")
        with open(identities, "w") as file:
            json.dump({"identities": [{"name": "fleet", "credentials": [{"accessKey": KEYS[0], "secretKey": KEYS[1]}],
                                       "actions": ["Admin", "Read", "List", "Tagging", "Write"]}]}, file)
        names = ["s3.port", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port",
                 "filer.port.grpc", "admin.port", "admin.port.grpc"]
        ports = free_ports(len(names))

        def is_ready(part):
            # Without a signature it refuses, as soon as it answers at all.
            return get(part.port, "/thumbnails/none", timeout=2)[0] == 403

        return Part(self, "S3", [program, "-logtostderr=true", "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
                                 "-s3.port.iceberg=0", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false", "-bucket=thumbnails",
                                 f"-s3.config={identities}"] + [f"-{name}={port}" for name, port in zip(names, ports)],
                    ports[0], is_ready=is_ready)

    def server(self, program, name, redis=None, bucket=None, folder=None, **settings):
        """A vitrine-server with a disk of its own: the folder, or a new one."""
        port = free_port()
        environment = plain_environment()
        environment.update(VITRINE_PORT=str(port), VITRINE_CACHE_DIR=folder or tempfile.mkdtemp(dir=self.scratch), VITRINE_LOG="off",
                           VITRINE_ALLOW_ROOT="on", VITRINE_ALLOWED_NETWORKS="127.0.0.1/32", VITRINE_ALLOWED_PORTS="", no_proxy="127.0.0.1")
        if redis:
            environment["VITRINE_SHARED"] = f"redis://127.0.0.1:{redis.port}"
        if bucket:
            environment.update(VITRINE_DURABLE="s3://thumbnails/v1", AWS_ENDPOINT_URL=f"http://127.0.0.1:{bucket.port}",
                               AWS_ACCESS_KEY_ID=KEYS[0], AWS_SECRET_ACCESS_KEY=KEYS[1], AWS_REGION="us-east-1")
        environment.update({"VITRINE_" + key.upper(): value for key, value in settings.items()})
        return Part(self, name, [program], port, environment, lambda part: get(part.port, "/ready", timeout=2)[0] == 200)

    def varnish(self, name, ports, more=""):
        """Varnish with a file of Examples/Varnish, in which servers have other ports, and more lines."""
        program = find("varnishd")
        if not program:
            return None
        port = free_port()
        shutil.copy(os.path.join(HERE, "Examples/Varnish/images.vcl"), self.scratch)
        with open(os.path.join(HERE, "Examples/Varnish", name)) as file:
            vcl = file.read()
        for example, real in ports.items():
            vcl = vcl.replace(f'"{example}"', f'"{real}"')
        vcl += more
        path = os.path.join(self.scratch, "fleet.vcl")
        with open(path, "w") as file:
            file.write(vcl)
        return Part(self, "Varnish", [program, "-F", "-j", "none", "-n", self.folder("varnish"), "-f", path, "-a", f"127.0.0.1:{port}",
                                      "-s", "malloc,64m", "-T", "none"], port)


METRIC = re.compile(r'^(vitrine_(?:tier|images)_\w+)\{tier="(\w+)"\} (\d+)$', re.M)


def metrics(server, timeout=2):
    """Returns the numbers of a server by metric and tier, such as ("hits_total", "redis"); empty if it does not answer."""
    try:
        status, _, body = get(server.port, "/metrics", timeout=timeout)
    except (OSError, http.client.HTTPException):
        return {}
    if status != 200:
        return {}
    return {(name.removeprefix("vitrine_tier_").removeprefix("vitrine_"), tier): int(value)
            for name, tier, value in METRIC.findall(body.decode())}


class OriginServer(http.server.ThreadingHTTPServer):
    """A server that is left in the middle as often as its clients are."""

    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass


class Answering(http.server.BaseHTTPRequestHandler):
    """Answers requests, and says nothing of them."""

    protocol_version, disable_nagle_algorithm = "HTTP/1.1", True

    def answer(self, status, body=b"", send_body=True, **fields):
        self.send_response(status)
        # That of a 304 would be the length of what the client has.
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if send_body:
            self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def serve(handler, port=0):
    """Serves in the background; returns the port."""
    server = OriginServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


class Origin(Answering):
    """Serves /17/cat.jpg as the file cat.jpg, under an entity tag of its own; /fetches has the number of requests by name."""

    folder, fetches, lock = "", {}, threading.Lock()

    def do_GET(self):
        if self.path == "/fetches":
            with self.lock:
                body = json.dumps(self.fetches).encode()
            return self.answer(200, body, Content_Type="application/json", Cache_Control="no-store")
        with self.lock:
            self.fetches[self.path] = self.fetches.get(self.path, 0) + 1
        with open(os.path.join(self.folder, os.path.basename(self.path)), "rb") as file:
            tag = '"' + self.path.strip("/").replace("/", "-") + '"'
            self.answer(200, file.read(), Content_Type="image/jpeg", Cache_Control="max-age=3600", ETag=tag)


if __name__ == "__main__":
    Origin.folder = sys.argv[3]
    OriginServer(("127.0.0.1", int(sys.argv[2])), Origin).serve_forever()
