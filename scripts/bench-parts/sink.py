# SPDX-License-Identifier: GPL-2.0-or-later
"""dststorm-sink reading a capture, all of it accounted, against tcpdump reading it away."""
import json
import os
import subprocess
import tempfile
import time

import common
from common import Row, Side

DESTINATIONS = 65536
SCENARIO = """name: bench-sink
duration_s: {seconds}
streams:
  - name: flood
    destinations: [198.19.0.0/16]
    sources: [198.18.0.2]
    order: permute
    rate_pps: 1M
"""


def make_capture(opt, seconds, folder):
    scenario, capture = f"{folder}/sink.yaml", f"{folder}/sink.pcap"
    with open(scenario, "w", encoding="ascii") as f:
        f.write(SCENARIO.format(seconds=seconds))
    common.run([f"{opt.build}/dststorm-gen", "--dry-run", capture, scenario])
    with open(capture, "rb") as f:  # into the page cache
        while f.read(1 << 20):
            pass
    return scenario, capture


def timed(argv, packets):
    """The whole command, start-up included."""
    with tempfile.TemporaryFile("w+") as log, tempfile.TemporaryFile("w+") as out:
        began = time.monotonic()
        pid = subprocess.Popen(["taskset", "-c", str(common.cpus()[1]), *argv], stdout=out, stderr=log)
        _, status, usage = os.wait4(pid.pid, 0)
        wall = time.monotonic() - began
        pid.returncode = os.waitstatus_to_exitcode(status)
        log.seek(0)
        if pid.returncode:
            raise common.Missing(common.fail_text(argv[0], pid.returncode, log.read()))
        out.seek(0)
        cpu = usage.ru_utime + usage.ru_stime
        return out.read(), {"value": round(packets / wall), "wall_s": round(wall, 4),
                            "user_s": round(usage.ru_utime, 4), "sys_s": round(usage.ru_stime, 4),
                            "busy": round(cpu / wall, 3), "cpu_pps": round(packets / max(cpu, 1e-3))}


def sink_sample(opt, scenario, capture, packets):
    out, sample = timed([f"{opt.build}/dststorm-sink", "--source", f"pcap:{capture}", scenario],
                        packets)
    stats = json.loads(out)
    want = {"rx_pkts": packets, "destinations_seen": min(DESTINATIONS, packets), "dup_pkts": 0,
            "late_pkts": 0, "foreign_pkts": 0, "lost_by_schedule_pkts": 0}
    wrong = {k: stats.get(k) for k, v in want.items() if stats.get(k) != v}
    if wrong:
        raise common.Missing(f"dststorm-sink accounts wrongly: {wrong}")
    return sample


def peer_sample(capture, packets):
    return timed([common.peer("tcpdump"), "-r", capture, "-w", "/dev/null"], packets)[1]


def note_cpu(row):
    ours, theirs = row.ours.median("cpu_pps"), row.peer.median("cpu_pps")
    row.notes.append(f"by user and system time {ours / 1e6:.1f} against {theirs / 1e6:.1f} M/s, "
                     f"ratio {ours / theirs:.2f}")
    if row.disturbed() is not None:
        row.notes.append(f"disturbed: least share of the core {row.disturbed():.0%}")


def measure(opt):
    seconds = common.pick(opt.quick, 4, 1)
    packets = seconds * 1000000
    row = Row("sink-pcap", f"sink, a capture of {seconds} M probes", "packets/s",
              Side("dststorm-sink"), Side("tcpdump -w /dev/null"), 1.0)
    try:
        for name in "gen", "sink":
            common.built(f"{opt.build}/dststorm-{name}")
        common.peer("tcpdump")
        with tempfile.TemporaryDirectory(prefix="sink-", dir=opt.out,
                                         ignore_cleanup_errors=True) as folder:
            os.chmod(folder, 0o755)  # tcpdump reads as another user
            scenario, capture = make_capture(opt, seconds, folder)
            for _ in range(common.pick(opt.quick, 7, 1)):
                row.ours.samples.append(sink_sample(opt, scenario, capture, packets))
                row.peer.samples.append(peer_sample(capture, packets))
            if opt.keep:
                for path in scenario, capture:
                    os.replace(path, f"{opt.out}/{os.path.basename(path)}")
        note_cpu(row)
    except common.Missing as e:
        row.missing = str(e)
    return [row]
