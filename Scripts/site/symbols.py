"""Public symbols, as swift-symbolgraph-extract lists them."""
import glob
import html
import json
import os
import re

TYPES = {"swift.struct", "swift.class", "swift.enum", "swift.protocol", "swift.actor"}
GROUPS = {"swift.init": "Creating", "swift.enum.case": "Cases", "swift.type.property": "Static properties",
          "swift.type.method": "Static methods", "swift.property": "Properties", "swift.method": "Methods",
          "swift.subscript": "Subscripts", "swift.func.op": "Operators", "swift.associatedtype": "Associated types"}
WORDS = {"swift.struct": "Structure", "swift.class": "Class", "swift.enum": "Enumeration", "swift.protocol": "Protocol",
         "swift.typealias": "Type alias", "swift.func": "Function", "swift.extension": "Extension", "swift.var": "Variable",
         "swift.macro": "Macro", "swift.func.op": "Operator"}


class Symbol:
    def __init__(self, module, entry):
        self.module, self.path = module, tuple(entry["pathComponents"])
        self.kind, self.name = entry["kind"]["identifier"], self.path[-1]
        self.comment = "\n".join(line["text"] for line in entry.get("docComment", {}).get("lines", []))
        self.fragments = entry.get("declarationFragments", [])
        self.members, self.conforms, self.page, self.anchor = [], [], None, ""

    @property
    def url(self):
        return self.page + (f"#{self.anchor}" if self.anchor else "")

    @property
    def title(self):
        return ".".join(self.path)

    @property
    def abstract(self):
        return self.comment.strip().partition("\n\n")[0].replace("\n", " ")


class Symbols:
    """All symbols, with their pages: one for each type, each extension of another module's type, and each global."""

    def __init__(self, folder, modules):
        self.pages, self.by_id, self.by_path, self.modules = {}, {}, {}, modules
        for module in modules:
            self.pages[module] = []
            own = f"{folder}/{module}/{module}.symbols.json"
            for file in sorted(glob.glob(f"{folder}/{module}/*.symbols.json"), key=lambda name: name != own):
                self.read(module, file)
            self.pages[module].sort(key=lambda symbol: symbol.title.lower())

    def read(self, module, file):
        with open(file) as opened:
            graph = json.load(opened)
        is_own = "@" not in os.path.basename(file)
        owners = {}
        for entry in sorted(graph["symbols"], key=lambda entry: len(entry["pathComponents"])):
            symbol = Symbol(module, entry)
            if symbol.kind == "swift.extension":
                owners.setdefault(symbol.path, symbol)
                continue
            owner = owners.get(symbol.path[:-1])
            if owner and symbol.kind not in TYPES:
                owner.members.append(symbol)
            else:
                self.add_page(symbol, f"{symbol.title}")
                if symbol.kind in TYPES:
                    owners[symbol.path] = symbol
            self.by_id[entry["identifier"]["precise"]] = symbol
            self.by_path.setdefault((module, symbol.path), symbol)
        if not is_own:
            for owner in owners.values():
                if owner.kind == "swift.extension" and owner.members:
                    self.add_page(owner, f"{owner.title}-extension")
        for relation in graph["relationships"]:
            if relation["kind"] in ("conformsTo", "inheritsFrom") and relation["source"] in self.by_id:
                name = relation.get("targetFallback", "").split(".")[-1]
                target = self.by_id.get(relation["target"])
                self.by_id[relation["source"]].conforms.append((target.name if target else name, target))
        for owner in owners.values():
            used = set()
            for member in owner.members:
                anchor = base = re.sub(r"[^\w]+", "-", member.name).strip("-") or "operator"
                count = 1
                while anchor in used:
                    count += 1
                    anchor = f"{base}-{count}"
                used.add(anchor)
                member.page, member.anchor = owner.page, anchor

    def add_page(self, symbol, name):
        name = re.sub(r"[^\w.-]+", "-", name).strip("-") or "operator"
        taken = {page.page for page in self.pages[symbol.module]}
        page, count = f"{symbol.module}/reference/{name}.html", 1
        while page in taken:
            count += 1
            page = f"{symbol.module}/reference/{name}-{count}.html"
        symbol.page = page
        self.pages[symbol.module].append(symbol)

    def find(self, link, module, context=()):
        """Returns the symbol that a link of DocC names, seen from a symbol's path."""
        parts = [re.sub(r"(?<=[\w)])-.*$", "", part) for part in link.split("/")]
        if parts[0] in self.modules and len(parts) > 1:
            module, parts = parts[0], parts[1:]
        for length in range(len(context), -1, -1):
            if found := self.by_path.get((module, tuple(context[:length]) + tuple(parts))):
                return found
        return None

    def type_named(self, name, module):
        """Returns a type by its name, of the module itself if there are several."""
        path = tuple(name.split("."))
        found = self.by_path.get((module, path))
        others = [symbol for other in self.modules if (symbol := self.by_path.get((other, path)))]
        symbol = found or (others[0] if others else None)
        return symbol if symbol and symbol.kind in TYPES else None

    def declaration(self, symbol, link):
        """Returns the declaration as HTML, with links to types."""
        pieces = []
        for fragment in symbol.fragments:
            text, target = html.escape(fragment["spelling"]), self.by_id.get(fragment.get("preciseIdentifier"))
            if target and target.page:
                text = f'<a href="{html.escape(link(target.url))}">{text}</a>'
            elif fragment["kind"] in ("keyword", "attribute"):
                text = f'<span class="word">{text}</span>'
            pieces.append(text)
        joined = "".join(pieces)
        if len(re.sub(r"<[^>]+>", "", joined)) > 100:
            joined = re.sub(r"(\(|, )(?=<?[a-z_])", lambda found: found.group(1).rstrip() + "\n  ", joined)
        return f"<pre><code>{joined}</code></pre>"

    def grouped(self, owner, topics):
        """Returns the members of a type by the groups of its topics, and those in none by their kind."""
        groups, left = [], list(owner.members)
        for title, items in topics:
            chosen = []
            for name, _ in items:
                wanted = re.sub(r"(?<=[\w)])-.*$", "", name or "")
                for member in [member for member in left if member.name == wanted]:
                    chosen.append(member)
                    left.remove(member)
            if chosen:
                groups.append((title, chosen))
        for kind, title in GROUPS.items():
            if members := [member for member in left if member.kind == kind]:
                groups.append((title, members))
        if others := [member for member in left if member.kind not in GROUPS]:
            groups.append(("Others", others))
        return groups
