#!/usr/bin/env python3
"""browser.py SERVER PICTURE: uses vitrine-server through Varnish as a browser does, and as Chromium itself.

Varnish runs with Examples/Varnish/thumbnails.vcl: hits, revalidations by entity tag, changed sources and purges must be right.
Then headless Chromium shows a page with `picture`, `srcset`, client hints and an SVG with a script; the log of Varnish says what
it has asked for, the page what came, and PICTURE what it looks like. A drawing that comes as it is must not act, nor load anything,
where it is opened by itself. Fails if something is not as it should be.
"""
import html
import json
import os
import re
import shutil
import subprocess
import sys
import time

import services
from checks import check, finish

server, picture = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
group = services.Fleet()
scratch = group.scratch
root = os.path.join(scratch, "root")

PAGE = """<!doctype html><title>Thumbnails</title><style>body { margin: 8px; font: 14px sans-serif; background: #fff }
figure { display: inline-block; margin: 8px; width: 300px } img { display: block; width: 300px; height: 200px; object-fit: contain }
</style>
<figure><picture><source type="image/avif" srcset="/_/rs:fit:300:300/plain/local:///a.jpg@avif">
<source type="image/webp" srcset="/_/rs:fit:300:300/plain/local:///a.jpg@webp">
<img id="picture" src="/_/rs:fit:300:300/plain/local:///a.jpg@jpg"></picture>picture: avif</figure>
<figure><picture><source type="image/x-none" srcset="/none.jpg">
<source type="image/webp" srcset="/_/rs:fit:301:301/plain/local:///a.jpg@webp">
<img id="second" src="/_/rs:fit:301:301/plain/local:///a.jpg@jpg"></picture>picture: the first format is unknown, so webp</figure>
<figure><img id="accept" src="/_/rs:fit:302:302/plain/local:///b.jpg">by Accept</figure>
<figure><img id="srcset" sizes="300px" srcset="/_/w:200/plain/local:///b.jpg@jpg 200w, /_/w:400/plain/local:///b.jpg@jpg 400w,
/_/w:600/plain/local:///b.jpg@jpg 600w, /_/w:1200/plain/local:///b.jpg@jpg 1200w" src="/_/w:200/plain/local:///b.jpg@jpg">srcset at
300 points and a ratio of 2: 600w</figure>
<figure><img id="hints" sizes="300px" src="/_/q:80/plain/local:///c.jpg@jpg">client hints: 600 pixels, rounded up to 640</figure>
<figure><img id="drawing" src="/_/w:300/plain/local:///drawing.svg@png">an SVG with a script, as PNG</figure>
<figure><img id="rotated" src="/_/rs:fill:300:200/plain/local:///d.jpg@webp">upright, though stored on its side</figure>
<figure><img id="moving" src="/_/rs:fit:300:200/plain/local:///e.gif@webp">a GIF as WebP that moves</figure>
<pre id="facts"></pre><script>
addEventListener("load", () => { document.getElementById("facts").textContent = JSON.stringify([...document.images].map(image => {
  const box = image.getBoundingClientRect()
  return { id: image.id, source: image.currentSrc, width: image.naturalWidth, height: image.naturalHeight, whole: image.complete,
    box: [box.x, box.y, box.width, box.height] } })) })
</script>"""


class Pages(services.Answering):
    """The program whose pages have the images; it asks for client hints."""

    def do_GET(self):
        self.answer(200, PAGE.encode(), Content_Type="text/html; charset=utf-8", Cache_Control="no-store",
                    Accept_CH="Sec-CH-DPR, Sec-CH-Width")


class Outside(services.Answering):
    """A server that a drawing names."""
    asked = []

    def do_GET(self):
        Outside.asked.append(self.path)
        self.answer(200, b"")


def ask(port, target, fields=None, method="GET"):
    return services.get(port, target, fields, method=method)


def is_hit(headers):
    """Varnish names two requests if one has found the answer of the other."""
    return len(headers["X-Varnish"].split()) == 2


def counter(port, name):
    body = ask(port, "/metrics")[2].decode()
    return next((int(line.split()[-1]) for line in body.splitlines() if line.startswith(name + " ")), 0)


