# SPDX-License-Identifier: GPL-2.0-or-later
"""
A guest without KVM on two cores: what dststorm gets through it, against what dpdk-testpmd gets
through it with txonly before and rxonly behind. Both guests have the same kernel, command line and
QEMU; testpmd's has one static neighbour, because txonly has one destination.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time

import common
from common import Row, Side
from testpmd import Testpmd, rate

SCENARIO = "configs/many-destinations.yaml"
SATURATED = "100k"
RATES = [30000, 35000, 40000, 45000, 50000]
SOURCE, DESTINATION = "198.18.0.2", "198.19.0.2"
ADDRESSES = {"IN_ADDRESS": "198.18.0.1/16", "OUT_ADDRESS": "198.19.0.1/16"}
FRAME = 60


# --- dststorm ------------------------------------------------------------------------------------
def storm(sets, folder):
    """One run on our two cores. Returns its results directory and its summary."""
    before = set(os.listdir(folder))
    where = ",".join(str(c) for c in sorted(set(common.cpus())))
    argv = ["taskset", "-c", where, "./dststorm", "run", "--quiet", "--results", folder]
    for item in sets:
        argv += ["--set", item]
    others, spent = common.Others(), sum(os.times()[2:4])
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen([*argv, SCENARIO], stdout=subprocess.DEVNULL, stderr=log,
                                   env={**os.environ, "DSTSTORM_ACCEL": "tcg"})
        try:
            guest_ns = watch_guest(process)
        finally:
            common.end(process, 10)
        log.seek(0)
        made = set(os.listdir(folder)) - before
        # 1: a require line fails, which is for us to judge
        if process.returncode not in (0, 1) or not made:
            raise common.Missing(common.fail_text("dststorm run", process.returncode, log.read()))
    results = f"{folder}/{made.pop()}"
    return results, {**common.read_json(f"{results}/summary.json"), "guest_ns": guest_ns,
                     "others": others.share(sum(os.times()[2:4]) - spent)}


def is_guest(pid):
    """And not the QEMU that was asked for its version."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return b"-kernel" in f.read().split(b"\0")
    except OSError:
        return False


def watch_guest(process):
    """(now, CPU time) of the QEMU that dststorm starts, in ns, until dststorm ends."""
    qemu, seen = None, []
    while process.poll() is None:
        time.sleep(0.1)
        if qemu is None:
            qemu = next((pid for pid in common.children(process.pid)
                         if is_guest(pid)), None)
        else:
            seen.append((time.monotonic_ns(), sum(common.thread_cpu_ns(qemu).values())))
    return seen


def guest_share(guest_ns, begin, end):
    """Of one core, that QEMU had between two times."""
    inside = [(t, cpu) for t, cpu in guest_ns if begin <= t <= end and cpu]
    if len(inside) < 2:
        return None
    return (inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0])


def sink_rates(results, summary):
    """(packets/s, share of a core that QEMU had) of each second in which the flood ran and no
    destination was new."""
    with open(f"{results}/samples.jsonl", encoding="utf-8") as f:
        samples = [json.loads(line) for line in f]
    until = max((s.get("last_tx_ns", 0) for s in samples if s["role"] == "gen"), default=0)
    sink = [s for s in samples if s["role"] == "sink" and s["t_ns"] <= until]
    want = summary["offered"]["destinations_asked"]
    return [((b["rx_pkts"] - a["rx_pkts"]) * 1e9 / (b["t_ns"] - a["t_ns"]),
             guest_share(summary["guest_ns"], a["t_ns"], b["t_ns"]))
            for a, b in zip(sink, sink[1:]) if a["destinations_seen"] >= want]


def storm_sample(sets, folder):
    results, summary = storm(sets, folder)
    rates = sink_rates(results, summary)
    if not rates:
        raise common.Missing(f"dststorm reached {summary['sink']['destinations_seen']} of "
                             f"{summary['offered']['destinations_asked']} destinations before the "
                             "flood ended: is the machine idle?")
    shares = [share for _, share in rates if share]
    return results, {"value": round(statistics.median(rate for rate, _ in rates)),
                     "seconds": len(rates), "verdict": summary["verdict"],
                     "others": summary["others"], "rates": [round(rate) for rate, _ in rates],
                     "guest_share": round(statistics.median(shares), 3) if shares else None}


# --- testpmd -------------------------------------------------------------------------------------
def option_value(argv, key):
    """The value of key= in a QEMU command line."""
    found = [m.group(1) for arg in argv for m in [re.search(key + r"=([^,]+)", arg)] if m]
    return found[0]


