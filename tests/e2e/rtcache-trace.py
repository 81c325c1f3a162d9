#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
rtcache-trace.py make SEED LINES AXES   a random trace
rtcache-trace.py check DUMP AXES        whether a dumped state can be: prints what is wrong
"""
import random
import re
import sys

MAX_SIZE = 0x2bc


def make(seed, lines, axes):
    r = random.Random(seed)
    now = gen = 1
    print("axes", *axes)
    print(f"cache 1234567 100 {MAX_SIZE:x} 190 7 64 2")
    for _ in range(lines):
        what, nr = r.random(), r.randrange(1200) * r.randrange(1, 4) // 2
        key = f"{nr:x} 7 1 0 0 {(1 + nr % 4) << 10:x}"
        if what < .45:
            print("insert", key, f"{nr + 1:x} {1 + nr % 4:x} {nr % 37:x}")
        elif what < .9:
            print("find", key)
        elif what < .97:
            now += r.randrange(3)
            print(f"now {now:x}")
        elif what < .985:
            print("tick")
        elif what < .99:
            print(f"flush-nexthop {1 + r.randrange(4):x} {r.randrange(37):x}")
        elif what < .992:
            print(f"flush-dev {1 + r.randrange(4):x}")
        elif what < .9925:
            print("flush")
        elif what < .995:
            gen += 1
            print(f"gen {gen:x}")


def check(path, axes):
    with open(path, encoding="ascii") as f:
        text = f.read()
    stat = {name: int(value, 16) for name, value in re.findall(r"(\w+) ([0-9a-f]+)\b", text.split("\nset ")[0])}
    entries = re.findall(r"^set \S+ key (\S+ \S+ \S+) .* refs (\w+)$", text, re.M)
    timers = re.findall(r"^timer \w+ (\w+)$", text, re.M)
    hops = [(int(n, 16), int(linked, 16)) for n, linked in re.findall(
        r"^nexthop \S+ \S+ entries (\w+) linked (\w+)$", text, re.M)]
    gone = sum(stat[name] for name in ("replaced", "evicted_set", "evicted_full", "expired", "flushed"))
    facts = {
        "there are entries, hits, stale ones and misses": entries and stat["found"] and stat["stale"] and stat["missed"],
        "something expired, was flushed, and replaced": stat["expired"] and stat["flushed"] and stat["replaced"],
        "what was inserted is there, or gone": stat["inserted"] - gone == stat["count"],
        "the count is that of the sets": stat["count"] == len(entries),
        "no key is there twice": len({key for key, _ in entries}) == len(entries),
        "there are no more than max_size": len(entries) <= MAX_SIZE,
        "each entry is a next hop's": sum(n for n, _ in hops) == len(entries),
        "linked are all, or with rmap=object none":
            sum(linked for _, linked in hops) == (0 if "rmap=object" in axes else len(entries)),
        "on a timer's list is each once, or with timer=lazy none":
            len(set(timers)) == len(timers) == (0 if "timer=lazy" in axes else len(entries)),
        "a use re-arms": "timer=lazy" in axes or stat["rearmed"],
        "batches were applied where there are any": bool(stat["batches"]) == ("touch=batch" in axes),
    }
    wrong = [name for name, true in facts.items() if not true]
    for name in wrong:
        print("not so:", name)
    return 1 if wrong else 0


if sys.argv[1] == "make":
    make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].split())
else:
    sys.exit(check(sys.argv[2], sys.argv[3].split()))
