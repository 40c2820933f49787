"""Reading the proxy's stats port."""

import http.client
import json
import re

SAMPLE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? ([^ ]+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class Stats:
    """One HTTP port; every call asks anew."""

    def __init__(self, address, timeout):
        self.host, port = address.rsplit(":", 1)
        self.port = int(port)
        self.timeout = timeout

    def get(self, path):
        """Status and text of a page.

        Where this machine is so busy that a request leaves 100 ms after its
        connection, it is answered as a silent client is: then ask again.
        """
        for _ in range(5):
            try:
                return self._get_once(path)
            except http.client.RemoteDisconnected:
                raise
            except http.client.BadStatusLine:
                pass
        return self._get_once(path)

    def _get_once(self, path):
        connection = http.client.HTTPConnection(self.host, self.port,
                                                timeout=self.timeout)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def json(self):
        """/stats.json, taken apart."""
        status, text = self.get("/stats.json")
        assert status == 200, (status, text)
        return json.loads(text)

    def metrics(self):
        """/metrics as a list of (name, labels, value)."""
        status, text = self.get("/metrics")
        assert status == 200, (status, text)
        samples = []
        for line in text.splitlines():
            match = SAMPLE.match(line)
            if match:
                name, labels, value = match.groups()
                samples.append((name, dict(LABEL.findall(labels or "")),
                                float(value)))
        return samples

    def value(self, name, **labels):
        """The sum of the samples of this name that have these labels."""
        found = [value for sample, have, value in self.metrics()
                 if sample == name and labels.items() <= have.items()]
        assert found, f"there is no {name} {labels}"
        return sum(found)
