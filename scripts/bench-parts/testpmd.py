# SPDX-License-Identifier: GPL-2.0-or-later
"""dpdk-testpmd, driven through its prompt."""
import os
import pty
import re
import select
import subprocess
import tempfile
import time

import common

PROMPT = "testpmd> "


class Testpmd:
    """One testpmd. Its last core forwards, its first has the prompt."""

    def __init__(self, eal, app, env=None, netns=None):
        self.said = ""
        self.shown = 0
        # DPDK makes a run-time directory whatever it is told, and leaves it.
        self.dir = tempfile.TemporaryDirectory(prefix="bench-")
        out, slave = pty.openpty()  # so that its printf is flushed line by line
        self.out = out
        self.process = subprocess.Popen(
            [*(["ip", "netns", "exec", netns] if netns else []), common.peer("dpdk-testpmd"), "--no-pci", "--no-shconf", "--no-telemetry", *eal, "--", "-i",
             "--disable-link-check", "--no-mlockall", *app],
            stdin=subprocess.PIPE, stdout=slave, stderr=slave,
            env={**os.environ, **(env or {}), "RUNTIME_DIRECTORY": self.dir.name})
        os.close(slave)
        try:
            self.wait(PROMPT, 20)
        except common.Missing:
            self.close()
            raise

    def _read(self, timeout):
        if not select.select([self.out], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self.out, 65536)
        except OSError:  # the other end is closed
            data = b""
        self.said += data.decode(errors="replace")
        return bool(data)

    def wait(self, pattern, timeout):
        """The text up to @pattern, which testpmd has to say after what was shown before."""
        until = common.now() + timeout
        while pattern not in self.said[self.shown:]:
            left = until - common.now()
            if not self._read(max(left, 0)) or left < 0:
                words = [line for line in self.said.splitlines() if line.strip()]
                raise common.Missing("dpdk-testpmd does not do what it is told: " +
                                     (words[-1] if words else "no word"))
        at = self.said.index(pattern, self.shown) + len(pattern)
        text, self.shown = self.said[self.shown:at], at
        return text

    def tell(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        return self.wait(PROMPT, 10)

    def counters(self):
        """Packets and, since the last time this was asked, packets/s, as testpmd counts them."""
        text = self.tell("show port stats 0")
        return {name.lower(): int(value)
                for name, value in re.findall(r"\b([RT]x-\w+|[RT]X-\w+):\s+(\d+)", text)}

    def close(self):
        if self.process.poll() is None:
            try:
                self.process.stdin.write(b"stop\nquit\n")
                self.process.stdin.flush()
                until = common.now() + 3
                while self.process.poll() is None and common.now() < until:
                    if not self._read(0.05):
                        time.sleep(0.01)
            except OSError:
                pass
        common.end(self.process)
        self.process.stdin.close()
        os.close(self.out)
        self.dir.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def rate(tester, key, seconds):
    """A sample of "tx-pps" or "rx-pps" over @seconds, with the forwarding thread's share of a core."""
    pid = tester.process.pid
    tester.counters()
    before, began = common.thread_cpu_ns(pid), common.now()
    time.sleep(seconds)
    after, ended = common.thread_cpu_ns(pid), common.now()
    pps = tester.counters()[key]
    _, ns = common.busiest(before, after)
    return {"value": pps, "busy": round(ns / 1e9 / (ended - began), 3)}
