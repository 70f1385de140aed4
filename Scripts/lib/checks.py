"""Checks that are printed one by one; the script fails if one does."""
import sys

failures = 0


def check(is_right, text):
    global failures
    print(f"  {'' if is_right else 'WRONG: '}{text}", flush=True)
    failures += 0 if is_right else 1


def finish():
    sys.exit(1 if failures else 0)
