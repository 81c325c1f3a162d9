# SPDX-License-Identifier: GPL-2.0-or-later
"""dststorm-gen on null:, one core, against dpdk-testpmd on the same device (net_null, no-rx=1)."""
import json
import statistics
import subprocess
import tempfile
import time

import common
from common import Row, Side
from testpmd import Testpmd, rate

MEMORY_MB = 64
BURST = 64
MBUFS = 4095  # gen/port.h: PORT_MBUFS and PORT_CACHE
CACHE = 256
FRAME = 60  # without FCS
# What must never be a destination. null: sends nowhere.
EVERYTHING = ["--dst", "0.0.0.0/0", "--exclude", "0.0.0.0/8", "--exclude", "127.0.0.0/8",
              "--exclude", "169.254.0.0/16", "--exclude", "224.0.0.0/3"]
SETS = [("2^10", ["--dst", "16.0.0.0/22"]), ("2^16", ["--dst", "16.0.0.0/16"]),
        ("2^20", ["--dst", "16.0.0.0/12"]), ("2^24", ["--dst", "16.0.0.0/8"]),
        ("2^28", ["--dst", "16.0.0.0/4"]), ("2^32", EVERYTHING)]
FLAT = 1.15


def separate(pid, lane):
    """The lane alone on its core, all other threads on another."""
    control, work = common.cpus()
    common.place([t for t in common.threads(pid) if t != lane], {control})
    common.place([lane], {work})


def watch(process, until):
    """The CPU time of all threads, every now and then, until the process ends."""
    seen = []
    lane = None
    while process.poll() is None and common.now() < until:
        seen.append((time.monotonic_ns(), common.thread_cpu_ns(process.pid)))
        others = {tid: ns for tid, ns in seen[-1][1].items() if tid != process.pid}
        tid, ns = common.busiest({}, others)
        if lane is None and ns > 1e7:
            lane = tid
            separate(process.pid, lane)
        time.sleep(0.02)
    return seen, lane


def share(seen, lane, first_ns, last_ns):
    """Of its core, that the lane had while it sent."""
    inside = [(t, cpu[lane]) for t, cpu in seen if first_ns <= t <= last_ns and lane in cpu]
    if len(inside) < 2:
        return None
    return round((inside[-1][1] - inside[0][1]) / (inside[-1][0] - inside[0][0]), 3)


def gen_sample(opt, dst, seconds, huge):
    argv = [f"{opt.build}/dststorm-gen", "--port", "null:", "--rate", "max", "--burst", str(BURST),
            "--memory", str(MEMORY_MB), "--allow", "0.0.0.0/0", "--duration", f"{seconds:g}", *dst,
            *(["--huge"] if huge else [])]
    with tempfile.TemporaryFile("w+") as log, tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(["taskset", "-c", str(common.cpus()[1]), *argv], stdout=out,
                                   stderr=log)
        try:
            seen, lane = watch(process, common.now() + seconds + 20)
        finally:
            common.end(process)
        log.seek(0)
        if process.returncode:
            raise common.Missing(common.fail_text("dststorm-gen", process.returncode, log.read()))
        out.seek(0)
        stats = json.load(out)
    reached = min(stats["sent_pkts"], stats["destinations_asked"])
    if stats["destinations_sent"] != reached:
        raise common.Missing(f"dststorm-gen sent {stats['sent_pkts']} packets to "
                             f"{stats['destinations_sent']} destinations, not {reached}")
    return {"value": stats["rate_achieved_pps"], "destinations": stats["destinations_sent"],
            "busy": share(seen, lane, stats["first_tx_ns"], stats["last_tx_ns"])}


def testpmd_sample(mode, seconds, huge, room):
    control, work = common.cpus()
    eal = ["--lcores", f"0@{control},1@{work}", "-m", str(MEMORY_MB), "--file-prefix=bench",
           "--vdev", "net_null0,no-rx=1", "--in-memory" if huge else "--no-huge"]
    app = [f"--forward-mode={mode}", "--nb-cores=1", f"--burst={BURST}", f"--txpkts={FRAME}",
           f"--total-num-mbufs={MBUFS}", f"--mbcache={CACHE}", *room]
    with Testpmd(eal, app) as tester:
        tester.tell("start")
        time.sleep(0.1)
        return rate(tester, "tx-pps", seconds)


def alternate(rounds, sides):
    """ABAB..., every round in the same order."""
    for _ in range(rounds):
        for side, sample in sides:
            side.samples.append(sample())


def per_core(side):
    """Packets per second of CPU time: what others took from the core is left out."""
    return Side("", [{"value": s["value"] / s["busy"]} for s in side.samples if s["busy"]]).median()


def note_core(row):
    ours, theirs = per_core(row.ours), per_core(row.peer)
    if row.disturbed() is None or not ours or not theirs:
        return
    row.notes.append(f"disturbed: something else ran on the core (least share {row.disturbed():.0%}); "
                     f"by CPU time {ours / 1e6:.1f} against {theirs / 1e6:.1f} M/s, ratio "
                     f"{ours / theirs:.2f}")


