#!/usr/bin/python3
"""Reads the accessible objects of a program as a screen reader does, over AT-SPI, and checks those of its pictures.

`accessible-window.py PROGRAM ARGUMENT...` starts the program, which prints `ready` when it is to be read.
accessibility.sh gives it a display and a session bus.
"""
import subprocess
import sys
import time

import pyatspi

import accessible
from accessible import has, walk

LIMIT = 30  # seconds

# Name, description, names of the buttons within.
PICTURES = [
    ("A cat", "A cat on a wall", []),
    ("A picture that failed", "", ["Try again"]),
    ("A picture that is loading", "", []),
    ("A dog", "A dog in a garden", []),
    ("A bird", "", []),
]


def describe(node):
    states = ((pyatspi.STATE_BUSY, "busy"), (pyatspi.STATE_FOCUSABLE, "focusable"))
    notes = [text for state, text in states if has(node, state)]
    text = f'{node.getRoleName()} "{node.name}"'
    return text + (f" ({node.description})" if node.description else "") + "".join(f" [{note}]" for note in notes)


def is_shown(node):
    return has(node, pyatspi.STATE_VISIBLE)


def check(application):
    """The faults, as sentences."""
    images = {}
    for node, _ in walk(application):
        # An image within an image is an inner widget.
        if node.getRole() == pyatspi.ROLE_IMAGE:
            images.setdefault(node.name, []).append(node)
    for name, nodes in images.items():
        if name not in [picture[0] for picture in PICTURES]:
            yield f'there is an image "{name}", which nobody named'
        if len(nodes) > 1:
            yield f'"{name}" is there {len(nodes)} times'
    for name, description, buttons in PICTURES:
        if name not in images:
            yield f'there is no image "{name}"'
            continue
        node = images[name][0]
        if node.description != description:
            yield f'the description of "{name}" is "{node.description}" instead of "{description}"'
        inner = [child for child, depth in walk(node) if depth > 0 and is_shown(child)]
        found = [child for child in inner if child.getRole() == pyatspi.ROLE_PUSH_BUTTON]
        if [child.name for child in found] != buttons:
            yield f'"{name}" has the buttons {[child.name for child in found]} instead of {buttons}'
        for button in found:
            if not has(button, pyatspi.STATE_FOCUSABLE):
                yield f'the button "{button.name}" of "{name}" cannot be reached by the keyboard'
            if button.description == button.name:
                yield f'the name of the button "{button.name}" is spoken twice'
        within = [child for button in found for child, depth in walk(button) if depth > 0]
        for child in inner:
            if child not in found and child not in within:
                yield f'"{name}" has an inner {describe(child)}'
        for child in within:
            yield f'a button of "{name}" has an inner {describe(child)}'
        is_busy = has(node, pyatspi.STATE_BUSY)
        if is_busy != (name == "A picture that is loading"):
            yield f'"{name}" is {"busy" if is_busy else "not busy"}'


def main():
    program = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    try:
        if program.stdout.readline().strip() != "ready":
            sys.exit("accessibility: the program ended before its pictures were there")
        application = accessible.application(program, LIMIT)
        end = time.monotonic() + LIMIT / 10
        # Changes travel over the bus: the last ones may still be under way.
        while (faults := list(check(application))) and time.monotonic() < end:
            time.sleep(0.2)
        for node, depth in walk(application):
            print("  " * depth + describe(node))
    finally:
        program.kill()
    for fault in faults:
        print(f"accessibility: {fault}", file=sys.stderr)
    print(f"{len(PICTURES)} pictures, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
