#!/usr/bin/env python3
"""viewer.py PROGRAMS OPENSEADRAGON PICTURE: shows a large photograph in OpenSeadragon, in headless Chromium, by IIIF and by Deep Zoom.

The viewers zoom into one place, and draw without WebGL, for which Chromium has no GPU here. All of their requests must be
answered, by the server alone and with tiles of the right size, and PICTURE, the page, must show the photograph's colours at that
place in both.
"""
import html
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse

import services
from checks import check, finish

programs, script, picture = (os.path.abspath(argument) for argument in sys.argv[1:4])
group = services.Fleet()
scratch = group.scratch
root = os.path.join(scratch, "root")
WIDTH, HEIGHT = 6000, 4000
SOURCE = urllib.parse.quote("local:///map.jpg", safe="")
# The middle of the view, as fractions of the photograph, and the zoom.
PLACE, ZOOM = (0.62, 0.4), 6

PAGE = """<!doctype html><title>Viewers</title><style>body {{ margin: 0; background: #fff; font: 14px sans-serif }}
div.viewer {{ display: inline-block; width: 620px; height: 560px; background: #ccc }}</style>
<div class="viewer" id="iiif"></div> <div class="viewer" id="dzi"></div><pre id="facts" hidden></pre>
<script src="/openseadragon.js"></script><script>
const facts = {{ tiles: [], failures: [], shown: 0 }}
const tell = () => document.getElementById("facts").textContent = JSON.stringify(facts)
for (const [id, source] of [["iiif", "{iiif}"], ["dzi", "{dzi}"]]) {{
  const viewer = OpenSeadragon({{ id, drawer: "canvas", tileSources: source, showNavigationControl: false, animationTime: 0, immediateRender: true,
    blendTime: 0, crossOriginPolicy: "Anonymous" }})
  viewer.addHandler("open", () => {{
    viewer.viewport.zoomTo({zoom}, null, true)
    viewer.viewport.panTo(new OpenSeadragon.Point({x}, {y} * {height} / {width}), true)
    const item = viewer.world.getItemAt(0)
    item.addHandler("fully-loaded-change", event => {{ if (event.fullyLoaded) {{ facts.shown++; tell() }} }})
  }})
  viewer.addHandler("open-failed", event => {{ facts.failures.push(id + ": " + event.message); tell() }})
  viewer.addHandler("tile-load-failed", event => {{ facts.failures.push(event.tile.getUrl() + ": " + event.message); tell() }})
  viewer.addHandler("tile-loaded", event => {{
    const image = event.image || (event.data && event.data.canvas) || {{}}
    facts.tiles.push([event.tile.getUrl(), image.naturalWidth || image.width || 0, image.naturalHeight || image.height || 0])
    tell()
  }})
}}
</script>"""


class Pages(services.Answering):
    """The program whose page has the viewers."""
    page = ""

    def do_GET(self):
        if self.path == "/openseadragon.js":
            with open(script, "rb") as file:
                return self.answer(200, file.read(), Content_Type="text/javascript")
        self.answer(200 if self.path == "/" else 404, Pages.page.encode(), Content_Type="text/html; charset=utf-8")


def make_photograph():
    """Enlarges a photograph to the size; returns it."""
    from PIL import Image
    one = Image.open(os.path.join(services.HERE, "Examples/Photographs/waterfall-cliff-large.jpg")).convert("RGB")
    whole = one.resize((WIDTH, HEIGHT), Image.LANCZOS)
    whole.save(os.path.join(root, "map.jpg"), quality=90)
    return whole


def main():
    os.mkdir(root)
    photograph = make_photograph()
    server = group.server(os.path.join(programs, "vitrine-server"), "server", local_root=root, iiif="on").start()
    base = f"http://127.0.0.1:{server.port}"
    Pages.page = PAGE.format(iiif=f"{base}/iiif/3/{SOURCE}/info.json", dzi=f"{base}/dzi/{SOURCE}.dzi", zoom=ZOOM, x=PLACE[0], y=PLACE[1],
                             width=WIDTH, height=HEIGHT)
    page = f"http://127.0.0.1:{services.serve(Pages)}/"
    options = ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--window-size=1260,640", "--no-proxy-server",
               "--disable-background-networking", "--disable-component-update", "--no-first-run", f"--user-data-dir={scratch}/profile",
               "--virtual-time-budget=20000"]
    began = time.monotonic()
    dom = subprocess.run(options + ["--dump-dom", page], capture_output=True, text=True, timeout=180).stdout
    print(f"In Chromium, after {time.monotonic() - began:.1f} s:")
    subprocess.run(options + [f"--screenshot={picture}", page], capture_output=True, timeout=180)
    found = re.search(r'<pre id="facts"[^>]*>(.*?)</pre>', dom, re.S)
    facts = json.loads(html.unescape(found.group(1))) if found and found.group(1) else {"tiles": [], "failures": ["nothing"], "shown": 0}
    check(not facts["failures"], f"all requests are answered: {facts['failures'][:3]}")
    for name in ("iiif", "dzi"):
        tiles = [tile for tile in facts["tiles"] if f"/{name}/" in tile[0]]
        check(len(tiles) >= 4, f"{name}: {len(tiles)} tiles, such as {tiles[0][0].partition(base)[2] if tiles else 'none'}")
        wrong = []
        for url, width, height in tiles:
            status, fields, body = services.get(server.port, url.partition(base)[2])
            from io import BytesIO
            from PIL import Image
            size = Image.open(BytesIO(body)).size if status == 200 else (0, 0)
            if status != 200 or fields["Access-Control-Allow-Origin"] != "*" or max(size) > 512 or (width and (width, height) != size):
                wrong.append((url, status, size))
        check(not wrong, f"{name}: each tile is an image of at most 512 pixels: {wrong[:2]}")
    from PIL import Image, ImageChops, ImageStat
    shown = Image.open(picture).convert("RGB")
    # The view is 620 pixels wide, and shows a sixth of the photograph's width.
    across = WIDTH / ZOOM
    scale = 620 / across
    for number, name in enumerate(("iiif", "dzi")):
        left, top = number * 624 + 310, 280
        half = 100
        x, y = PLACE[0] * WIDTH, PLACE[1] * HEIGHT
        box = [x - half / scale, y - half / scale, x + half / scale, y + half / scale]
        wanted = photograph.crop([round(side) for side in box]).resize((2 * half, 2 * half), Image.LANCZOS)
        seen = shown.crop((left - half, top - half, left + half, top + half))
        difference = sum(ImageStat.Stat(ImageChops.difference(wanted, seen)).mean) / 3
        check(difference < 12, f"{name}: the view shows the photograph there, {difference:.1f} levels off in the mean")
    finish()


main()