def through_varnish(front, back):
    print("Through Varnish:")
    target, other = "/_/rs:fit:64:64/plain/local:///f.jpg", "/_/rs:fit:32:32/plain/local:///f.jpg@jpg"
    first = ask(front, target, {"Accept": "image/webp,*/*"})
    second = ask(front, target, {"Accept": "text/html,image/webp;q=0.9"})
    third = ask(front, target, {"Accept": "image/*"})
    check(first[0] == second[0] == third[0] == 200, "images are served")
    check(not is_hit(first[1]) and is_hit(second[1]), "a second client that takes WebP gets a hit")
    check(second[2] == first[2] and first[1]["Content-Type"] == "image/webp", "which is the same WebP")
    check(not is_hit(third[1]) and third[1]["Content-Type"] == "image/jpeg", "a client that does not gets a JPEG of its own")
    ask(front, other)
    _, headers, body = ask(front, target, {"Accept": "image/webp", "If-None-Match": first[1]["ETag"]})
    check(_ == 304 and not body, "who has it already gets 304 from Varnish")

    known = 'vitrine_requests_total{status="304"}'
    before = counter(back, known)
    time.sleep(3.2)
    # The stale one is served while it is revalidated behind it.
    ask(front, target, {"Accept": "image/webp"})
    time.sleep(0.5)
    _, headers, body = ask(front, target, {"Accept": "image/webp"})
    check(counter(back, known) == before + 1, "after its time Varnish revalidates it by its entity tag, once, and gets 304")
    check(is_hit(headers) and body == first[2] and int(headers["Age"]) <= 1, "and serves what it has as fresh")

    shutil.copy(os.path.join(root, "b.jpg"), os.path.join(root, "f.jpg"))
    time.sleep(3.2)
    for _ in range(2):
        _, headers, body = ask(front, target, {"Accept": "image/webp"})
        time.sleep(0.5)
    check(body != first[2] and headers["ETag"] != first[1]["ETag"], "a changed source is a new image after that time")

    purges = counter(back, "vitrine_purges_total")
    shutil.copy(os.path.join(root, "d.jpg"), os.path.join(root, "f.jpg"))
    for each in (target, other):
        ask(front, each, {"Accept": "image/webp"})
    # What is fetched behind a stale answer is there by then.
    time.sleep(0.5)
    status, headers, _ = ask(front, target, {"Authorization": "Bearer wrong"}, "PURGE")
    check(status == 401 and not headers["X-Purged"] and counter(back, "vitrine_purges_total") == purges, "a purge without the token is refused")
    status, headers, _ = ask(front, target, {"Authorization": "Bearer secret"}, "PURGE")
    check(status == 200 and headers["X-Purged"] == "yes" and counter(back, "vitrine_purges_total") == purges + 1, "with it, both purge")
    answers = [ask(front, each, {"Accept": "image/webp"}) for each in (target, other)]
    check(not any(is_hit(answer[1]) for answer in answers), "all images of the source are made anew at once")
    check(answers[0][2] != body, "of its new bytes")


options = ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--force-device-scale-factor=2", "--window-size=1300,760",
           "--no-proxy-server", "--disable-background-networking", "--disable-component-update", "--no-first-run",
           f"--user-data-dir={scratch}/profile", "--timeout=20000"]


def drawing_by_itself(front):
    """Opens a drawing that would act if it could, from the server and, to see that it would, from the disk."""
    outside, path = f"http://127.0.0.1:{services.serve(Outside)}/outside", os.path.join(root, "acting.svg")
    with open(path, "w") as file:
        file.write(f'''<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" onload="document.documentElement.id = 'acted'">
<script>fetch("{outside}"); document.documentElement.id = "acted"</script><style>@import url("{outside}");</style>
<image width="9" height="9" href="{outside}"/><rect width="9" height="9"/></svg>''')

    def opened(place):
        Outside.asked.clear()
        dom = subprocess.run(options + ["--dump-dom", place], capture_output=True, text=True, timeout=120).stdout
        return "<rect" in dom, 'id="acted"' in dom, len(Outside.asked)

    place = f"http://127.0.0.1:{front}/_/w:9/plain/local:///acting.svg"
    is_shown, has_acted, count = opened(place)
    check(is_shown and not has_acted and count == 0, f"a drawing by itself is shown, does not act, and loads nothing ({count} requests)")
    _, has_acted, count = opened(f"file://{path}")
    check(has_acted and count > 0, f"from the disk it acts, and loads ({count} requests)")