def macs(argv):
    return {name: re.search(r"mac=([0-9a-f:]+)", arg).group(1)
            for name in ("in", "out") for arg in argv if f"netdev=n-{name}," in arg}


def make_image(image, mac, folder):
    """The image of dststorm's guest with another first process appended."""
    here = os.path.dirname(os.path.realpath(__file__))
    with open(f"{here}/guest-init", encoding="ascii") as f:
        text = f.read()
    values = {**ADDRESSES, "IN_MAC": mac["in"], "OUT_MAC": mac["out"], "DESTINATION": DESTINATION}
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    with open(f"{folder}/bench-init", "w", encoding="ascii") as f:
        f.write(text)
    os.chmod(f"{folder}/bench-init", 0o755)
    more = subprocess.run(["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"], input=b"bench-init\n",
                          cwd=folder, capture_output=True, check=True).stdout
    shutil.copyfile(image, f"{folder}/initramfs")
    with open(f"{folder}/initramfs", "ab") as f:
        f.write(more)
    return f"{folder}/initramfs"


def guest_command(manifest, folder):
    """dststorm's own command line, with sockets, console, image and first process of ours."""
    argv = list(manifest["dut"]["qemu"])
    argv = [re.sub(r"path=[^,]*/([^/,]+)", rf"path={folder}/\1", arg) for arg in argv]
    at = argv.index("-initrd") + 1
    argv[at] = make_image(argv[at], macs(argv), folder)
    argv[argv.index("-append") + 1] += " rdinit=/bench-init"
    return argv


class Rig:
    """The two testpmd and the guest between them."""

    def __init__(self, manifest):
        self.parts = []
        self.folder = tempfile.mkdtemp(prefix="bench-")  # short: paths of sockets are limited
        try:
            self._start(guest_command(manifest, self.folder))
        except BaseException:
            self.close()
            raise

    def _testpmd(self, name, app):
        where = "(" + ",".join(str(c) for c in sorted(set(common.cpus()))) + ")"
        eal = ["--lcores", f"0@{where},1@{where}", "-m", "256", "--no-huge", f"--file-prefix=bench-{name}",
               "--vdev", f"net_vhost0,iface={self.folder}/{name}.sock,queues=1"]
        tester = Testpmd(eal, ["--nb-cores=1", "--total-num-mbufs=16383", "--burst=64", *app])
        self.parts.append(tester)
        return tester

    def _start(self, argv):
        self.rx = self._testpmd("out", ["--forward-mode=rxonly"])
        self.tx = self._testpmd("in", ["--forward-mode=txonly", f"--txpkts={FRAME}",
                                       f"--tx-ip={SOURCE},{DESTINATION}",
                                       f"--eth-peer=0,{macs(argv)['in']}"])
        with open(f"{self.folder}/qemu.log", "w", encoding="ascii") as log:
            self.qemu = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._wait_for_guest()
        self.rx.tell("start")
        self.tx.tell("start")

    def _wait_for_guest(self):
        until = common.now() + 60
        said = ""
        while "bench-init: ready" not in said:
            if self.qemu.poll() is not None or common.now() > until:
                lines = said.strip().splitlines() or ["no word"]
                raise common.Missing(f"the guest for testpmd does not start: {lines[-1]}")
            time.sleep(0.05)
            if os.path.exists(f"{self.folder}/console.log"):
                with open(f"{self.folder}/console.log", encoding="utf-8", errors="replace") as f:
                    said = f.read()

    def guest_s(self):
        return sum(common.thread_cpu_ns(self.qemu.pid).values()) / 1e9

    def cpu_s(self):
        return sum(sum(common.thread_cpu_ns(pid).values()) for pid in
                   (self.qemu.pid, self.tx.process.pid, self.rx.process.pid)) / 1e9

    def place(self, qemu, tx, rx, nice):
        """Each on its CPUs, testpmd @nice."""
        for pid, where in ((self.qemu.pid, qemu), (self.tx.process.pid, tx),
                           (self.rx.process.pid, rx)):
            common.place(common.threads(pid), where)
        for tester in self.tx, self.rx:
            for tid in common.threads(tester.process.pid):
                os.setpriority(os.PRIO_PROCESS, tid, nice)

    def close(self):
        if hasattr(self, "qemu") and self.qemu.poll() is None:
            self.qemu.kill()
            self.qemu.wait()
        for tester in self.parts:
            tester.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def placements():
    """Busy polling on two cores that QEMU needs as well: the best of these is testpmd's figure. The
    nice ones come last, for only root can go back."""
    one, other = common.cpus()
    both = {one, other}
    return {"anywhere": (both, both, both, 0), "QEMU alone on a core": ({one}, {other}, {other}, 0),
            "anywhere, testpmd nice 19": (both, both, both, 19),
            "QEMU and rxonly on a core, nice 19": ({one}, {other}, {one}, 19)}


