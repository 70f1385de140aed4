"""site.py SITE PICTURES: checks the pages that `make docs` has written, as Chromium shows them from disk."""
import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from checks import check, finish

site, pictures = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# Words, and the end of a URL that has to be among the first three found.
SEARCHES = [("prefetch", "Recipes.html#prefetch"), ("imageprefetcher", "ImagePrefetcher.html"), ("diskcache", "VitrineCaching/reference/DiskCache.html"),
            ("write a decoder", "Recipes.html#write-a-decoder"), ("imgproxy", "FromImgproxy.html"), ("coil", "FromCoil.html"),
            ("old picture", "Troubleshooting.html#an-old-picture-stays"), ("threat model", "ThreatModel.html"),
            ("stale-if-error", "Vitrine/index.html#the-caches"), ("retry", "Recipes.html#retry"),
            ("image(for:)", "ImagePipeline.html#image-for"), ("kubernetes", "StartingAServer.html#kubernetes")]
SHOWN = ["index.html", "Vitrine/Recipes.html", "Vitrine/HowCachingWorks.html", "Vitrine/FromCoil.html", "Vitrine/Decisions.html", "Vitrine/Troubleshooting.html",
         "Vitrine/FromOtherLibraries.html", "VitrineServing/FromImgproxy.html", "VitrineServing/RunningAServer.html",
         "Vitrine/reference/ImagePipeline.html", "project/ARCHITECTURE.html"]
PROBE = """<script>addEventListener("load", () => setTimeout(() => {
  const facts = document.createElement("pre"), page = document.documentElement
  facts.id = "facts"
  facts.textContent = JSON.stringify({ wide: page.scrollWidth, seen: page.clientWidth,
    found: [...document.querySelectorAll("#results a")].slice(0, 3).map(link => decodeURI(link.href)) })
  document.body.append(facts) }, 500))</script>"""


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.path, self.places, self.links = path, set(), []
        with open(path) as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.places.add(value)
            elif name in ("href", "src") and not re.match(r"[a-z]+:", value or ""):
                self.links.append(value or "")


def check_links():
    pages = {os.path.join(parent, name): Page(os.path.join(parent, name)) for parent, _, names in os.walk(site)
             for name in names if name.endswith(".html")}
    count, dead = 0, []
    for page in pages.values():
        for link in page.links:
            count += 1
            path, _, place = urllib.parse.unquote(link).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page.path), path)) if path else page.path
            if not os.path.isfile(target) or (place and target in pages and place not in pages[target].places):
                dead.append(f"{os.path.relpath(page.path, site)}: {link}")
    check(not dead and count > 5000, f"{count} links of {len(pages)} pages lead somewhere" + "".join(f"\n    {line}" for line in dead[:20]))


def chromium(*arguments):
    command = ["chromium-headless-shell", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120).stdout


def facts(folder, page, width, query=""):
    document = chromium("--dump-dom", f"--window-size={width},900", f"file://{folder}/{page}{query}")
    return json.loads(html.unescape(re.search(r'<pre id="facts">(.*?)</pre>', document, re.S).group(1)))


def check_pages():
    with tempfile.TemporaryDirectory() as scratch:
        copy = os.path.join(scratch, "site")
        shutil.copytree(site, copy)
        for page in SHOWN:
            with open(os.path.join(copy, page), "a") as file:
                file.write(PROBE)
        for page in SHOWN:
            found = facts(copy, page, 390)
            check(found["wide"] <= found["seen"] == 390, f"{page} fits a screen of {found['seen']} pixels")
        for words, wanted in SEARCHES:
            found = facts(copy, "index.html", 1280, "?q=" + urllib.parse.quote(words))["found"]
            is_found = any(url.endswith(wanted) for url in found)
            check(is_found, f"'{words}' finds {wanted}" + ("" if is_found else f", not {found}"))
        check(facts(copy, "index.html", 1280, "?q=xyzzyplugh")["found"] == [], "words that nothing has find nothing")
    for page in SHOWN:
        name = os.path.splitext(page)[0].replace("/", "-")
        for width in (1280, 390):
            chromium(f"--window-size={width},1600", f"--screenshot={pictures}/{name}-{width}.png", f"file://{site}/{page}")
    chromium("--window-size=1280,900", "--blink-settings=preferredColorScheme=0", f"--screenshot={pictures}/dark.png", f"file://{site}/Vitrine/HowCachingWorks.html")
    chromium("--window-size=1280,900", f"--screenshot={pictures}/search.png", f"file://{site}/index.html?q=stale")


check_links()
check_pages()
finish()
