# SPDX-License-Identifier: GPL-2.0-or-later
"""What all parts of the benchmark share: rows, samples, CPUs, processes."""
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# A sample was disturbed by something else on the machine if it had less of its core than this, or if
# others had more than this of all cores.
BUSY_MIN = 0.95
OTHERS_MAX = 0.05


class Missing(Exception):
    """Something that a row needs is not there; the text names the remedy."""


@dataclass
class Side:
    """One of the two that a row compares. A sample is a dict with at least "value"."""
    name: str
    samples: list = field(default_factory=list)

    def median(self, key="value"):
        values = [s[key] for s in self.samples if s.get(key) is not None]
        return statistics.median(values) if values else None


@dataclass
class Row:
    key: str
    title: str
    unit: str
    ours: Side
    peer: Side = None  # None: the bar is for our own figure
    bar: float = None  # None: for information
    below: bool = False  # the figure shall be at most the bar
    notes: list = field(default_factory=list)
    missing: str = None  # why it could not be measured
    skipped: str = None  # why it was not asked to be
    figure: float = None  # if not the ratio of the medians

    def ratio(self):
        if self.figure is not None:
            return self.figure
        if not self.peer:
            return self.ours.median()
        # Of each round, because a machine that others use, too, changes its speed between rounds.
        ratios = [a["value"] / b["value"] for a, b in zip(self.ours.samples, self.peer.samples)
                  if b["value"]]
        return statistics.median(ratios) if ratios else None

    def met(self):
        ratio = self.ratio()
        if ratio is None or self.bar is None:
            return None
        ratio = round(ratio, 2)  # as the table shows it: no row is more exact than that
        return ratio <= self.bar if self.below else ratio >= self.bar

    def _all(self, key):
        return [s[key] for side in (self.ours, self.peer) if side
                for s in side.samples if s.get(key) is not None]

    def disturbed(self):
        """The least share of its core that a sample had, if that is too little."""
        least = min(self._all("busy"), default=1)
        return least if least < BUSY_MIN else None

    def others(self):
        """The most that others had of all cores while a sample was taken, if that is too much."""
        most = max(self._all("others"), default=0)
        return most if most > OTHERS_MAX else None

    def json(self):
        def side(s):
            return s and {"name": s.name, "median": s.median(), "samples": s.samples}

        return {"row": self.key, "title": self.title, "unit": self.unit, "ours": side(self.ours),
                "peer": side(self.peer), "ratio": self.ratio(), "bar": self.bar,
                "bar_is": "at most" if self.below else "at least", "met": self.met(),
                "missing": self.missing, "skipped": self.skipped, "notes": self.notes}


@dataclass
class Options:
    quick: bool
    keep: bool
    build: str  # folder of the programs
    out: str  # folder for what is written


def say(text):
    print(text, flush=True)


def pick(quick, value, quick_value):
    return quick_value if quick else value


# --- programs ------------------------------------------------------------------------------------
def program(name, remedy):
    path = shutil.which(name)
    if not path:
        raise Missing(f"{name} is missing: {remedy}")
    return path


def peer(name):
    return program(name, "install it with scripts/deps run test")


def built(path):
    if not os.access(path, os.X_OK):
        raise Missing(f"{path} is missing: run make")
    return path


def fail_text(what, code, text):
    lines = [line for line in text.splitlines() if line.strip()]
    return f"{what} ended with status {code}: {lines[-1] if lines else 'no word'}"


def run(argv, **more):
    """Standard output of a command that has to succeed."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        raise Missing(fail_text(os.path.basename(argv[0]), done.returncode, done.stderr))
    return done.stdout


def end(process, grace_s=2):
    """End a process that we started, and wait for it."""
    if process.poll() is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# --- CPUs ----------------------------------------------------------------------------------------
def cpus():
    """(control, work): the core that is measured, and one for everything else if there is one."""
    mine = sorted(os.sched_getaffinity(0))
    return mine[0], mine[-1]


def threads(pid):
    try:
        return [int(t) for t in os.listdir(f"/proc/{pid}/task")]
    except FileNotFoundError:
        return []


def children(pid):
    found = []
    for tid in threads(pid):
        found += [int(p) for p in (first_line(f"/proc/{pid}/task/{tid}/children") or "").split()]
    return found


def thread_cpu_ns(pid):
    """Time on a CPU of each thread."""
    times = {}
    for tid in threads(pid):
        try:
            with open(f"/proc/{pid}/task/{tid}/schedstat", encoding="ascii") as f:
                times[tid] = int(f.read().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return times


def busiest(before, after):
    """(tid, ns) of the thread that ran most."""
    return max(((tid, ns - before.get(tid, 0)) for tid, ns in after.items()), key=lambda x: x[1],
               default=(None, 0))


class Others:
    """What of all cores goes to processes that are not ours, from now on; steal counts, too."""

    def __init__(self):
        self.began, self.busy = now(), self._machine_s()

    @staticmethod
    def _machine_s():
        user, nice, system, _, _, irq, softirq, steal = \
            [int(v) for v in first_line("/proc/stat").split()[1:9]]
        return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")

    def share(self, ours_s):
        cores = (now() - self.began) * os.cpu_count()
        return round(max(self._machine_s() - self.busy - ours_s, 0) / cores, 3)


def place(tids, where):
    for tid in tids:
        try:
            os.sched_setaffinity(tid, where)
        except ProcessLookupError:
            pass


# --- the machine ---------------------------------------------------------------------------------
def first_line(path):
    try:
        with open(path, encoding="utf-8") as f:
            return f.readline().strip()
    except OSError:
        return None


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        for line in f:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return os.uname().machine


def version_of(argv):
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except OSError:
        return None
    lines = (done.stdout + done.stderr).strip().splitlines()
    return lines[0] if lines else None


def package_version(name):
    try:
        return subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True,
                              text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


HUGE = "/sys/kernel/mm/hugepages/hugepages-2048kB/"


def free_hugepages():
    return int(first_line(HUGE + "free_hugepages") or 0)


def machine():
    return {"cpu": cpu_model(), "cpus": len(os.sched_getaffinity(0)), "kernel": os.uname().release,
            "hypervisor": "hypervisor" in open("/proc/cpuinfo", encoding="utf-8").read(),
            "memory_kb": int(re.sub(r"\D", "", first_line("/proc/meminfo"))),
            "hugepages_2m_free": free_hugepages(), "load": os.getloadavg()[0]}


def versions(opt):
    return {"dststorm": version_of([f"{opt.build}/dststorm-gen", "--version"]),
            "dpdk": package_version("dpdk"), "tcpdump": package_version("tcpdump"),
            "libpcap": package_version("libpcap0.8"),
            "qemu": version_of(["qemu-system-x86_64", "--version"])}


def read_json(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def now():
    return time.monotonic()
