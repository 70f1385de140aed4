#!/usr/bin/env python3
"""Sends a thumbnail server the requests of strangers who mean harm, and says which of them it did not refuse.

    server-urls.py http://127.0.0.1:8080 [--signed] [--local NAME] [--mutants N]

Requests are written to the socket as they are, since clients would tidy them up. A server that needs signatures is
attacked with --signed: then everything must be 403. --local names a file below its folder that must be served after each
group; a server that needs signatures must still be alive.
"""
import argparse
import random
import sys

from raw_http import Target

ADDRESSES = """127.0.0.1 127.1 127.0.1 0177.0.0.1 0x7f.0.0.1 0x7f.1 2130706433 0x7f000001 017700000001 127.0.0.1.
%31%32%37.0.0.1 0.0.0.0 0 [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1]
[64:ff9b::7f00:1] [2002:7f00:1::] [::ffff:0:127.0.0.1] [fe80::1] [fc00::1] [fd00:ec2::254] 10.0.0.1 10.1 172.16.0.1
192.168.1.1 192.168.257 3232235777 169.254.169.254 169.254.43518 0xa9fea9fe 2852039166 0251.0376.0251.0376
[::ffff:169.254.169.254] 100.100.100.200 168.63.129.16 224.0.0.1 255.255.255.255 localhost localhost.
LOCALHOST localtest.invalid""".split()

PATHS = """../etc/passwd ..%2fetc%2fpasswd %2e%2e/etc/passwd %2E%2E%2Fetc%2Fpasswd a/../../etc/passwd
a%2f..%2f..%2fetc%2fpasswd ./etc/passwd /etc/passwd //etc/passwd %2fetc%2fpasswd %252e%252e%252fetc%252fpasswd
..%5cetc%5cpasswd ..%c0%afetc%c0%afpasswd %c0%ae%c0%ae/etc/passwd a%00.jpg a%0a.jpg proc/self/environ
dev/zero ..;/etc/passwd""".split()

OPTIONS = """rs:fill:999999:999999 w:-1 w:1e9 w:0x10 w:99999999999999999999 dpr:nan dpr:1e308 z:100000 pd:65535
rot:45 bl:100000 q:0x50 f:svg f:html raw:1 g:fp:nan:nan c:-1:-1 wm:0.5:re fn:..%2f..%2fx fn:a%0d%0aSet-Cookie:x att:2
pr:../../x unknown:1 W:100 %00:1 w:%00 rs:fill:100:100:1:1:1:1:1:1:1""".split()

SOURCES = """file:///etc/passwd ftp://example.com/a gopher://127.0.0.1:6379/_x javascript:alert(1)
data:image/svg+xml,%3Csvg%3E http://user:password%40example.com/ http://example.com:22/ http://example.com:65536/
http://%00/ http:// http:///a https:a //example.com/a http://example.com%0d%0aX:/ enc/AAAA !!!! AAAA= http://[::1""".split()


def targets(mutants):
    """Yields groups of targets with names."""
    yield "private addresses", [f"/_/w:10/plain/http://{host}/a.jpg" for host in ADDRESSES]
    yield "private addresses in queries", [f"/?src=http://{host}/a.jpg&w=10" for host in ADDRESSES]
    yield "ways out of the folder", [f"/_/w:10/plain/local:///{path}" for path in PATHS]
    yield "options", [f"/_/{option}/plain/local:///a.jpg" for option in OPTIONS]
    yield "sources", [f"/_/w:10/plain/{source}" for source in SOURCES] + [f"/_/{source}" for source in SOURCES]
    yield "lengths", [
        "/" + "a" * 100_000,
        "/_/" + "w:1/" * 1000 + "plain/local:///a.jpg",
        "/_/plain/local:///" + "a/" * 3000,
        "/?" + "&".join(f"w{index}=1" for index in range(2000)),
    ]
    numbers = random.Random(24)
    usual = "/_/rs:fill:300:200/q:80/plain/http://127.0.0.1:1/a.jpg@webp"
    changed = []
    for _ in range(mutants):
        text = list(usual)
        for _ in range(numbers.randint(1, 3)):
            place = numbers.randrange(len(text))
            text[place] = numbers.choice(["", "%", "/", ":", "@", "..", "%2f", "%00", "\x01", "\x7f", "\xff", text[place] * 2])
        changed.append("".join(text).replace(" ", "") or "/")
    yield "mutants", changed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("--signed", action="store_true", help="the server needs signatures")
    parser.add_argument("--local", help="a file that must be served")
    parser.add_argument("--mutants", type=int, default=500)
    arguments = parser.parse_args()
    server = Target(arguments.server)
    failures = 0

    def check_honest(name):
        nonlocal failures
        if not arguments.local:
            return
        honest = "/health" if arguments.signed else f"/_/w:10/plain/local:///{arguments.local}@jpg"
        status, _, _ = server.ask(honest)
        if status != 200:
            failures += 1
            print(f"an honest request after {name}: {status}")

    for name, group in targets(arguments.mutants):
        wrong = []
        for target in group:
            status, head, body = server.ask(target)
            # A name that does not resolve, or a file that is not there, is found out only when it is loaded.
            good = status in ((400,) if name == "options" else (0, 400, 403, 404, 414, 431, 502, 504))
            if arguments.signed:
                good = status in (0, 400, 403, 404, 414, 431)
            leaks = b"root:" in body or b"/usr/" in body or b"Set-Cookie" in head or b"<svg" in body
            if not good or leaks:
                wrong.append((status, target))
        print(f"{name}: {len(group)} requests, {len(wrong)} not refused")
        for status, target in wrong[:20]:
            print(f"  {status} {target[:150]!r}")
        failures += len(wrong)
        check_honest(name)
    sys.exit(1 if failures else 0)


main()
