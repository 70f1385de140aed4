"""fetch.py VITRINE MEASURE: compares `vitrine fetch` of many small files with curl and wget, in one run.

Each program starts with an empty folder, and the tool with an empty cache: it writes each file twice, and refuses what is no
image. The programs take turns; of CPU, wall and memory the least is shown.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time

from PIL import Image

import services

ROUNDS, COUNT = int(os.environ.get("ROUNDS", "5")), int(os.environ.get("COUNT", "500"))
tool, measure = (os.path.abspath(path) for path in sys.argv[1:3])
folder = tempfile.mkdtemp()
# nginx may serve as another user.
os.chmod(folder, 0o755)
atexit.register(shutil.rmtree, folder, True)


def make_files(target):
    """Writes pictures of about 50 KB, each another one."""
    os.makedirs(target)
    photograph = Image.open("Examples/Photographs/waterfall-cliff-large.jpg").convert("RGB")
    for number in range(COUNT):
        left, top = number * 7 % (photograph.width // 3), number * 5 % (photograph.height // 3)
        part = photograph.crop((left, top, left + photograph.width // 2, top + photograph.height // 2)).resize((480, 360))
        part.save(f"{target}/{number:03}.jpg", quality=90)


def serve(files):
    """Starts nginx; returns its port."""
    port = services.free_port()
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(f"""daemon off; pid {folder}/pid; worker_processes 1; events {{ worker_connections 256; }}
            http {{ access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/fast; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
            types {{ image/jpeg jpg; }} server {{ listen 127.0.0.1:{port}; root {files}; keepalive_requests 100000; }} }}""")
    server = subprocess.Popen([services.find("nginx"), "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"])
    atexit.register(server.terminate)
    for _ in range(100):
        try:
            services.get(port, "/000.jpg")
            return port
        except OSError:
            time.sleep(0.05)
    sys.exit("nginx did not start")


make_files(f"{folder}/files")
port = serve(f"{folder}/files")
urls = [f"http://127.0.0.1:{port}/{number:03}.jpg" for number in range(COUNT)]
total = sum(os.path.getsize(f"{folder}/files/{name}") for name in os.listdir(f"{folder}/files"))
with open(f"{folder}/list", "w") as file:
    file.write("\n".join(urls))
programs = {
    "vitrine fetch": lambda out: [tool, "fetch", *urls, "-o", out, "--cache-dir", f"{folder}/cache"],
    "curl -Z": lambda out: ["curl", "-Z", "-s", "--remote-name-all", "--output-dir", out, *urls],
    "wget": lambda out: ["wget", "-q", "-P", out, "-i", f"{folder}/list"],
}
least = {}
for _ in range(ROUNDS):
    for name, command in programs.items():
        out = f"{folder}/out/"
        for old in (out, f"{folder}/cache"):
            shutil.rmtree(old, ignore_errors=True)
        os.makedirs(out)
        line = subprocess.run([measure, *command(out)], check=True, capture_output=True, text=True).stdout
        *figures, status = (int(word) for word in line.split())
        if status != 0 or len(os.listdir(out)) != COUNT:
            sys.exit(f"{name}: status {status}, {len(os.listdir(out))} of {COUNT} files")
        least[name] = [min(pair) for pair in zip(figures, least.get(name, figures))]
print(f"{COUNT} files of {total // COUNT // 1000} KB from nginx on this machine, the least of {ROUNDS} rounds in turns\n")
print(f"{'':16}{'CPU ms':>10}{'wall ms':>10}{'peak MB':>10}")
for name, (cpu, wall, peak) in least.items():
    print(f"{name:16}{cpu / 1000:10.0f}{wall / 1000:10.0f}{peak / 1024:10.1f}")