def testpmd_round(manifest, sides, seconds):
    with Rig(manifest) as rig:
        for name, where in placements().items():
            rig.place(*where)
            time.sleep(1)
            others, spent, guest = common.Others(), rig.cpu_s(), rig.guest_s()
            began = common.now()
            sample = rate(rig.rx, "rx-pps", seconds)
            sample["guest_share"] = round((rig.guest_s() - guest) / (common.now() - began), 3)
            del sample["busy"]  # two of them may share a core with the guest
            sides[name].samples.append({"placement": name, **sample,
                                        "others": others.share(rig.cpu_s() - spent)})


def note_guest(row):
    """How much of a core the guest got is half of the answer."""
    per_s = [statistics.median(s["value"] / s["guest_share"] for s in side.samples if s["guest_share"])
             for side in (row.ours, row.peer)]
    shares = [side.median("guest_share") for side in (row.ours, row.peer)]
    row.notes.append(f"QEMU had {shares[0]:.0%} of a core with dststorm, {shares[1]:.0%} with testpmd; "
                     f"by its CPU time {per_s[0] / 1e3:.1f} against {per_s[1] / 1e3:.1f} k/s, ratio "
                     f"{per_s[0] / per_s[1]:.2f}")


def note_others(row):
    if row.others() is not None:
        row.notes.append(f"disturbed: other processes had up to {row.others():.0%} of the cores")


# --- rows ----------------------------------------------------------------------------------------
def throughput(opt, folder):
    ours = Side("dststorm")
    row = Row("guest", "guest without KVM, two cores", "packets/s", ours, Side("testpmd"), 0.9)
    sides = {name: Side(name) for name in placements()}
    sets = [f"streams.0.rate_pps={SATURATED}", f"duration_s={common.pick(opt.quick, 18, 2)}"]
    if opt.quick:
        sets += ["streams.0.destinations=[198.19.0.0/26]", "drain_s=1"]
    try:
        common.built("./dststorm")
        for name in "qemu-system-x86_64", "dpdk-testpmd", "cpio":
            common.peer(name)
        for _ in range(common.pick(opt.quick, 2, 1)):
            results, sample = storm_sample(sets, folder)
            ours.samples.append(sample)
            testpmd_round(common.read_json(f"{results}/manifest.json"), sides,
                          common.pick(opt.quick, 3, 0.5))
    except common.Missing as e:
        row.missing = str(e)
        return row
    best = max(sides.values(), key=lambda s: s.median())
    row.peer = Side(f"testpmd txonly, rxonly ({best.name})", best.samples)
    row.notes.append("testpmd by placement: " + "; ".join(
        f"{s.name} {s.median() / 1e3:.1f}" for s in sides.values()) + " k/s")
    note_guest(row)
    note_others(row)
    return row


def is_clean(rate_pps, folder, runs):
    """A run at this rate, noted in @runs."""
    _, s = storm([f"streams.0.rate_pps={rate_pps}"], folder)
    clean = s["valid"] and s["verdict"] == "clean" and not s["offered"]["unsent_pkts"]
    runs.append({"value": rate_pps if clean else 0, "rate_pps": rate_pps, "verdict": s["verdict"],
                 "lost_pkts": s["sink"]["lost_pkts"], "unsent_pkts": s["offered"]["unsent_pkts"],
                 "others": s["others"]})
    return clean


def lossless(folder):
    """From the bar upwards while it is clean, or downwards until it is."""
    row = Row("guest-lossless", "guest, highest of 30 to 50 k/s without loss", "packets/s",
              Side("dststorm"), None, 40000)
    runs = row.ours.samples
    at = RATES.index(row.bar)
    try:
        if is_clean(RATES[at], folder, runs):
            any(not is_clean(rate_pps, folder, runs) for rate_pps in RATES[at + 1:])
        else:
            any(is_clean(rate_pps, folder, runs) for rate_pps in reversed(RATES[:at]))
    except common.Missing as e:
        row.missing = str(e)
        return row
    row.figure = max(run["value"] for run in runs)
    row.notes.append("; ".join(f"{r['rate_pps'] // 1000}k: {r['verdict']}, lost {r['lost_pkts']}, unsent "
                               f"{r['unsent_pkts']}" for r in runs))
    note_others(row)
    return row


def measure(opt):
    with tempfile.TemporaryDirectory(prefix="guest-", dir=opt.out) as folder:
        rows = [throughput(opt, folder)]
        if not opt.quick and not rows[0].missing:
            rows.append(lossless(folder))
    return rows
