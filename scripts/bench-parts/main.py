# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/bench."""
import argparse
import json
import os
import signal
import sys
import time

import common
import gen
import guest
import live
import rtcache
import sink
import table
import veth

PARTS = {"gen": gen.measure, "sink": sink.measure, "veth": veth.measure, "live": live.measure,
         "rtcache": rtcache.measure, "guest": guest.measure}
NR_HUGEPAGES = common.HUGE + "nr_hugepages"


def arguments():
    p = argparse.ArgumentParser(prog="bench", description="Measure our programs against their peers.")
    p.add_argument("--quick", action="store_true", help="one short sample each: to see that it works")
    p.add_argument("--keep", action="store_true", help="keep the capture that the sink read")
    p.add_argument("--hugepages", type=int, default=0, metavar="N",
                   help="reserve N hugepages of 2 MB while this runs (as root)")
    p.add_argument("parts", nargs="*", metavar="|".join(PARTS), help="what to measure; all if none")
    args = p.parse_args()
    for part in args.parts:
        if part not in PARTS:
            p.error(f"'{part}' is none of {', '.join(PARTS)}")
    return args


class Hugepages:
    """N of them reserved; as many as before afterwards, if need be at the next start."""

    def __init__(self, nr, out):
        self.nr, self.saved = nr, f"{out}/nr_hugepages.saved"
        self.restore()

    def _set(self, nr):
        with open(NR_HUGEPAGES, "w", encoding="ascii") as f:
            f.write(str(nr))

    def restore(self):
        before = common.first_line(self.saved)
        if before is not None:
            self._set(before)
            os.unlink(self.saved)

    def __enter__(self):
        if self.nr:
            with open(self.saved, "w", encoding="ascii") as f:
                f.write(common.first_line(NR_HUGEPAGES))
            self._set(self.nr)

    def __exit__(self, *_):
        self.restore()


def write(opt, rows, about):
    path = f"{opt.out}/{about['utc']}.json"
    doc = {"v": 1, **about, "rows": [row.json() for row in rows]}
    with open(path, "w", encoding="utf-8") as f:
        json.dump(doc, f, indent=1)
        f.write("\n")
    return path


def measure(args, opt, rows):
    """Appends to @rows as it goes: what was measured is not lost with what fails later."""
    for name, part in PARTS.items():
        if args.parts and name not in args.parts:
            continue
        common.say(f"{name} ...")
        rows += part(opt)


def exit_code(rows, quick):
    if any(row.missing for row in rows):
        return 3
    # One short sample is no measurement.
    return 1 if not quick and any(row.met() is False for row in rows) else 0


def main():
    args = arguments()
    os.chdir(common.ROOT)
    build = os.environ.get("B", "build")
    opt = common.Options(args.quick, args.keep, os.path.abspath(build), os.path.abspath(f"{build}/bench"))
    os.makedirs(opt.out, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    about = {"utc": time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), "quick": opt.quick,
             "machine": common.machine(), "versions": common.versions(opt)}
    if about["machine"]["load"] > 0.5:
        common.say(f"note: the load is {about['machine']['load']:.1f}; figures are right only on an "
                   "idle machine")
    began = common.now()
    rows = []
    try:
        with Hugepages(args.hugepages, opt.out):
            measure(args, opt, rows)
    except PermissionError as e:
        common.say(f"bench: {e.filename}: {e.strerror}: --hugepages needs root")
        return 3
    finally:
        about["seconds"] = round(common.now() - began, 1)
        if rows:
            common.say("")
            common.say(table.show(rows))
            common.say(f"\n{about['seconds']:.0f} s; all samples: {write(opt, rows, about)}")
    return exit_code(rows, opt.quick)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
