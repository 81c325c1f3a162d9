# SPDX-License-Identifier: GPL-2.0-or-later
"""Rows, for people."""
import textwrap


def number(value, unit):
    if value is None:
        return "-"
    if unit == "greatest/least":
        return f"{value:.1f} ns"
    if value >= 1e6:
        return f"{value / 1e6:.1f} M/s"
    return f"{value / 1e3:.1f} k/s"


def cells(row):
    ratio = row.ratio()
    bar = "" if row.bar is None else f"{'<=' if row.below else '>='} {number_bar(row)}"
    met = {True: "yes", False: "NO", None: "-" if row.bar else ""}[row.met()]
    ours = number(row.ours.median() if row.peer or row.below else row.figure, row.unit)
    if row.missing or row.skipped:
        ours, met = "-", "missing" if row.missing else "skipped"
    peer = f"{row.peer.name}  {number(row.peer.median(), row.unit)}" if row.peer else ""
    shown = "" if ratio is None or not (row.peer or row.below) else f"{ratio:.2f}"
    return [row.title, ours, peer, shown, bar, met]


def number_bar(row):
    return number(row.bar, row.unit) if row.bar > 100 else f"{row.bar:g}"


def show(rows):
    head = ["row", "ours", "peer", "ratio", "bar", "met"]
    lines = [head] + [cells(row) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    out = []
    for n, line in enumerate(lines):
        out.append("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip())
        notes = [] if not n else [t for t in (rows[n - 1].missing, rows[n - 1].skipped) if t]
        for note in notes + (rows[n - 1].notes if n else []):
            out += textwrap.wrap(note, 98, initial_indent="  ", subsequent_indent="    ")
    return "\n".join(out)
