#!/usr/bin/python3
"""Uses the gallery with the keyboard alone and reads it as a screen reader does, over AT-SPI.

`accessible-gallery.py PROGRAM FOLDER`; accessibility.sh gives it a display and a session bus. Everything that
can be used must have a role and a name, and must be reached by keys. The check presses them.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pyatspi

import accessible
from accessible import has, walk

LIMIT = 20  # seconds for a step
USABLE = {pyatspi.ROLE_PUSH_BUTTON, pyatspi.ROLE_TOGGLE_BUTTON, pyatspi.ROLE_IMAGE, pyatspi.ROLE_TABLE_CELL,
          pyatspi.ROLE_MENU_ITEM, pyatspi.ROLE_RADIO_MENU_ITEM, pyatspi.ROLE_CHECK_MENU_ITEM, pyatspi.ROLE_ENTRY,
          pyatspi.ROLE_TEXT, pyatspi.ROLE_TABLE, pyatspi.ROLE_LIST}
WINDOW_BUTTONS = {"Minimize", "Maximize", "Close", "Restore"}
faults = []


def fault(text):
    faults.append(text)
    print(f"accessibility: {text}", file=sys.stderr, flush=True)


def nodes():
    """All that is shown, from the window downwards; nodes that go meanwhile are passed over."""
    try:
        for node, depth in walk(application):
            if has(node, pyatspi.STATE_SHOWING) or has(node, pyatspi.STATE_VISIBLE):
                yield node, depth
    except Exception as error:  # pyatspi raises GLib's errors for objects that are gone.
        print("  the tree has changed:", error)


def focused():
    for node, _ in nodes():
        if has(node, pyatspi.STATE_FOCUSED) and node.getRole() != pyatspi.ROLE_FRAME:
            return node
    return None


def describe(node):
    return f'{node.getRoleName()} "{node.name}"' if node is not None else "nothing"


def title():
    return application.getChildAtIndex(0).name if application.childCount else ""


def keys(*names):
    subprocess.run(["xdotool", "key", "--delay", "40", *names], check=True)


def wait(what, isDone):
    """Waits for something that a screen reader can notice."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if program.poll() is not None:
            fault(f"{what}: the gallery has ended")
            return None
        try:
            found = isDone()
        except Exception:  # An object that is just going.
            found = None
        if found:
            print(f"{what}: {found if isinstance(found, str) else describe(found) if hasattr(found, 'getRole') else 'yes'}",
                  flush=True)
            return found
        time.sleep(0.1)
    fault(f"{what}: not within {LIMIT} s; the focus is at {describe(focused())}, the title is {title()}")
    return None


def named(name, *roles):
    for node, _ in nodes():
        if node.name == name and (not roles or node.getRole() in roles):
            return node
    return None


def check_names(page):
    """Reports what can be used and has no name."""
    counts, unnamed = {}, 0
    for node, depth in nodes():
        role = node.getRole()
        counts[node.getRoleName()] = counts.get(node.getRoleName(), 0) + 1
        if "-v" in sys.argv:
            print("  " * depth + describe(node))
        if role in USABLE and not node.name:
            # An icon or an inner part within a named one says nothing of its own.
            parent = node.parent
            if parent is not None and (parent.name or (parent.parent is not None and parent.parent.name)):
                continue
            # The window's own buttons are GTK's.
            if role == pyatspi.ROLE_IMAGE:
                continue
            unnamed += 1
            fault(f'{page}: a {node.getRoleName()} within {describe(parent)} has no name')
    print(f"{page}: {', '.join(f'{count} {name}' for name, count in sorted(counts.items()))}; {unnamed} without a name")


def reach(page, wanted):
    """Walks through the page with Tab; all of the names must be met."""
    met = []
    for _ in range(40):
        keys("Tab")
        time.sleep(0.15)
        node = focused()
        if node is not None:
            met.append(node.name)
        if set(wanted) <= set(met):
            break
    missing = set(wanted) - set(met)
    if missing:
        fault(f"{page}: Tab does not reach {', '.join(sorted(missing))}, only {', '.join(dict.fromkeys(met))}")
    else:
        print(f"{page}: Tab reaches {', '.join(wanted)}")


def shown_pictures():
    return [node for node, _ in nodes() if node.getRole() in (pyatspi.ROLE_TABLE_CELL, pyatspi.ROLE_LIST_ITEM)]


def zoom_text():
    # The grid's picture of the same name, on a page that is not shown, has none.
    return next((node.description for node, _ in nodes() if node.name == title() and "%" in node.description), "")


