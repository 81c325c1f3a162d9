# SPDX-License-Identifier: GPL-2.0-or-later
"""dststorm-rtcache bench: lookups of the route cache in user space, against other hash tables and itself."""
import json
import subprocess

import common
from common import Row, Side

NOREF = "lookup=rcu refcnt=noref"
SHARED = "lookup=rcu refcnt=shared"
RWLOCK = "lookup=rwlock refcnt=shared"
PEERS = {"cds_lfht": "liburcu cds_lfht", "rte_hash": "DPDK rte_hash"}


def run(opt, keys, threads, order="uniform", axes=NOREF):
    """What the program says: each table's samples in ns of CPU time a lookup, in rounds."""
    argv = [f"{opt.build}/dststorm-rtcache", "bench", "--keys", str(keys), "--threads", str(threads),
            "--order", order, "--axes", axes, "--seconds", str(common.pick(opt.quick, 0.3, 0.05))]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise common.Missing(common.fail_text("dststorm-rtcache", done.returncode, done.stderr))
    return json.loads(done.stdout)


def per_s(result, table, threads=1):
    return [{"value": threads * 1e9 / ns} for ns in result[table]["samples"]]


def row(name, title, ours, peer, bar):
    return Row(f"rtcache-{name}", title, "lookups/s", ours, peer, bar)


def beside_peers(opt, keys, order, threads):
    result = run(opt, keys, threads, order)
    size = f"{keys >> 10} Ki"
    title = f"rtcache, {size} entries, {order}, {threads} thread{'s' if threads > 1 else ''}"
    ours = Side("rtcache", per_s(result, "rtcache", threads))
    return ours, [row(f"{size.replace(' ', '')}-{order}-{threads}-{peer}", title, ours,
                      Side(name, per_s(result, peer, threads)), 1.2) for peer, name in PEERS.items()]


def tables(opt):
    rows = []
    for keys in 1 << 16, 1 << 20:
        for order in "uniform", "zipf":
            one, more = beside_peers(opt, keys, order, 1)
            two, most = beside_peers(opt, keys, order, 2)
            rows += [*more, *most, row(f"{keys >> 10}Ki-{order}-scaling", f"rtcache, {keys >> 10} Ki entries, "
                                       f"{order}, 2 threads", two, Side("1 thread", one.samples), 1.8)]
    return rows


def hot_entry(opt):
    """Two threads, one entry: what a reference that both count costs."""
    sides = {axes: Side(axes, per_s(run(opt, 1, 2, axes=axes), "rtcache", 2))
             for axes in (NOREF, SHARED, RWLOCK)}
    title = "rtcache, one hot entry, 2 threads, noref"
    return [row("hot-shared", title, sides[NOREF], sides[SHARED], 2.0),
            row("hot-rwlock", title, sides[NOREF], sides[RWLOCK], None)]


def measure(opt):
    try:
        common.built(f"{opt.build}/dststorm-rtcache")
        return [*tables(opt), *hot_entry(opt)]
    except common.Missing as e:
        missing = row("", "rtcache", Side("rtcache"), Side("cds_lfht, rte_hash"), 1.2)
        missing.missing = str(e)
        return [missing]
