"""Markdown as it stands in the project and in DocC's catalogues, as HTML."""
import html
import os
import re
import subprocess

MARK = "<!--next text-->"
KEYWORDS = set("""actor any as associatedtype async await break case catch class consuming continue default defer deinit do else enum extension
    false fileprivate final for func get guard if import in indirect init inout internal is isolated lazy let mutating nil nonisolated
    open operator package private protocol public repeat required rethrows return self Self sending set some static struct subscript
    super switch throw throws true try typealias unsafe var weak where while""".split())
TOKEN = re.compile(r"(?P<comment>//[^\n]*)|(?P<string>&quot;(?:\\.|(?!&quot;)[^\n\\])*&quot;)|(?P<word>\b[a-zA-Z]+\b(?!;))")


def rendered(texts):
    """Returns the HTML of each Markdown text, by one run of cmark-gfm."""
    joined = f"\n\n{MARK}\n\n".join(texts)
    output = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table"], input=joined, capture_output=True, text=True, check=True)
    parts = output.stdout.split(MARK)
    if len(parts) != len(texts):
        raise SystemExit("site: a text contains the mark between texts")
    return parts


def plain(markup):
    """Returns the text of HTML."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", "", markup))).strip()


def slug(text):
    """Returns the anchor of a heading, as GitHub spells it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", "-")


def split(text):
    """Returns title, abstract, the body and the groups of `## Topics` of a page of DocC, or of another document."""
    title, _, rest = text.lstrip().partition("\n")
    title = title.lstrip("# ").strip()
    body, _, topics = re.sub(r"^## Overview\n", "", rest, flags=re.M).partition("\n## Topics\n")
    groups = []
    for line in topics.splitlines():
        if line.startswith("### "):
            groups.append((line[4:].strip(), []))
        elif item := re.match(r"- (?:``([^`]+)``|<doc:([^>]+)>)\s*$", line):
            if not groups:
                groups.append(("Topics", []))
            groups[-1][1].append((item.group(1), item.group(2)))
    return title, re.sub(r"(?s)^\s*(.*?)\n\n.*", r"\1", body + "\n\n").replace("\n", " "), body, groups


def prepared(text, symbol_link, page_link):
    """Replaces DocC's links, ``Symbol`` and <doc:Page>, by those of Markdown. Code stays as it is."""
    lines, fence = [], None
    for line in text.split("\n"):
        if opening := re.match(r"\s*(```+|~~~+)", line):
            if fence is None:
                fence = opening.group(1)
            elif opening.group(1).startswith(fence):
                fence = None
        elif fence is None:
            line = re.sub(r"(?<!`)``([^`]+)``(?!`)", lambda link: symbol_link(link.group(1)), line)
            line = re.sub(r"<doc:([^>]+)>", lambda link: page_link(link.group(1)), line)
            line = re.sub(r"^(\s*- )(Parameter \w+|Parameters|Returns|Throws|Complexity|Note|Important|Warning):", r"\1**\2:**", line)
        lines.append(line)
    return "\n".join(lines)


def colored(match):
    """Marks comments, strings and keywords in a block of Swift, and comments in one of a shell."""
    language, code = match.groups()
    if language == "swift":
        def token(found):
            kind = found.lastgroup
            if kind == "word" and found.group() not in KEYWORDS:
                return found.group()
            return f'<span class="{kind}">{found.group()}</span>'
        code = TOKEN.sub(token, code)
    elif language == "sh":
        code = re.sub(r"(?m)(^|\s)(#[^\n]*)", r'\1<span class="comment">\2</span>', code)
    return f'<pre><code class="language-{language}">{code}</code></pre>'


def finished(markup, resolve, type_link):
    """Returns HTML whose links and images lead to pages of the site, and its headings (level, text, anchor).

    `resolve` turns a link into one of the site, or into None for a file that is no page. `type_link` does so for code
    that is the name of a type.
    """
    headings, seen = [], {}

    def heading(match):
        level, inner = int(match.group(1)), match.group(2)
        anchor = slug(plain(inner))
        seen[anchor] = seen.get(anchor, -1) + 1
        if seen[anchor]:
            anchor += f"-{seen[anchor]}"
        headings.append((level, plain(inner), anchor))
        return f'<h{level} id="{anchor}">{inner} <a class="anchor" href="#{anchor}" aria-label="Link to this section">#</a></h{level}>'

    def link(match):
        target = resolve(html.unescape(match.group(1)))
        return f'<a href="{html.escape(target)}">{match.group(2)}</a>' if target else f'<span class="file">{match.group(2)}</span>'

    def code(match):
        target = type_link(html.unescape(match.group(1)))
        return f'<a href="{html.escape(target)}">{match.group(0)}</a>' if target else match.group(0)

    markup = re.sub(r"<h([1-6])>(.*?)</h\1>", heading, markup, flags=re.S)
    markup = re.sub(r'<a href="([^"]*)">(.*?)</a>', link, markup, flags=re.S)
    # Code within links, headings and blocks is left alone.
    parts = re.split(r"(<a .*?</a>|<pre.*?</pre>|<h\d.*?</h\d>)", markup, flags=re.S)
    parts[::2] = [re.sub(r"<code>([^<]+)</code>", code, part) for part in parts[::2]]
    markup = "".join(parts)
    markup = re.sub(r'<img src="([^"]*)"', lambda image: f'<img loading="lazy" src="{html.escape(resolve(image.group(1)) or "")}"', markup)
    markup = re.sub(r'<pre><code class="language-(\w+)">(.*?)</code></pre>', colored, markup, flags=re.S)
    markup = markup.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    return markup, headings


def sections(markup):
    """Returns anchor, title and text of each part of a page, for the search."""
    parts = re.split(r'<h[1-3] id="([^"]+)">(.*?)<a class="anchor".*?</h[1-3]>', markup, flags=re.S)
    found = [("", "", plain(parts[0]))]
    for anchor, title, text in zip(parts[1::3], parts[2::3], parts[3::3]):
        found.append((anchor, plain(title), plain(text)))
    return found


def relative(target, page):
    """Returns the link from one page of the site to a path within it."""
    path, _, anchor = target.partition("#")
    link = os.path.relpath(path, os.path.dirname(page) or ".") if path else ""
    return link + (f"#{anchor}" if anchor else "")
