# SPDX-License-Identifier: GPL-2.0-or-later
"""Two network namespaces of our own, joined by a veth pair, with no way out."""
import os
import subprocess

import common


class Pair:
    """Interface "tx" in namespace .near, "rx" in .far; neither has an address."""

    def __init__(self, queues=1):
        if os.geteuid():
            raise common.Missing("network namespaces need root: run as root")
        self.near, self.far = (f"dst-bench-{os.getpid()}-{end}" for end in ("near", "far"))
        self.queues = queues

    def __enter__(self):
        common.run(["ip", "netns", "add", self.near])
        common.run(["ip", "netns", "add", self.far])
        queues = ["numtxqueues", str(self.queues), "numrxqueues", str(self.queues)]
        common.run(["ip", "-n", self.near, "link", "add", "tx", *queues, "type", "veth", "peer", "name",
                    "rx", *queues, "netns", self.far])
        for name, link in (self.near, "tx"), (self.far, "rx"):
            # Else the kernel's own IPv6 packets would be among those that are counted.
            self.inside(name, ["sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=1"])
            common.run(["ip", "-n", name, "link", "set", link, "up"])
        return self

    def __exit__(self, *_):
        for name in self.near, self.far:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    @staticmethod
    def inside(name, argv):
        return common.run(Pair.argv(name, argv))

    @staticmethod
    def argv(name, argv):
        return ["ip", "netns", "exec", name, *argv]

    def received(self):
        """Packets that came at the far end, as its driver counts them."""
        return int(self.inside(self.far, ["cat", "/sys/class/net/rx/statistics/rx_packets"]))
