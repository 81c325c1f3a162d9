# SPDX-License-Identifier: GPL-2.0-or-later
"""dststorm-gen on one end of a veth pair, one core, against trafgen and testpmd txonly on the same."""
import os
import subprocess
import tempfile
import time

import common
import gen
from common import Row, Side
from netns import Pair
from testpmd import Testpmd

BURST = 64
MEMORY_MB = 256
AF_PACKET = "net_af_packet0,iface=send0,blocksz=65536,framesz=2048,framecnt=512,qpairs=1,qdisc_bypass=1"
AF_XDP = "net_af_xdp0,iface=send0,queue_count=1,busy_budget=0"
# One packet, no dynamic elements: trafgen at its fastest.
TRAFGEN = "{ fill(0xff, 6), 0x02, fill(0x11, 5), c16(0x0800), 0x45, fill(0, 45) }"


def cpu_ns(process):
    """Of all threads, and of those of its children: trafgen's sender is one."""
    times = common.thread_cpu_ns(process.pid)
    for pid in common.children(process.pid):
        times.update(common.thread_cpu_ns(pid))
    return times


def counted(pair, process, seconds):
    """Packets/s at the far end while @process sends, and the sending thread's share of its core."""
    before, cpu, began = pair.received(), cpu_ns(process), common.now()
    time.sleep(seconds)
    after, cpu_after, ended = pair.received(), cpu_ns(process), common.now()
    _, ns = common.busiest(cpu, cpu_after)
    took = ended - began
    return {"value": (after - before) / took, "busy": round(ns / 1e9 / took, 3)}


def started(pair, process, log, what):
    """Wait until packets arrive."""
    until, first = common.now() + 20, pair.received()
    while pair.received() < first + 1000:
        if process.poll() is not None or common.now() > until:
            log.seek(0)
            raise common.Missing(common.fail_text(what, process.poll(), log.read()))
        time.sleep(0.02)
    time.sleep(0.2)


def sample(pair, argv, seconds, settle=lambda process: None):
    """@settle is called once packets arrive."""
    with tempfile.TemporaryFile("w+") as log:
        argv = Pair.argv(pair.near, ["taskset", "-c", str(common.cpus()[1]), *argv])
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=log)
        try:
            started(pair, process, log, os.path.basename(argv[7]))
            settle(process)
            return counted(pair, process, seconds)
        finally:
            common.end(process)


def separate(process):
    """As testpmd does: the sending thread alone on its core."""
    cpu, lane, until = common.thread_cpu_ns(process.pid), None, common.now() + 2
    while lane is None:
        if process.poll() is not None or common.now() > until:
            raise common.Missing("dststorm-gen ended, or does not send")
        time.sleep(0.1)
        others = {tid: ns for tid, ns in common.thread_cpu_ns(process.pid).items() if tid != process.pid}
        lane, ran = common.busiest(cpu, others)
        lane = lane if ran else None
    gen.separate(process.pid, lane)


def gen_sample(opt, pair, port, seconds):
    return sample(pair, [f"{opt.build}/dststorm-gen", "--port", port, "--rate", "max", "--dst",
                         "198.19.0.0/16", "--duration", f"{seconds + 10:g}", "--burst", str(BURST)],
                  seconds, separate)


def trafgen_sample(pair, seconds):
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as f:
        f.write(TRAFGEN + "\n")
        f.flush()
        # Without --no-sock-mem it would change settings of the whole machine.
        return sample(pair, [common.peer("trafgen"), "--dev", "send0", "--conf", f.name, "--cpus", "1",
                             "--no-sock-mem", "--no-cpu-stats"], seconds)


def testpmd_sample(pair, vdev, seconds):
    control, work = common.cpus()
    eal = ["--lcores", f"0@{control},1@{work}", "-m", str(MEMORY_MB), "--file-prefix=bench",
           "--vdev", vdev, "--no-huge"]
    app = ["--forward-mode=txonly", "--nb-cores=1", f"--burst={BURST}", "--txpkts=60",
           "--total-num-mbufs=16384"]
    with Testpmd(eal, app, netns=pair.near) as tester:
        tester.tell("start")
        time.sleep(0.3)
        return counted(pair, tester.process, seconds)


def rows_of(opt, port, peers):
    ours = Side(f"dststorm-gen {port}")
    rows = [Row(f"veth-{port.split(':')[0]}-{name}", f"gen on veth, {port.split(':')[0]}", "packets/s",
                ours, Side(name), 1.0) for name in peers]
    seconds = common.pick(opt.quick, 1.5, 0.4)
    try:
        common.built(f"{opt.build}/dststorm-gen")
        with Pair() as pair:
            for _ in range(common.pick(opt.quick, 7, 1)):
                ours.samples.append(gen_sample(opt, pair, port, seconds))
                for row in rows:
                    row.peer.samples.append(peers[row.peer.name](pair, seconds))
    except common.Missing as e:
        for row in rows:
            row.missing = str(e)
    return rows


def measure(opt):
    return [*rows_of(opt, "af_packet:send0", {
                "trafgen": trafgen_sample,
                "testpmd txonly": lambda p, s: testpmd_sample(p, AF_PACKET, s)}),
            *rows_of(opt, "af_xdp:send0", {
                "testpmd txonly": lambda p, s: testpmd_sample(p, AF_XDP, s)})]
