#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Drive a control socket: sink-drive.py SOCKET STEP...

A step is "METHOD", "METHOD {json params}", "sleep SECONDS" with pings, "silence SECONDS" without,
"listen" for one line, "raw TEXT", or "endless N", a line of so many bytes. Prints one line for each answer, "METHOD {json}", and for each
event that came before it, "event {json}". Leaving is hanging up.
"""
import json
import socket
import sys
import time


def connect(path):
    for _ in range(100):
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(path)
            return s
        except OSError:
            s.close()
            time.sleep(0.05)
    sys.exit(f"nobody listens at {path}")


def ask(s, number, method, params):
    request = {"v": 1, "id": number, "method": method, "params": params}
    s.sendall(json.dumps(request).encode() + b"\n")


def receive(lines):
    try:
        return lines.readline()
    except OSError:
        return ""


def answer(lines, name, want):
    while line := receive(lines):
        message = json.loads(line)
        assert message["v"] == 1, line
        if "event" in message:
            print("event", json.dumps(message), flush=True)
            continue
        assert message["id"] == want, line
        print(name, json.dumps(message.get("result", message.get("error"))), flush=True)
        return
    print(name, "hung up", flush=True)


def main():
    s = connect(sys.argv[1])
    lines = s.makefile("r", encoding="utf-8")
    for i, step in enumerate(sys.argv[2:], 1):
        name, _, rest = step.partition(" ")
        if name == "silence":
            time.sleep(float(rest))
        elif name == "sleep":
            for _ in range(int(float(rest) / 0.5)):
                ask(s, 0, "ping", {})
                answer(lines, "ping", 0)
                time.sleep(0.5)
        elif name == "listen":
            print(name, receive(lines), end="")
        elif name in ("raw", "endless"):
            s.sendall((rest if name == "raw" else "x" * int(rest)).encode() + b"\n")
            answer(lines, name, 0)
        else:
            params = json.loads(rest) if rest else {}
            ask(s, i, name, params)
            answer(lines, name, i)


main()
