"""Accessible objects of a program, as a screen reader sees them over AT-SPI."""
import time

import pyatspi


def walk(node, depth=0):
    """Yields a node and all below it, with their depths."""
    yield node, depth
    for index in range(min(node.childCount, 300)):
        child = node.getChildAtIndex(index)
        if child is not None:
            yield from walk(child, depth + 1)


def has(node, state):
    return node.getState().contains(state)


def application(process, seconds):
    """Returns the root of a process's objects once it is on the bus; exits if it does not come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for one in pyatspi.Registry.getDesktop(0):
            if one is not None and one.get_process_id() == process.pid and one.childCount:
                return one
        time.sleep(0.1)
    raise SystemExit(f"accessibility: {process.args[0]} does not appear on the accessibility bus")
