# SPDX-License-Identifier: GPL-2.0-or-later
"""dststorm-sink on a live interface against tcpdump -w /dev/null: the highest rate without a drop."""
import json
import re
import subprocess
import tempfile
import time

import common
from common import Row, Side
from netns import Pair

BUFFER_MB = 64  # of both
STEPS_KPPS = [100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 1000]
SCENARIO = """name: bench-live
duration_s: {seconds}
streams:
  - name: flood
    destinations: [198.19.0.0/16]
    sources: [198.18.0.2]
    rate_pps: {rate}
"""


class Tcpdump:
    name = "tcpdump -w /dev/null"

    def argv(self, opt, folder):
        return [common.peer("tcpdump"), "-i", "recv0", "-B", str(BUFFER_MB * 1024), "-w", "/dev/null"]

    @staticmethod
    def counts(out, log):
        seen = re.search(r"(\d+) packets? captured", log)
        dropped = re.search(r"(\d+) packets? dropped by kernel", log)
        if not seen or not dropped:
            raise common.Missing(common.fail_text("tcpdump", 0, log))
        return int(seen[1]), int(dropped[1])


class Sink:
    name = "dststorm-sink live"

    def argv(self, opt, folder):
        return [common.built(f"{opt.build}/dststorm-sink"), "--source", "live:recv0", "--buffer",
                str(BUFFER_MB), f"{folder}/live.yaml"]

    @staticmethod
    def counts(out, log):
        stats = json.loads(out.strip().splitlines()[-1])
        if stats["rx_pkts"] + stats["foreign_pkts"] + stats["other_pkts"] != stats["frames_pkts"]:
            raise common.Missing(f"dststorm-sink accounts wrongly: {stats}")
        return stats["frames_pkts"], stats["capture_dropped_pkts"]


def send(opt, pair, folder):
    argv = ["taskset", "-c", str(common.cpus()[0]), f"{opt.build}/dststorm-gen", "--port",
            "af_packet:send0", f"{folder}/live.yaml"]
    return json.loads(common.run(Pair.argv(pair.near, argv)))


def trial(opt, pair, side, rate, seconds):
    """One flood. Returns packets seen and dropped, and the receiver's CPU time."""
    with tempfile.TemporaryDirectory(prefix="live-", dir=opt.out) as folder, \
            tempfile.TemporaryFile("w+") as log, tempfile.TemporaryFile("w+") as out:
        with open(f"{folder}/live.yaml", "w", encoding="ascii") as f:
            f.write(SCENARIO.format(seconds=seconds, rate=rate))
        argv = Pair.argv(pair.far, ["taskset", "-c", str(common.cpus()[1]), *side.argv(opt, folder)])
        receiver = subprocess.Popen(argv, stdout=out, stderr=log)
        try:
            until = common.now() + 10
            while len(pair.inside(pair.far, ["cat", "/proc/net/packet"]).splitlines()) < 2:
                if receiver.poll() is not None or common.now() > until:
                    log.seek(0)
                    raise common.Missing(common.fail_text(side.name, receiver.poll(), log.read()))
                time.sleep(0.02)
            time.sleep(0.2)  # the socket is there; now its ring
            before = sum(common.thread_cpu_ns(receiver.pid).values())
            sent = send(opt, pair, folder)
            time.sleep(1.5)  # the last block of the ring is handed over when its time is up
            cpu_s = (sum(common.thread_cpu_ns(receiver.pid).values()) - before) / 1e9
        finally:
            common.end(receiver)
        log.seek(0)
        out.seek(0)
        seen, dropped = side.counts(out.read(), log.read())
    if seen + dropped < sent["sent_pkts"]:
        raise common.Missing(f"{side.name}: {sent['sent_pkts']} packets were sent, {seen} seen and "
                             f"{dropped} dropped")
    return {"dropped": dropped, "achieved": sent["rate_achieved_pps"], "cpu_pps": seen / max(cpu_s, 1e-3)}


def best(opt, pair, side, seconds):
    """The highest step that the sender reaches and at which nothing is dropped, by bisection."""
    least, most, found = 0, len(STEPS_KPPS), None
    while least < most:
        i = (least + most) // 2
        t = trial(opt, pair, side, STEPS_KPPS[i] * 1000, seconds)
        if t["dropped"] or t["achieved"] < 0.97 * STEPS_KPPS[i] * 1000:
            most = i
            continue
        least = i + 1
        found = {"value": STEPS_KPPS[i] * 1000, "cpu_pps": t["cpu_pps"]}
    if not found:
        raise common.Missing(f"{side.name} drops packets even at {STEPS_KPPS[0]} k/s")
    return found


def measure(opt):
    sides = Sink(), Tcpdump()
    row = Row("sink-live", "sink on a live veth, no drop", "packets/s", Side(sides[0].name),
              Side(sides[1].name), 1.0)
    seconds = common.pick(opt.quick, 1.5, 0.5)
    try:
        with Pair() as pair:
            for _ in range(common.pick(opt.quick, 3, 1)):
                for side, into in zip(sides, (row.ours, row.peer)):
                    into.samples.append(best(opt, pair, side, seconds))
        row.notes.append("packets per second of the receiver's CPU time: "
                         f"{row.ours.median('cpu_pps') / 1e6:.2f} against "
                         f"{row.peer.median('cpu_pps') / 1e6:.2f} M")
    except common.Missing as e:
        row.missing = str(e)
    return [row]
