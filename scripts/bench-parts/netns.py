# SPDX-License-Identifier: GPL-2.0-or-later
"""Two network namespaces of our own, joined by a veth pair, with no way out."""
import os
import subprocess

import common


class Pair:
    """Interface "send0" in namespace .near, "recv0" in .far; neither has an address."""

    def __init__(self):
        if os.geteuid():
            raise common.Missing("network namespaces need root: run as root")
        self.near, self.far = (f"dst-bench-{os.getpid()}-{end}" for end in ("near", "far"))

    def __enter__(self):
        try:
            common.run(["ip", "netns", "add", self.near])
            common.run(["ip", "netns", "add", self.far])
            common.run(["ip", "-n", self.near, "link", "add", "name", "send0", "type", "veth", "peer", "name",
                        "recv0", "netns", self.far])
            for name, link in (self.near, "send0"), (self.far, "recv0"):
                # Else the kernel's own IPv6 packets would be among those that are counted.
                self.inside(name, ["sysctl", "-qw", f"net.ipv6.conf.{link}.disable_ipv6=1"])
                common.run(["ip", "-n", name, "link", "set", link, "up"])
        except common.Missing:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.near, self.far:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    @staticmethod
    def argv(name, argv):
        return ["ip", "netns", "exec", name, *argv]

    @staticmethod
    def inside(name, argv):
        return common.run(Pair.argv(name, argv))

    def received(self):
        """Packets that came at the far end, as its driver counts them."""
        return int(self.inside(self.far, ["cat", "/sys/class/net/recv0/statistics/rx_packets"]))
