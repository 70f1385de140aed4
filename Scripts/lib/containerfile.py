#!/usr/bin/env python3
"""Does the last stage of a Containerfile without a container engine.

    containerfile.py FILE show NAME           prints FROM, USER, ENTRYPOINT, HEALTHCHECK, VOLUME, or the variables of ENV
    containerfile.py FILE key                 prints a hash of the steps of `prepare`
    containerfile.py FILE prepare ROOT        copies files and runs commands in ROOT, a system of FROM's; needs root
    containerfile.py FILE add ROOT IMAGE      copies what comes from the stage before, whose /image is the folder IMAGE
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys


def steps(path):
    """Returns the steps of the last stage as pairs of instruction and text."""
    with open(path) as file:
        lines = re.sub(r"(?m)^\s*#.*\n", "", file.read()).replace("\\\n", " ").splitlines()
    pairs = [tuple(line.split(None, 1)) for line in lines if line.strip()]
    last = max(index for index, (instruction, _) in enumerate(pairs) if instruction == "FROM")
    return pairs[last:]


def copies(all_steps):
    """Returns the names of all files that come from the folder of the build."""
    return [name for instruction, text in all_steps if instruction == "COPY" and not text.startswith("--from=")
            for name in text.split()[:-1]]


def show(all_steps, name):
    texts = [text for instruction, text in all_steps if instruction == name]
    if name == "ENV":
        print("\n".join(word for text in texts for word in text.split()))
        return
    text = texts[-1]
    # Commands are lists, for which no shell is needed.
    command = re.search(r"(?:^|CMD )(\[.*\])$", text)
    print("\n".join(json.loads(command.group(1))) if command else text)


def key(all_steps):
    digest = hashlib.sha256(repr([step for step in all_steps if step[0] in ("FROM", "COPY", "RUN")]).encode())
    for name in copies(all_steps):
        with open(name, "rb") as file:
            digest.update(file.read())
    print(digest.hexdigest()[:16])


def inside(root, path):
    return os.path.join(root, path.lstrip("/"))


def prepare(all_steps, root):
    for instruction, text in all_steps:
        if instruction == "COPY" and not text.startswith("--from="):
            *names, folder = text.split()
            os.makedirs(inside(root, folder), exist_ok=True)
            for name in names:
                shutil.copy(name, inside(root, folder))
        elif instruction == "RUN":
            environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
            subprocess.run(["chroot", root, "/bin/sh", "-c", text], check=True, env=environment, stdin=subprocess.DEVNULL)


def add(all_steps, root, image):
    for instruction, text in all_steps:
        if instruction == "COPY" and text.startswith("--from="):
            _, source, folder = text.split()
            shutil.copytree(inside(image, source.removeprefix("/image")), inside(root, folder), dirs_exist_ok=True)


if __name__ == "__main__":
    _, path, action, *arguments = sys.argv
    {"show": show, "key": key, "prepare": prepare, "add": add}[action](steps(path), *arguments)