def in_chromium(front, log):
    print("In Chromium:")
    page = f"http://127.0.0.1:{front}/page"
    # One run for the facts and one for the picture.
    dom = subprocess.run(options + ["--dump-dom", page], capture_output=True, text=True, timeout=120).stdout
    subprocess.run(options + [f"--screenshot={picture}", page], capture_output=True, timeout=120)
    found = re.search(r'<pre id="facts">(.*?)</pre>', dom, re.S)
    if not found or not found.group(1):
        check(False, f"the page has not loaded: {dom[:300]!r}")
        return
    facts = {fact["id"]: fact for fact in json.loads(html.unescape(found.group(1)))}
    time.sleep(1)
    with open(log) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    # target, status, type, Vary, hints
    asked = {}
    for line in lines:
        asked.setdefault(line[0], line[1:])

    def came(name, kind, width, height=None):
        fact = facts[name]
        target = fact["source"].partition(f":{front}")[2]
        status, mime = asked.get(target, ["-", "-"])[:2]
        check(fact["whole"] and status == "200" and mime == kind and fact["width"] == width and height in (None, fact["height"]),
              f"{name}: {status} {mime} of {fact['width']}x{fact['height']}, {target}")
        return target

    check(all(fact["whole"] and fact["width"] > 0 for fact in facts.values()), f"{len(facts)} images are shown")
    # At a ratio of 2, which the client hints say.
    came("picture", "image/avif", 600)
    check(came("second", "image/webp", 602).endswith("@webp"), "a format that it does not know is left out")
    target = came("accept", "image/avif", 604)
    check("Accept" in asked[target][2], f"its answer varies by {asked[target][2]}")
    came("srcset", "image/jpeg", 600)
    target = came("hints", "image/jpeg", 640)
    check("Sec-CH-Width" in asked[target][2], f"its answer varies by {asked[target][2]}; Chromium sent a width of {asked[target][3]} and a "
          f"ratio of {asked[target][4]}")
    came("drawing", "image/png", 600)
    came("rotated", "image/webp", 600, 400)
    # It is not enlarged.
    came("moving", "image/webp", 240, 160)
    from PIL import Image, ImageStat
    shown = Image.open(picture).convert("RGB")
    for name, fact in facts.items():
        x, y, width, height = (int(number * 2) for number in fact["box"])
        spread = max(ImageStat.Stat(shown.crop((x, y, x + width, y + height))).stddev)
        check(spread > 20, f"{name} can be seen in the picture")


def main():
    os.mkdir(root)
    photographs = os.path.join(services.HERE, "Examples/Photographs")
    for name, source in dict(a="waterfall-cliff-large.jpg", b="waterfall-cliff-large.jpg", c="waterfall-cliff-large.jpg", f="macaws-444.jpg",
                             d="waterfall-cliff-orientation-6.jpg").items():
        shutil.copy(os.path.join(photographs, source), os.path.join(root, name + ".jpg"))
    shutil.copy(os.path.join(photographs, "boats-animated.gif"), os.path.join(root, "e.gif"))
    with open(os.path.join(root, "drawing.svg"), "w") as file:
        file.write('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>document.documentElement.remove()</script>'
                   '<rect width="30" height="20" fill="#ffd"/><circle cx="15" cy="10" r="8" fill="#c30"/></svg>')
    back = group.server(server, "server", local_root=root, local_ttl="3s", min_ttl="1s", purge_token="secret", width_hints="on",
                        dpr_hints="on").start()
    # The pages are another program's.
    pages = (f'\nbackend pages {{ .host = "127.0.0.1"; .port = "{services.serve(Pages)}"; }}\n'
             'sub vcl_recv { if (req.url == "/page") { set req.backend_hint = pages; return (pass); } }\n')
    front = group.varnish("thumbnails.vcl", {8080: back.port}, pages).start()
    log = os.path.join(scratch, "requests")
    requests = services.Part(group, "varnishncsa", [
        "varnishncsa", "-n", group.folder("varnish"), "-w", log, "-F",
        "%U%q\t%s\t%{Content-Type}o\t%{Vary}o\t%{Sec-CH-Width}i\t%{Sec-CH-DPR}i\t%{Varnish:hitmiss}x"], None)
    requests.begin()
    time.sleep(1)
    through_varnish(front.port, back.port)
    in_chromium(front.port, log)
    drawing_by_itself(front.port)
    check(all(part.process.poll() is None for part in group.parts), "all programs are still alive")
    print(f"browser: the page is in {os.path.relpath(picture)}", flush=True)
    finish()


main()
