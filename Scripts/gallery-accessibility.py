#!/usr/bin/python3
"""Reads the gallery as a screen reader does, over AT-SPI: everything that can be used must have a name.

`gallery-accessibility.py PROGRAM FOLDER`; `make gallery-accessibility` gives it a display and a session bus.
"""
import subprocess
import sys
import time

import pyatspi

LIMIT = 60  # seconds
NAMED = {pyatspi.ROLE_PUSH_BUTTON, pyatspi.ROLE_TOGGLE_BUTTON, pyatspi.ROLE_IMAGE, pyatspi.ROLE_TABLE_CELL}


def walk(node, depth=0):
    yield node, depth
    for index in range(min(node.childCount, 200)):
        child = node.getChildAtIndex(index)
        if child is not None:
            yield from walk(child, depth + 1)


def shown(node):
    return node.getState().contains(pyatspi.STATE_SHOWING) or node.getState().contains(pyatspi.STATE_VISIBLE)


def find(identity):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        for application in pyatspi.Registry.getDesktop(0):
            if application is not None and application.get_process_id() == identity and application.childCount:
                return application
        time.sleep(0.2)
    sys.exit("gallery-accessibility: the gallery does not appear on the accessibility bus")


def main():
    program = subprocess.Popen([sys.argv[1], "--new-instance", "--times", sys.argv[2]], stdout=subprocess.PIPE, text=True)
    try:
        program.stdout.readline()
        application = find(program.pid)
        time.sleep(1)
        faults, counts = [], {}
        for node, depth in walk(application):
            if not shown(node):
                continue
            role = node.getRole()
            counts[node.getRoleName()] = counts.get(node.getRoleName(), 0) + 1
            if depth < 9 or node.name:
                print("  " * depth + f'{node.getRoleName()} "{node.name}"')
            if role in NAMED and not node.name:
                # An icon within a named button says nothing of its own.
                if node.parent is not None and node.parent.name:
                    continue
                # The window's own buttons are GTK's.
                if "window" in str(node.description).lower():
                    continue
                faults.append(f'a {node.getRoleName()} within "{node.parent.getRoleName()}" has no name')
    finally:
        program.kill()
    for fault in faults:
        print(f"gallery-accessibility: {fault}", file=sys.stderr)
    print(", ".join(f"{count} × {name}" for name, count in sorted(counts.items())))
    print(f"{len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
