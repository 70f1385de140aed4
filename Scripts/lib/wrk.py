"""What benchmarks tell wrk, and what it says."""
import math
import re


def each(listing):
    """Returns the script that asks for the paths of a file, one after the other, and then from the start."""
    return (f"local paths, sent = {{}}, 0\nfor line in io.lines('{listing}') do paths[#paths + 1] = line end\n"
            "request = function()\n  sent = sent % #paths + 1\n  return wrk.format('GET', paths[sent])\nend\n")


def latency(text, percent):
    """Returns milliseconds; none where not one answer came."""
    found = re.search(rf"(?m)^ +{percent}%\s+([\d.]+)(\w+)", text)
    return float(found.group(1)) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[found.group(2)] if found else math.nan
