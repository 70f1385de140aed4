"""What the attacks on a thumbnail server share: requests as they are, an honest client, what is checked."""
import argparse
import os
import re
import socket
import threading
import time
from urllib.parse import urlsplit

from load import percentile

# A sanitizer makes a server slower and larger: bounds of time and memory are multiplied by it.
PATIENCE = float(os.environ.get("PATIENCE", "1"))


class Target:
    """A server under attack."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.host, self.port = parts.hostname, parts.port or 80

    def connect(self, timeout=20):
        connection = socket.create_connection((self.host, self.port), timeout=timeout * PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def request(self, target, fields="", method="GET", closes=True):
        end = "Connection: close\r\n" if closes else ""
        return f"{method} {target} HTTP/1.1\r\nHost: {self.host}\r\n{end}{fields}\r\n".encode("latin-1")

    def ask(self, target, fields="", method="GET", timeout=20):
        """Returns the status, the head and the body of an answer; status 0 if there was none."""
        answer = b""
        try:
            with self.connect(timeout) as connection:
                connection.sendall(self.request(target, fields, method))
                while part := connection.recv(1 << 16):
                    answer += part
        except (ConnectionError, TimeoutError, OSError):
            # What came before it was cut may be an answer.
            pass
        return parsed(answer)


def parsed(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    return (int(words[1]) if len(words) > 1 and words[1].isdigit() else 0), head, body


def field(head, name):
    """Returns the value of a field as text, empty if it is not there."""
    found = re.search(rb"(?im)^" + re.escape(name.encode()) + rb":[ \t]*(.*?)\r?$", head)
    return found.group(1).decode("latin-1") if found else ""


class Honest(threading.Thread):
    """A client who means well, of an address of its own: asks for an image that is known, and for new ones."""

    def __init__(self, target, name, makes_new=True):
        super().__init__(daemon=True)
        self.target, self.name_, self.makes_new = target, name, makes_new
        self.answers, self.ends = [], threading.Event()
        self.number = int.from_bytes(os.urandom(4), "big")

    def run(self):
        fields = "X-Forwarded-For: 192.0.2.7\r\n"
        while not self.ends.is_set():
            for new in (False, True) if self.makes_new else (False,):
                self.number += 1
                options = f"w:40/cb:{self.number}" if new else "w:40"
                began = time.perf_counter()
                status, _, _ = self.target.ask(f"/_/{options}/plain/local:///{self.name_}@jpg", fields)
                self.answers.append((status, time.perf_counter() - began, new))
            self.ends.wait(0.1)

    def finish(self):
        """Returns the number of answers that were not right, and says how long they took."""
        self.ends.set()
        self.join()
        wrong = [answer for answer in self.answers if answer[0] != 200]
        times = sorted(answer[1] * 1000 for answer in self.answers)
        print(f"  meanwhile {len(times)} honest requests, {len(wrong)} not served; median {percentile(times, 0.5):.1f} ms, "
              f"99 % within {percentile(times, 0.99):.0f} ms, longest {times[-1]:.0f} ms")
        for status, seconds, new in wrong[:5]:
            print(f"    {'a new image' if new else 'a known one'}: status {status} after {seconds * 1000:.0f} ms")
        return len(wrong)


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def attack_arguments(text, attacks, add=lambda parser: None):
    """Returns what a script was given that attacks a server; `add` declares more."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attack", choices=attacks)
    parser.add_argument("server")
    parser.add_argument("--pid", type=int, required=True, help="the server's process")
    parser.add_argument("--local", required=True, help="a photograph below the server's folder")
    parser.add_argument("--root", required=True, help="that folder")
    add(parser)
    return parser.parse_args()
