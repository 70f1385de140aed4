"""The smallest sensible thumbnail server in Python: pyvips behind granian, results kept as files.

ASGI, so that reading and decoding run in threads and requests do not wait for one another. A path is
/WIDTH/FORMAT/NAME.
"""

import asyncio
import hashlib
import os
import tempfile

import pyvips

ROOT, CACHE = os.environ["SOURCES"], os.environ["RESULTS"]
TYPES = {"jpg": "image/jpeg", "webp": "image/webp", "avif": "image/avif"}
OPTIONS = {"jpg": "[Q=85,keep=none]", "webp": "[Q=80,keep=none]", "avif": "[Q=60,effort=2,keep=none]"}


def thumbnail(path):
    kept = os.path.join(CACHE, hashlib.sha256(path.encode()).hexdigest())
    try:
        with open(kept, "rb") as file:
            return file.read()
    except FileNotFoundError:
        pass
    width, form, name = path.split("/")
    with open(os.path.join(ROOT, os.path.basename(name)), "rb") as file:
        data = file.read()
    image = pyvips.Image.thumbnail_buffer(data, int(width), height=int(width), size="down", export_profile="srgb")
    result = image.write_to_buffer("." + form + OPTIONS[form])
    with tempfile.NamedTemporaryFile(dir=CACHE, delete=False) as file:
        file.write(result)
    os.rename(file.name, kept)
    return result


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    path = scope["path"].lstrip("/")
    try:
        body = await asyncio.to_thread(thumbnail, path)
        status, kind = 200, TYPES[path.split("/")[1]]
    except Exception as error:
        body, status, kind = str(error).encode(), 404, "text/plain"
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
