#!/usr/bin/env python3
"""site.py GRAPHS SITE MODULE:FOLDER...: writes the documentation as plain pages that open from disk.

GRAPHS has a folder of symbol graphs for each module, SITE is the folder to write, and FOLDER that of the module below Sources. The
articles of DocC's catalogues, the documents of the root, and the README.md of each room become pages with a menu, a search
that needs no server, and a page for each public type. Fails if a link leads nowhere.
"""
import collections
import glob
import html
import json
import os
import re
import shutil
import sys

import prose
from symbols import WORDS, Symbols

HERE = os.path.dirname(os.path.abspath(__file__))
DOCC = "Sources/{}.docc/{}.md"
# The menu: titles of groups, and their pages, with a title if the page's own says too little there. `*` stands for the rooms.
MENU = [
    ("Start", ["README.md", ("Vitrine/Vitrine", "AddingVitrine"), ("Vitrine/Vitrine", "CommandLine"), ("GTK/VitrineGTK", "HelloGTK"),
               ("Server/VitrineServing", "RunningAServer"), ("Apple/VitrineApple", "VitrineApple", "On Apple's platforms")]),
    ("Tasks", [("Vitrine/Vitrine", "Recipes"), ("Imaging/VitrineImaging", "Processors"),
               ("Imaging/VitrineImaging", "HighDynamicRange"), ("Vitrine/Vitrine", "Hooks"), ("Vitrine/Vitrine", "Watching"),
               ("Vitrine/Vitrine", "Troubleshooting")]),
    ("Coming from", [("Vitrine/Vitrine", "FromOtherLibraries"), ("Vitrine/Vitrine", "FromCoil"),
                     ("Server/VitrineServing", "FromImgproxy")]),
    ("Explained", [("Vitrine/Vitrine", "HowCachingWorks"), ("Vitrine/Vitrine", "Performance"),
                   ("Imaging/VitrineImaging", "TimeOfAThumbnail"), "SECURITY.md", ("Sandbox/VitrineSandbox", "ThreatModel"),
                   ("Vitrine/Vitrine", "Decisions")]),
    ("Programs", [("GTK/VitrineGTK", "Gallery"), ("Server/VitrineServing", "StartingAServer"), ("Server/VitrineServing", "Watching"),
                  ("Server/Requests/VitrineServingRequests", "OptionsOfURLs"), ("Tiers/Redis/VitrineRedis", "Fleet")]),
    ("Modules", []),
    ("The project", ["CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "Scripts/README.md", "Tests/README.md"]),
    ("Rooms", ["*"]),
]


class Page:
    def __init__(self, source, path, module=None):
        self.source, self.path, self.module = source, path, module
        with open(source) as file:
            self.title, self.abstract, self.body, self.topics = prose.split(file.read())
        self.title = self.title.strip("`")
        self.markup, self.headings = "", []


class Site:
    def __init__(self, graphs, folder, modules):
        self.folder, self.modules = folder, dict(modules)
        self.symbols = Symbols(graphs, [module for module in self.modules if os.path.isdir(f"{graphs}/{module}")])
        self.pages, self.topics, self.dead, self.resources = collections.OrderedDict(), {}, [], {}
        for place in ["README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG", "Scripts/README", "Tests/README"]:
            name = os.path.dirname(place) or place
            self.add(f"{place}.md", "index.html" if place == "README" else f"project/{name}.html")
        for source in sorted(glob.glob("Sources/**/README.md", recursive=True)) + ["Sources/Caching/Disk/DiskFormat.md"]:
            name = "-".join(source.split("/")[1:-1]) if source.endswith("README.md") else "DiskFormat"
            self.add(source, f"rooms/{name}.html")
        for module, place in self.modules.items():
            catalogue = f"Sources/{place}/{module}.docc"
            for source in sorted(glob.glob(f"{catalogue}/*.md")):
                name = os.path.splitext(os.path.basename(source))[0]
                self.add(source, f"{module}/{'index' if name == module else name}.html", module)
            for source in glob.glob(f"{catalogue}/Topics/*.md"):
                with open(source) as file:
                    title, _, _, groups = prose.split(file.read())
                self.topics[(module, tuple(title.strip("`").split("/")[1:]))] = groups

    def add(self, source, path, module=None):
        self.pages[source] = Page(source, path, module)

    # Links

    def article(self, name, module):
        """Returns the page that `<doc:Name>` means in a module."""
        name, _, anchor = name.partition("#")
        *folders, name = name.split("/")
        module = folders[-1] if folders else module
        for page in self.pages.values():
            if page.module == module and os.path.splitext(os.path.basename(page.source))[0] == name:
                return page, anchor.lower()
        return None, ""

    def markdown(self, text, page, module, context=()):
        """Returns Markdown in which DocC's links are replaced by `site:` ones."""
        def symbol_link(name):
            symbol = self.symbols.find(name, module, context) if module else None
            shown = re.sub(r"(?<=[\w)])-.*$", "", name.split("/")[-1]) if not symbol else symbol.name
            if name in self.modules:
                return f"[`{name}`](site:{name}/index.html)"
            if symbol and "/" in name and symbol.anchor:
                shown = f"{symbol.path[-2]}.{symbol.name}"
            return f"[`{shown}`](<site:{symbol.url}>)" if symbol else f"`{shown}`"

        def page_link(name):
            target, anchor = self.article(name, module)
            if not target:
                self.dead.append(f"{page}: <doc:{name}>")
                return name
            title = next((line.lstrip("# ") for line in target.body.splitlines()
                          if anchor and line.startswith("#") and prose.slug(line.lstrip("# ")) == anchor), target.title)
            return f"[{title}](site:{target.path}{'#' + anchor if anchor else ''})"
        return prose.prepared(text, symbol_link, page_link)

    def resolver(self, page, source):
        """Returns a function that turns a link of a document into one of the site."""
        def resolve(link):
            if link.startswith("site:"):
                return prose.relative(link[5:], page)
            if re.match(r"[a-z]+:|#", link):
                return link
            path, _, anchor = link.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(source), path))
            if path in self.pages:
                return prose.relative(self.pages[path].path + (f"#{anchor}" if anchor else ""), page)
            if not os.path.isfile(path) and (found := glob.glob(f"{os.path.dirname(source)}/Resources/{link}*")):
                path = found[0]
            if re.search(r"\.(svg|png|jpg)$", path) and os.path.isfile(path):
                self.resources[path] = "resources/" + os.path.basename(path)
                return prose.relative(self.resources[path], page)
            if not os.path.exists(path):
                self.dead.append(f"{source}: {link}")
            return None
        return resolve

    def type_link(self, page, module):
        def link(name):
            if not re.fullmatch(r"[A-Z]\w+(\.[A-Z]\w+)*", name):
                return None
            symbol = self.symbols.type_named(name, module)
            return prose.relative(symbol.url, page) if symbol and symbol.page != page else None
        return link

    # Pages

    def write(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        documents = list(self.pages.values())
        markups = prose.rendered([self.markdown(page.body, page.source, page.module) + self.topic_list(page) for page in documents])
        for page, markup in zip(documents, markups):
            page.markup, page.headings = prose.finished(
                markup, self.resolver(page.path, page.source), self.type_link(page.path, page.module))
        index = []
        for page in documents:
            menu = self.menu(page)
            body = f"<h1>{html.escape(page.title)}</h1>\n{page.markup}"
            self.save(page.path, page.title, menu, body)
            for anchor, title, text in prose.sections(page.markup):
                index.append([title or page.title, page.path + (f"#{anchor}" if anchor else ""), page.title if title else "", text])
        self.write_reference(index)
        for path, target in self.resources.items():
            self.copy(path, target)
        for name in ("style.css", "search.js"):
            self.copy(os.path.join(HERE, name), f"resources/{name}")
        with open(os.path.join(self.folder, "resources/index.js"), "w") as file:
            file.write(f"searchIndex({json.dumps(index, ensure_ascii=False, separators=(',', ':'))})\n")
        return len(documents), sum(map(len, self.symbols.pages.values()))

    def topic_list(self, page):
        """Returns the Topics of a module's page as lists with abstracts, and all its types."""
        lines = []
        for title, items in page.topics:
            lines.append(f"\n\n## {title}\n")
            for symbol, article in items:
                text = self.markdown(f"``{symbol}``" if symbol else f"<doc:{article}>", page.source, page.module)
                found = self.symbols.find(symbol, page.module) if symbol else self.article(article, page.module)[0]
                abstract = self.markdown(found.abstract, page.source, page.module, getattr(found, "path", ())) if found else ""
                lines.append(f"- {text}: {abstract}" if abstract else f"- {text}")
        if page.module and page.path.endswith("/index.html") and self.symbols.pages.get(page.module):
            names = [f"[`{symbol.title}`](<site:{symbol.url}>)" + (" (extension)" if symbol.kind == "swift.extension" else "")
                     for symbol in self.symbols.pages[page.module]]
            lines.append("\n\n## All types\n\n" + ", ".join(names) + "\n")
        return "\n".join(lines)

    def write_reference(self, index):
        jobs, texts = [], []
        for module, owners in self.symbols.pages.items():
            for owner in owners:
                for symbol in [owner] + owner.members:
                    jobs.append((owner, symbol))
                    texts.append(self.markdown(symbol.comment, symbol.title, module, symbol.path))
        comments = {}
        for (owner, symbol), markup in zip(jobs, prose.rendered(texts)):
            # Headings within a comment are below that of its symbol, and have no anchors.
            markup = re.sub(r"<(/?)h[1-6]>", r"<\1h4>", markup)
            resolve, link = self.resolver(owner.page, "README.md"), self.type_link(owner.page, owner.module)
            comments[id(symbol)] = re.sub(r"<h4 id=\"[^\"]*\">(.*?) <a class=\"anchor\".*?</h4>", r"<h4>\1</h4>",
                                          prose.finished(markup, resolve, link)[0], flags=re.S)
        for module, owners in self.symbols.pages.items():
            menus = {}
            for owner in owners:
                body = self.reference(owner, comments)
                menu = menus.get(module) or menus.setdefault(module, self.menu(self.module_page(module), owner.page))
                self.save(owner.page, owner.title, menu, body)
                index.append([owner.title, owner.url, module, prose.plain(comments[id(owner)])[:300]])
                for member in owner.members:
                    index.append([f"{owner.title}.{member.name}", member.url, module, prose.plain(comments[id(member)])[:200]])

    def module_page(self, module):
        return next(page for page in self.pages.values() if page.module == module and page.path.endswith("/index.html"))

    def reference(self, owner, comments):
        def link(url):
            return prose.relative(url, owner.page)
        word = WORDS.get(owner.kind, "Symbol")
        parts = [f'<p class="kind">{word} of <a href="{link(owner.module + "/index.html")}">{owner.module}</a></p>',
                 f"<h1>{html.escape(owner.title)}</h1>"]
        if owner.fragments and owner.kind != "swift.extension":
            parts.append(self.symbols.declaration(owner, link))
        parts.append(comments[id(owner)])
        if owner.conforms:
            names = [f'<a href="{link(target.url)}"><code>{name}</code></a>' if target and target.page else f"<code>{html.escape(name)}</code>"
                     for name, target in sorted(set(owner.conforms), key=lambda pair: pair[0])]
            parts.append(f'<p class="conforms">Conforms to {", ".join(names)}.</p>')
        nested = [symbol for symbol in self.symbols.pages[owner.module] if symbol.path[:-1] == owner.path and symbol.kind != "swift.extension"]
        if nested and owner.kind != "swift.extension":
            parts.append("<h2>Types</h2><ul>" + "".join(
                f'<li><a href="{link(symbol.url)}"><code>{html.escape(symbol.title)}</code></a></li>' for symbol in nested) + "</ul>")
        for title, members in self.symbols.grouped(owner, self.topics.get((owner.module, owner.path), [])):
            parts.append(f"<h2>{html.escape(title)}</h2>")
            for member in members:
                parts.append(f'<section id="{member.anchor}"><h3><code>{html.escape(member.name)}</code></h3>'
                             f"{self.symbols.declaration(member, link)}{comments[id(member)]}</section>")
        return "\n".join(parts)

    # The frame around a page

    def menu(self, current, path=None):
        """Returns the menu, with the sections of the page that is open."""
        path = path or current.path
        listed, parts, titles = set(), [], {"README.md": "Overview"}
        for group, entries in MENU:
            pages = []
            for entry in entries:
                source = entry if isinstance(entry, str) else DOCC.format(*entry[:2])
                if source == "*":
                    pages += [page for page in self.pages.values() if page.source not in listed and page.path.startswith("rooms/")]
                elif source in self.pages:
                    pages.append(self.pages[source])
                    if len(entry) == 3:
                        titles[source] = entry[2]
                else:
                    self.dead.append(f"the menu: {source}")
                listed.add(source)
            if group == "Modules":
                pages = [page for page in self.pages.values() if page.module and page.path.endswith("/index.html") and page.source not in listed]
            is_open = current in pages or group in ("Start", "Tasks")
            items = "".join(self.menu_item(page, titles.get(page.source, page.title), current, path) for page in pages)
            parts.append(f"<details{' open' if is_open else ''}><summary>{group}</summary><ul>{items}</ul></details>")
        return "".join(parts)

    def menu_item(self, page, title, current, path):
        is_current = page is current and path == page.path
        inner = ""
        if is_current:
            inner = "".join(f'<li class="level-{level}"><a href="#{anchor}">{html.escape(text)}</a></li>'
                            for level, text, anchor in page.headings if level in (2, 3))
            inner = f"<ul>{inner}</ul>" if inner else ""
        mark = ' aria-current="page"' if is_current else ""
        return f'<li><a href="{prose.relative(page.path, path)}"{mark}>{html.escape(title)}</a>{inner}</li>'

    def save(self, path, title, menu, body):
        root = prose.relative("index.html", path)[:-len("index.html")]
        with open(os.path.join(HERE, "page.html")) as file:
            page = file.read()
        whole = title if path == "index.html" else f"{title} – Vitrine"
        for name, value in (("title", html.escape(whole)), ("root", root), ("menu", menu), ("body", body)):
            page = page.replace("{{" + name + "}}", value)
        target = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "w") as file:
            file.write(page)

    def copy(self, source, target):
        target = os.path.join(self.folder, target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


if __name__ == "__main__":
    graphs, folder, *entries = sys.argv[1:]
    site = Site(graphs, folder, [tuple(entry.split(":")) for entry in entries])
    documents, types = site.write()
    if site.dead:
        raise SystemExit("site: these lead nowhere:\n  " + "\n  ".join(sorted(set(site.dead))))
    print(f"site: {documents} documents and {types} pages of types in {folder}/; open {folder}/index.html")