def peer_rows(opt, huge):
    where = "hugepages" if huge else "4 KiB pages"
    tag = "gen-huge" if huge else "gen"
    ours = Side("dststorm-gen")
    rows = [Row(f"{tag}-{mode}", f"gen on null:, {where}", "packets/s", ours,
                Side(f"testpmd {mode}"), bar) for mode, bar in (("flowgen", 2.0), ("txonly", 1.1))]
    if huge and common.free_hugepages() * 2 < MEMORY_MB * 2:
        for row in rows:
            row.skipped = ("64 free hugepages of 2 MB are needed: --hugepages 128 reserves them "
                           "for as long as this runs")
        return rows
    seconds = common.pick(opt.quick, 1.0, 0.4)
    try:
        common.built(f"{opt.build}/dststorm-gen")
        common.peer("dpdk-testpmd")
        alternate(common.pick(opt.quick, 7, 1),
                  [(ours, lambda: gen_sample(opt, EVERYTHING, seconds, huge))] +
                  [(row.peer, lambda mode=row.key.split("-")[-1]:
                    testpmd_sample(mode, seconds, huge, [])) for row in rows])
    except common.Missing as e:
        for row in rows:
            row.missing = str(e)
        return rows
    for row in rows:
        note_core(row)
    return rows


def flatness(sides):
    """Greatest over least of the costs, each the median of its shares of its round."""
    rounds = [[1 / s["value"] for s in samples] for samples in zip(*(side.samples for side in sides))]
    shares = [statistics.median(costs[i] / sum(costs) for costs in rounds) for i in range(len(sides))]
    return max(shares) / min(shares)


def flat_row(opt):
    """The cost of a packet must not depend on how many destinations there are."""
    sides = [Side(name) for name, _ in SETS]
    row = Row("gen-flat", "gen, cost per packet, 2^10 to 2^32 addresses", "greatest/least",
              Side("dststorm-gen"), None, FLAT, below=True)
    seconds = common.pick(opt.quick, 0.8, 0.4)
    try:
        common.built(f"{opt.build}/dststorm-gen")
        alternate(common.pick(opt.quick, 5, 1),
                  [(side, lambda dst=dst: gen_sample(opt, dst, seconds, False))
                   for side, (_, dst) in zip(sides, SETS)])
    except common.Missing as e:
        row.missing = str(e)
        return row
    costs = {side.name: 1e9 / side.median() for side in sides}
    row.figure = flatness(sides)
    row.notes.append("ns per packet: " + ", ".join(f"{k} {v:.1f}" for k, v in costs.items()))
    row.ours.samples = [{"set": side.name, **s, "value": round(1e9 / s["value"], 3)}
                        for side in sides for s in side.samples]
    if row.disturbed() is not None:
        busy = {side.name: 1e9 / (per_core(side) or side.median()) for side in sides}
        row.notes.append(f"disturbed (least share of the core {row.disturbed():.0%}); by CPU time " +
                         ", ".join(f"{k} {v:.1f}" for k, v in busy.items()) +
                         f", ratio {max(busy.values()) / min(busy.values()):.2f}")
    return row


# Against IPv4/UDP without a checksum, on the same device.
PLAIN = ["--dst", "198.19.0.0/16"]
V6 = ["--dst", "2001:2::/64", "--exclude", "2001:2::", "--src", "2001:2:0:ffff::2"]
CHECKSUM = ["--set", "streams.0.udp_checksum=true"]
VARIANTS = {"udp-checksum": (PLAIN + CHECKSUM, "IPv4/UDP with checksum"), "ipv6": (V6, "IPv6/UDP")}


def variant_rows(opt):
    plain = Side("IPv4/UDP")
    rows = [Row(f"gen-{key}", f"gen on null:, {title}", "packets/s", Side("dststorm-gen"), plain, 0.75)
            for key, (_, title) in VARIANTS.items()]
    seconds = common.pick(opt.quick, 1.0, 0.4)
    try:
        common.built(f"{opt.build}/dststorm-gen")
        alternate(common.pick(opt.quick, 7, 1),
                  [(plain, lambda: gen_sample(opt, PLAIN, seconds, False))] +
                  [(row.ours, lambda args=args: gen_sample(opt, args, seconds, False))
                   for row, (args, _) in zip(rows, VARIANTS.values())])
    except common.Missing as e:
        for row in rows:
            row.missing = str(e)
        return rows
    for row in rows:
        note_core(row)
    return rows


def lanes_sample(opt, lanes, seconds):
    """All threads anywhere: the scheduler finds two lanes their two cores."""
    argv = [f"{opt.build}/dststorm-gen", "--port", "null:", "--rate", "max", "--burst", str(BURST),
            "--duration", f"{seconds:g}", "--lanes", str(lanes), *PLAIN]
    others = common.Others()
    stats = json.loads(common.run(argv))
    cpu = lanes * (stats["last_tx_ns"] - stats["first_tx_ns"]) / 1e9
    return {"value": stats["rate_achieved_pps"], "others": others.share(cpu)}


def lanes_row(opt):
    row = Row("gen-lanes", "gen on null:, two lanes", "packets/s", Side("2 lanes"), Side("1 lane"), 1.8)
    seconds = common.pick(opt.quick, 1.0, 0.4)
    try:
        common.built(f"{opt.build}/dststorm-gen")
        if len(common.os.sched_getaffinity(0)) < 2:
            raise common.Missing("two lanes need two CPUs")
        alternate(common.pick(opt.quick, 7, 1),
                  [(side, lambda lanes=lanes: lanes_sample(opt, lanes, seconds))
                   for side, lanes in ((row.ours, 2), (row.peer, 1))])
    except common.Missing as e:
        row.missing = str(e)
    return row


def measure(opt):
    return [*peer_rows(opt, False), *peer_rows(opt, True), flat_row(opt), *variant_rows(opt),
            lanes_row(opt)]
