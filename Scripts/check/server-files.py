#!/usr/bin/env python3
"""Has a thumbnail server make thumbnails of hostile files, and checks what it answers.

    server-files.py ATTACK URL --pid PID --local NAME --root FOLDER

The attacks: `files` asks for all below FOLDER/hostile; `drawings` are SVG with scripts, links and entities; `poison` asks
for like images in many ways, and checks that each clean answer stays what it was; `signatures` of --key and --salt are
forged, altered and moved, and URLs are used after their time.
"""
import base64
import hashlib
import hmac
import os
import random
import re
import socket
import threading
import time
from collections import Counter

from checks import check, finish
from services import children, memory
from raw_http import PATIENCE, Honest, Target, attack_arguments, field


def workers(pid):
    """Returns megabytes of all processes that the server has started."""
    sizes = [memory(child) for child in children(pid)]
    return sum(size for size in sizes if size == size)


def files(server, arguments):
    """Damaged files and those that ask for gigabytes or for ever, each as it comes."""
    names = [os.path.relpath(os.path.join(folder, name), arguments.root)
             for folder, _, found in os.walk(os.path.join(arguments.root, "hostile")) for name in found]
    names.sort()
    random.Random(24).shuffle(names)
    forms = ["/_/rs:fit:300:300/plain/local:///{}@jpg", "/_/rs:fill:64:48/plain/local:///{}@webp", "/info/_/plain/local:///{}",
             "/_/w:200/plain/local:///{}@png", "/_/rs:fill:120:90/g:sm/sm:0/plain/local:///{}@jpg", "/_/plain/local:///{}@gif"]
    lock, rest, statuses, longest, peak = threading.Lock(), list(enumerate(names)), Counter(), [(0, "")], [0]
    odd = []

    def worker():
        while True:
            with lock:
                # The first ones without an answer are those that have ended the server.
                if not rest or statuses[0] > 8:
                    return
                index, name = rest.pop()
            target = forms[index % len(forms)].format(name)
            began = time.monotonic()
            status, _, body = server.ask(target, "X-Forwarded-For: 203.0.113.1\r\n", timeout=60)
            seconds = time.monotonic() - began
            with lock:
                statuses[status] += 1
                longest[0] = max(longest[0], (seconds, name))
                if status not in (200, 404, 422, 504) or seconds > 30 * PATIENCE:
                    odd.append((status, f"{seconds:.1f} s", target, body[:100]))

    def watch():
        while not ends.wait(0.5):
            peak[0] = max(peak[0], memory(arguments.pid) + workers(arguments.pid))

    ends = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    threads = [threading.Thread(target=worker) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ends.set()
    watcher.join()
    print(f"  {len(names)} files: {dict(sorted(statuses.items()))}; the longest took {longest[0][0]:.1f} s ({longest[0][1]})")
    print(f"  the server took up to {memory(arguments.pid, 'VmHWM'):.0f} MB, with its workers up to {peak[0]:.0f} MB")
    for each in odd[:20]:
        print(f"    {each}")
    check(not rest, f"{len(rest)} files are left")
    check(not odd, f"{len(odd)} answers were neither an image nor a refusal, or late")
    check(memory(arguments.pid, "VmHWM") < 600 * PATIENCE, "the server's memory is bounded")


def drawings(server, arguments):
    """SVG with scripts, links and entities: pictures are made of it, or it comes with a policy that lets nothing in it act."""
    asked = []
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            connection, address = listener.accept()
            asked.append(address)
            connection.close()

    threading.Thread(target=accept, daemon=True).start()
    outside = f"http://127.0.0.1:{listener.getsockname()[1]}/asked"
    head = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="60" height="40">'
    bodies = {
        "script": '<script>fetch("%s")</script><rect width="60" height="40" fill="red"/>' % outside,
        "onload": '<rect width="60" height="40" fill="red" onload="alert(1)"/>',
        "foreign": '<foreignObject width="60" height="40"><iframe xmlns="http://www.w3.org/1999/xhtml" src="%s"/></foreignObject>' % outside,
        "image": '<image width="60" height="40" xlink:href="%s"/><rect width="9" height="9"/>' % outside,
        "file": '<image width="60" height="40" xlink:href="file:///etc/passwd"/><rect width="9" height="9"/>',
        "neighbour": '<image width="60" height="40" xlink:href="../%s"/><rect width="9" height="9"/>' % arguments.local,
        "style": '<style>@import url("%s"); rect { fill: url("%s#a") }</style><rect width="9" height="9"/>' % (outside, outside),
        "use": '<use xlink:href="%s#a"/><rect width="9" height="9"/>' % outside,
        "link": '<a xlink:href="javascript:alert(1)"><rect width="60" height="40" fill="red"/></a>',
    }
    texts = {name: head + body + "</svg>" for name, body in bodies.items()}
    texts["entity"] = ('<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + head + "<text y='20'>&x;</text></svg>")
    texts["laughs"] = ('<!DOCTYPE svg [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {b} "{("&" + a + ";") * 10}">' for a, b in zip("abcdefgh", "bcdefghi")) + "]>" + head + "<text>&i;</text></svg>")
    texts["remote"] = ('<!DOCTYPE svg SYSTEM "%s">' % outside + head + '<rect width="9" height="9"/></svg>')
    folder = os.path.join(arguments.root, "drawings")
    os.makedirs(folder, exist_ok=True)
    for name, text in texts.items():
        with open(os.path.join(folder, name + ".svg"), "w") as file:
            file.write(text)
    wrong, pictures, inert = [], 0, 0
    for name in texts:
        for ending in ("", "@png", "@webp", "@svg"):
            status, answer, body = server.ask(f"/_/plain/local:///drawings/{name}.svg{ending}", timeout=60)
            kind = field(answer, "Content-Type")
            policy = field(answer, "Content-Security-Policy")
            is_safe = (status in (200, 400, 422) and field(answer, "X-Content-Type-Options") == "nosniff"
                       and policy == "default-src 'none'; style-src 'unsafe-inline'; sandbox")
            # Without an extension a drawing is passed on, as it is.
            is_inert = ending == "" and status == 200 and kind == "image/svg+xml" and body == texts[name].encode()
            is_picture = (not re.search(rb"<svg|<script|<!DOCTYPE|root:", body)
                          and (status != 200 or kind in ("image/png", "image/webp", "image/jpeg", "image/avif")))
            is_right = is_safe and (is_inert or is_picture)
            pictures += status == 200 and not is_inert
            inert += is_inert
            if not is_right or ending == "@svg" and status != 400:
                wrong.append((name, ending, status, kind, body[:60]))
    print(f"  {len(texts)} drawings in four ways, {pictures} became pictures, {inert} came as they are")
    for each in wrong:
        print(f"    {each}")
    check(pictures > 0 and inert > 0 and not wrong, f"{len(wrong)} answers were more than a harmless picture or drawing")
    check(not asked, f"{len(asked)} links to another server were followed")


def poison(server, arguments):
    """Like images with other fields and spellings: who asks plainly gets the same as before."""
    name = arguments.local
    plain = [f"/_/rs:fit:80:80/plain/local:///{name}", f"/_/rs:fit:80:80/q:30/plain/local:///{name}",
             f"/_/rs:fit:60:60/plain/local:///{name}@png", f"/?src=local:///{name}&w=80&h=80"]
    accepts = ["", "Accept: image/webp\r\n", "Accept: image/avif,image/webp\r\n", "Accept: */*\r\n"]

    def reference():
        answers = {}
        for target in plain:
            for accept in accepts:
                status, head, body = server.ask(target, accept)
                answers[target, accept] = (status, field(head, "Content-Type"), field(head, "Vary"), field(head, "ETag"),
                                           hashlib.sha256(body).hexdigest())
        return answers

    first = reference()
    check(all(answer[0] == 200 for answer in first.values()), "clean requests are served")
    check(first[plain[0], ""][1] != first[plain[0], accepts[1]][1], "the format follows Accept")
    check(all("Accept" in first[plain[0], accept][2] for accept in accepts), "Vary names Accept, with it and without")
    check(all("Accept" not in first[plain[2], accept][2] for accept in accepts), "Vary does not, where the URL names the format")
    numbers = random.Random(24)
    odd = ["X-Forwarded-Host: evil.invalid", "X-Original-URL: /_/w:1/plain/local:///x.jpg", "X-Rewrite-URL: /health", "Host: evil.invalid",
           "X-HTTP-Method-Override: PURGE", "Accept: image/webp;q=0, image/avif;q=0", "Accept: image/webp;q=1e9", "Range: bytes=0-9",
           "Accept: " + "image/webp," * 500, "Accept: image/webp\r\nAccept: image/avif", "If-None-Match: *", "Accept-Encoding: gzip",
           "Sec-CH-DPR: 4", "DPR: 1e9", "Width: 10", "Sec-CH-Width: -1", "Save-Data: on", "Cookie: a=b", "Cache-Control: no-cache",
           "If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT", "Origin: http://evil.invalid", "Content-Length: 0", "Vary: *"]
    spellings = ["/_/rs:fit:80:80/rs:fit:10:10/plain/local:///{}", "/_/rs:fit:80:80/plain/local:///{}@", "/_/rs:fit:80:80//plain/local:///{}",
                 "/_/rs:fit:80:80/plain/local:////{}", "/_/rs%3Afit%3A80%3A80/plain/local:///{}", "/x/rs:fit:80:80/plain/local:///{}",
                 "/_/rs:fit:80:80/plain/local:///{}?q=30", "/_/rs:fit:80:80/plain/local:///{}#q:30", "/_/rs:fit:80:80/plain/local:///{}@jpg",
                 "/?src=local:///{}&w=80&h=80&q=30", "/?w=80&h=80&src=local:///{}", "/?src=local:///{}&w=80&h=80&w=10",
                 "/_/rs:fit:80:80/q:31/plain/local:///{}", "/_/rs:fit:80:81/plain/local:///{}", "/_/w:80/h:80/plain/local:///{}"]
    tags, strange = {}, 0
    for _ in range(3000):
        target = numbers.choice([numbers.choice(plain), numbers.choice(spellings).format(name)])
        fields = "".join(line + "\r\n" for line in numbers.sample(odd, numbers.randint(0, 3)))
        method = numbers.choice(["GET", "GET", "GET", "HEAD", "PURGE", "DELETE", "OPTIONS"])
        status, head, body = server.ask(target, fields, method)
        strange += status not in (200, 204, 304, 400, 401, 403, 404, 405)
        if status == 200 and method == "GET":
            tags.setdefault(field(head, "ETag"), set()).add((field(head, "Content-Type"), hashlib.sha256(body).hexdigest()))
    check(strange == 0, f"{strange} of 3000 odd requests had an odd status")
    check(all(len(bodies) == 1 for bodies in tags.values()), f"{len(tags)} validators, each of one image")
    second = reference()
    check(second == first, f"{sum(first[key] == second[key] for key in first)} of {len(first)} clean answers are what they were")
    status, head, _ = server.ask(plain[0], f"If-None-Match: {first[plain[1], ''][3]}\r\n")
    check(status == 200, "the validator of another image is none of this one")


def signatures(server, arguments):
    """Signatures that are forged, altered, moved and late."""
    key, salt = bytes.fromhex(arguments.key), bytes.fromhex(arguments.salt)

    def signature(text, key=key, salt=salt):
        return base64.urlsafe_b64encode(hmac.new(key, salt + text.encode(), hashlib.sha256).digest()).decode().rstrip("=")

    path = f"/rs:fit:80:80/plain/local:///{arguments.local}@jpg"
    query = f"src=local:///{arguments.local}&w=80&h=80"
    info, late = f"/info/plain/local:///{arguments.local}", int(time.time())
    # A query behind a path with options counts for nothing, so it forges nothing.
    good = {f"/{signature(path)}{path}": 200, f"/{signature(path)}{path}?q:1": 200, f"/?{query}&sig={signature('/?' + query)}": 200, f"/info/{signature(info)}{info[5:]}": 200,
            f"/{signature(f'/exp:{late + 600}{path}')}/exp:{late + 600}{path}": 200}
    statuses = {target: server.ask(target)[0] for target in good}
    check(statuses == good, f"{sum(statuses[target] == 200 for target in good)} of {len(good)} good signatures are served")
    own, bad = signature(path), []
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for place in range(len(own)):
        for digit in random.Random(place).sample(digits, 6):
            if digit != own[place]:
                bad.append(f"/{own[:place]}{digit}{own[place + 1:]}{path}")
    bad += [f"/{own[:length]}{path}" for length in range(1, len(own))] + [f"/{own}{tail}{path}" for tail in ("A", "=", "==", "%00", "%3D", " ")]
    bad += [f"/{each}{path}" for each in ("_", "unsafe", "insecure", "", "%5F", own.lower(), own[::-1], own + own)]
    for text, wrong_key, wrong_salt in [(path, b"", salt), (path, key, b""), (path, salt, key), (path, key + b"\1", salt), (path, b"secret2", salt)]:
        bad.append(f"/{signature(text, wrong_key or b'0', wrong_salt)}{path}")
    for changed in (path.replace("80:80", "81:80"), path.replace("@jpg", "@png"), path.replace("/rs", "//rs"), path.replace("rs:", "RS:"),
                    path.replace("local:///", "local:////"), path.replace("/rs:", "/q:1/rs:"), path + "%20", "/" + path, path.replace("plain", "plaIn")):
        bad.append(f"/{own}{changed}")
    bad += [f"/info/{own}{path}", f"/{signature(info)}{info[5:]}", f"/?{query}&sig={own}", f"/{signature('/?' + query)}{path}",
            f"/?{query}", f"/?{query}&sig=", f"/?sig={signature('/?' + query)}&{query}", f"/?{query}&w=90&sig={signature('/?' + query)}",
            f"/?{query}&sig={signature('/?' + query)}&sig={signature('/?' + query)}", f"/?{query}&h=80&sig={signature('/?' + query)}"]
    expired = [f"/exp:{late - 1}{path}", f"/exp:1{path}", f"/exp:{late + 600}/exp:{late - 5}{path}", f"/exp:{late - 5}/exp:{late + 600}{path}"]
    bad += [f"/{signature(each)}{each}" for each in expired]
    soon = f"/exp:{late + 600}{path}"
    bad += [f"/{signature(soon)}{soon.replace(str(late + 600), str(late + 601))}", f"/{signature(soon)}{path}", f"/{own}{soon}"]
    passed = []
    for target in bad:
        status, _, body = server.ask(target)
        if status not in (0, 400, 403, 404, 414):
            passed.append((status, target))
    for each in passed:
        print(f"    {each}")
    check(not passed, f"{len(bad)} bad signatures, {len(passed)} of them served")


def main():
    attacks = {attack.__name__: attack for attack in (files, drawings, poison, signatures)}

    def add(parser):
        parser.add_argument("--key", default="", help="in hexadecimal")
        parser.add_argument("--salt", default="", help="in hexadecimal")

    arguments = attack_arguments(__doc__, attacks, add)
    server = Target(arguments.server)
    print(f"{arguments.attack}: {attacks[arguments.attack].__doc__.split(':')[0].rstrip('.')}")
    honest = Honest(server, arguments.local) if arguments.attack == "files" else None
    if honest:
        honest.start()
    attacks[arguments.attack](server, arguments)
    if honest:
        check(honest.finish() == 0, "honest clients were served")
    finish()


main()