def main():
    def width():
        window = subprocess.run(["xdotool", "getactivewindow", "getwindowgeometry", "--shell"], capture_output=True, text=True)
        return int(window.stdout.split("WIDTH=")[1].split()[0])

    def place():
        node = focused()
        return node.name if node is not None else ""

    wait("the grid has the keyboard", lambda: place() == first.name and focused())
    check_names("grid")
    keys("Right")
    wait("Right goes to the next picture", lambda: place() == second.name and place())
    keys("Home", "Return")
    wait("Return opens it", lambda: title() == first.name and title())
    wait("the photograph has the keyboard", lambda: place() == first.name and focused())
    check_names("photograph")
    reach("photograph", ["Back to All Pictures", "Previous Picture", "Next Picture", "Zoom In", "Zoom Out", "Information", "Menu",
                         first.name])
    keys("Right")
    wait("Right shows the next one", lambda: title() == second.name and title())
    before = wait("its zoom is said", zoom_text)
    keys("plus", "plus")
    wait("+ enlarges it", lambda: zoom_text() != before and zoom_text())
    keys("0")
    wait("0 shows the whole again", lambda: zoom_text() == before and (before or "yes"))
    keys("F9")
    wait("F9 shows the information", lambda: any("Pixels" in node.name for node, _ in nodes()))
    check_names("information")
    keys("F9")
    crop()
    background()
    keys("F11")
    wait("F11 fills the screen", lambda: width() == 1280)
    keys("F11")
    keys("Delete")
    wait("Delete moves it to the trash", lambda: not second.exists())
    wait("the next one is there", lambda: title() == third.name and title())
    wait("it is said", lambda: any(second.name in node.name and node.name != second.name for node, _ in nodes()))
    keys("ctrl+z")
    wait("Control+Z undoes it", lambda: second.exists() and title() == second.name and title())
    keys("Escape")
    wait("Escape goes back", lambda: title() == folder.name and title())
    wait("the grid is at the picture", lambda: place() == second.name and place())
    reach("grid", ["Open a Folder…", "Search by Name", "Information", "Menu", second.name])
    keys("ctrl+f", "Escape")
    wait("the grid has the keyboard again", lambda: focused() is not None and focused().getRole() == pyatspi.ROLE_TABLE_CELL)
    count = len(shown_pictures())
    keys("ctrl+f")
    wait("Control+F goes to the search", lambda: focused() is not None and focused().getRole() in (
        pyatspi.ROLE_TEXT, pyatspi.ROLE_ENTRY, pyatspi.ROLE_PASSWORD_TEXT) and focused())
    subprocess.run(["xdotool", "type", "--delay", "40", third.stem], check=True)
    wait("the search finds one", lambda: len(shown_pictures()) == 1)
    check_names("search")
    keys("Return")
    wait("Return goes to what was found", lambda: place() in (third.name, "Pictures") and place())
    keys("Escape")
    wait("Escape ends the search", lambda: len(shown_pictures()) == count)
    keys("F10")
    wait("F10 opens the menu", lambda: named("Reload", pyatspi.ROLE_MENU_ITEM))
    check_names("menu")
    keys("Escape")
    wait("Escape closes it", lambda: named("Reload", pyatspi.ROLE_MENU_ITEM) is None)
    keys("ctrl+shift+s")
    wait("the statistics can be read", lambda: any("Memory" in node.name for node, _ in nodes()))
    keys("ctrl+q")
    end = time.monotonic() + LIMIT
    while program.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    if program.poll() != 0:
        fault(f"Control+Q: the gallery ended with {program.poll()}")
    else:
        print("Control+Q quits")


def said(text):
    return any(text in node.name for node, _ in nodes())


def crop():
    """Crops the open photograph, by keys, and undoes it."""
    def size():
        return next((node.description for node, _ in nodes() if node.name == second.name and "pixels" in node.description), "")

    original = second.read_bytes()
    keys("c")
    wait("c frames a part", lambda: named("Save", pyatspi.ROLE_PUSH_BUTTON))
    before = wait("its size is said, and what saving does", lambda: "without loss" in size() and size())
    check_names("crop")
    keys("shift+Left", "shift+Left")
    wait("Shift and an arrow make it smaller", lambda: size() not in ("", before) and size())
    keys("p", "p", "Return")
    wait("Return saves it without loss", lambda: said("Saved without loss") and second.read_bytes() != original)
    wait("the frame is gone", lambda: named("Save", pyatspi.ROLE_PUSH_BUTTON) is None)
    keys("ctrl+z")
    wait("Control+Z puts the file back", lambda: second.read_bytes() == original)
    keys("c")
    wait("c frames a part again", lambda: named("Save", pyatspi.ROLE_PUSH_BUTTON))
    keys("Escape")
    wait("Escape leaves it", lambda: named("Save", pyatspi.ROLE_PUSH_BUTTON) is None and title() == second.name)


def background():
    """Sets the background, with a portal that has such a service and without one."""
    target = home / "background"
    portal = subprocess.Popen([sys.executable, "Scripts/lib/fake-portal.py", str(target)], stdout=subprocess.PIPE, text=True)
    try:
        portal.stdout.readline()
        keys("ctrl+F8")
        wait("the portal has the picture", lambda: target.exists() and target.read_bytes()[:3] == b"\xff\xd8\xff")
        wait("it is said", lambda: said("The picture is given to the desktop as its background"))
    finally:
        portal.kill()
        portal.wait()
    keys("ctrl+F8")
    wait("without a portal it is said that there is none", lambda: said("This desktop offers no way to set its background"))


home = pathlib.Path(tempfile.mkdtemp())
folder = home / "pictures"
folder.mkdir()
for file in sorted(pathlib.Path(sys.argv[2]).glob("*.jpg"))[:6]:
    shutil.copy(file, folder)
first, second, third = sorted(folder.iterdir())[:3]
environment = dict(os.environ, HOME=str(home), LC_ALL="C.UTF-8")
for name in ("XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
    environment.pop(name, None)
manager = subprocess.Popen(["openbox"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
program = subprocess.Popen([sys.argv[1], "--new-instance", "--times", "--developer", str(folder)], stdout=subprocess.PIPE, text=True,
                           env=environment)
application = None
try:
    program.stdout.readline()
    application = accessible.application(program, LIMIT)
    main()
finally:
    program.kill()
    manager.kill()
    shutil.rmtree(home, ignore_errors=True)
print(f"{len(faults)} faults")
sys.exit(1 if faults else 0)
