"""A server of sources that hardly come."""
import socket
import threading
import time


class Trickle:
    """Sends a number of bytes of what is no image, and then a byte a second until `end`; or no more, if they are the `whole`."""

    def __init__(self, size=3, whole=False):
        self.accepted = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port, self.size, self.whole, self.ends = self.listener.getsockname()[1], size, whole, threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.answer, args=[connection], daemon=True).start()

    def answer(self, connection):
        try:
            connection.recv(1 << 16)
            length = self.size + (0 if self.whole else 1_000_000)
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {length}\r\n\r\n".encode())
            connection.sendall(b"\xff\xd8\xff" + bytes(self.size - 3))
            while not self.whole and not self.ends.wait(1):
                connection.sendall(b"\0")
        except OSError:
            pass
        connection.close()

    def end(self):
        """Breaks all connections off."""
        self.ends.set()
        self.listener.close()
