"""Sentinels that say whatever a test wants: Python behind a socket."""

import secrets
import socket
import threading


def bulk(text):
    data = str(text).encode()
    return b"$%d\r\n%s\r\n" % (len(data), data)


def array(*items):
    return b"*%d\r\n" % len(items) + b"".join(items)


class FakeSentinel:
    """Answers what the proxy asks, from what stands in its fields."""

    def __init__(self, **places):
        self.run_id = secrets.token_hex(20)
        self.places = places  # name -> (host, port, epoch)
        self.others = []
        self.flags = "master"
        self.listeners = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def close(self):
        self.socket.close()

    def tell(self, channel, payload):
        """An event, to everybody who listens."""
        for connection in list(self.listeners):
            try:
                connection.sendall(array(bulk("pmessage"), bulk("*"),
                                         bulk(channel), bulk(payload)))
            except OSError:
                self.listeners.remove(connection)

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,),
                             daemon=True).start()

    def _serve(self, connection):
        with connection, connection.makefile("rb") as file:
            try:
                while line := file.readline():
                    words = []
                    for _ in range(int(line[1:])):
                        length = int(file.readline()[1:])
                        words.append(file.read(length + 2)[:-2].decode())
                    self._answer(connection, words)
            except (OSError, ValueError):
                pass

    def _answer(self, connection, words):
        kind = words[1].upper() if len(words) > 1 else words[0].upper()
        if words[0].upper() == "PSUBSCRIBE":
            self.listeners.append(connection)
            reply = array(bulk("psubscribe"), bulk("*"), b":1\r\n")
        elif words[0].upper() != "SENTINEL":
            reply = array(bulk("pong"), bulk(""))
        elif kind == "MYID":
            reply = bulk(self.run_id)
        else:
            reply = self._of_master(kind, words[2])
        connection.sendall(reply)

    def _of_master(self, kind, name):
        if name not in self.places:
            return b"-ERR No such master with that name\r\n"
        host, port, epoch = self.places[name]
        if kind == "MASTER":
            return array(*map(bulk, ("name", name, "ip", host, "port", port,
                                     "flags", self.flags,
                                     "config-epoch", epoch)))
        if kind == "GET-MASTER-ADDR-BY-NAME":
            return array(bulk(host), bulk(port))
        return array(*(array(*map(bulk, (
            "ip", "127.0.0.1", "port", o.port, "runid", o.run_id,
            "flags", "sentinel"))) for o in self.others))
