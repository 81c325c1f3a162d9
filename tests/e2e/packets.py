#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every shape of packet, as a scenario and as a checker that shares no code with the generator.

packets.py scenario          print a scenario, one stream for each protocol, family, tags and size
packets.py check FILE.pcap   read what the generator made of it; exit 1 and a line at what is wrong
"""
import ipaddress
import struct
import sys

PROTOCOLS = {"udp": 17, "tcp-syn": 6, "icmp-echo": 1}
L4_LEN = {"udp": 8, "tcp-syn": 20, "icmp-echo": 8}
TAGS = [(), (10,), (100, 10)]
SIZES = [0, 594, 1518]  # 0: the least
DSCP, TTL, COUNT, PROBE = 46, 7, 2, 18


def least(family, protocol, tags):
    return 14 + 4 * len(tags) + (20 if family == 4 else 40) + L4_LEN[protocol] + PROBE + 4


def streams():
    for family in 4, 6:
        for protocol in PROTOCOLS:
            for tags in TAGS:
                for size in SIZES:
                    yield family, protocol, tags, size or least(family, protocol, tags), True
    yield 4, "udp", (), 64, False
    yield 4, "udp", (10,), 1518, False


def addresses(n, family):
    base = f"198.19.{n}.0/24" if family == 4 else f"2001:2:0:{n:x}::/64"
    return base, ("198.18.0.2" if family == 4 else "2001:2:0:ffff::2")


def scenario():
    out = ["name: packets", "duration_s: 1", "streams:"]
    for n, (family, protocol, tags, size, checksum) in enumerate(streams()):
        to, source = addresses(n, family)
        out += [f"  - name: s{n}", f"    destinations: [\"{to}\"]", f"    sources: [\"{source}\"]",
                f"    protocol: {protocol}", f"    size: {size}", f"    dscp: {DSCP}", f"    ttl: {TTL}",
                f"    rate_pps: {COUNT}", f"    order: {'permute' if n % 2 else 'sequential'}"]
        if family == 6:
            out.append("    exclude: [\"" + to.split("/", maxsplit=1)[0] + "\"]")
        if tags:
            out.append(f"    vlan: {list(tags)}")
        if protocol == "udp" and family == 4:
            out.append(f"    udp_checksum: {'true' if checksum else 'false'}")
        if protocol != "icmp-echo":
            out += ["    src_port: 1024-1025", "    dst_port: 4000"]
    return "\n".join(out) + "\n"


def total(data):
    """The ones' complement sum of RFC 1071."""
    data += b"\0" * (len(data) % 2)
    s = sum(struct.unpack(f">{len(data) // 2}H", data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return s


def frames(path):
    data = open(path, "rb").read()
    assert struct.unpack("<I", data[:4])[0] == 0xa1b23c4d, "no pcap with nanoseconds"
    at = 24
    while at < len(data):
        _, _, caplen, length = struct.unpack("<IIII", data[at:at + 16])
        assert caplen == length, "a cut packet"
        yield data[at + 16:at + 16 + caplen]
        at += 16 + caplen


def same(what, got, want):
    assert got == want, f"{what} is {got}, not {want}"


def check_ip(frame, family, proto, l3):
    ip = frame[l3:]
    if family == 4:
        same("version and length", ip[0], 0x45)
        same("DSCP", ip[1], DSCP << 2)
        same("total length", struct.unpack(">H", ip[2:4])[0], len(ip))
        same("flags", ip[6:8], b"\x40\0")
        same("TTL, protocol", (ip[8], ip[9]), (TTL, proto))
        same("IPv4 checksum", total(ip[:20]), 0xffff)
        return ip[12:16], ip[16:20], ip[20:]
    same("version, class", struct.unpack(">I", ip[:4])[0], 6 << 28 | DSCP << 22)
    same("payload length", struct.unpack(">H", ip[4:6])[0], len(ip) - 40)
    same("next header, hop limit", (ip[6], ip[7]), (proto, TTL))
    return ip[8:24], ip[24:40], ip[40:]


def check_l4(l4, protocol, family, pseudo, checksum, seq):
    length = L4_LEN[protocol]
    field = {"udp": 6, "tcp-syn": 16, "icmp-echo": 2}[protocol]
    if protocol == "icmp-echo":
        same("type, code", (l4[0], l4[1]), (8 if family == 4 else 128, 0))
        pseudo = pseudo if family == 6 else b""
    else:
        same("ports", struct.unpack(">HH", l4[:4]), (1024 + seq % 2, 4000))
    if protocol == "udp":
        same("UDP length", struct.unpack(">H", l4[4:6])[0], len(l4))
    if protocol == "tcp-syn":
        same("data offset, flags", (l4[12] >> 4, l4[13]), (5, 2))
    if checksum:
        same("L4 checksum", total(pseudo + l4), 0xffff)
        assert l4[field:field + 2] != b"\0\0" or protocol != "udp", "a UDP checksum of 0 says none"
    else:
        same("no checksum", l4[field:field + 2], b"\0\0")
    return l4[length:]


def check_frame(frame, n, seen):
    family, protocol, tags, size, checksum = list(streams())[n]
    same("length", len(frame) + 4, size)
    at = 12
    for i, tag in enumerate(tags):
        outer = len(tags) == 2 and i == 0
        same("tag", struct.unpack(">HH", frame[at:at + 4]), (0x88a8 if outer else 0x8100, tag))
        at += 4
    same("EtherType", frame[at:at + 2], b"\x08\0" if family == 4 else b"\x86\xdd")
    proto = 58 if family == 6 and protocol == "icmp-echo" else PROTOCOLS[protocol]
    src, dst, l4 = check_ip(frame, family, proto, at + 2)
    to, source = addresses(n, family)
    same("source", ipaddress.ip_address(src), ipaddress.ip_address(source))
    assert ipaddress.ip_address(dst) in ipaddress.ip_network(to), "destination"
    pseudo = src + dst + struct.pack(">HH", proto, len(l4))
    seq = seen[n]
    probe = check_l4(l4, protocol, family, pseudo, checksum, seq)
    magic, stream, _, high, low, due = struct.unpack(">HBBIHQ", probe[:PROBE])
    same("magic, stream, number", (magic, stream, high << 16 | low), (0xd57a, n, seq))
    same("due time", due, seq * 10**9 // COUNT)
    same("padding", probe[PROBE:], bytes(len(probe) - PROBE))


def stream_of(frame):
    at = frame.find(b"\xd5\x7a", 34)
    assert at >= 0, "there is no probe in it"
    return frame[at + 2]


def check(path):
    want = list(streams())
    seen = [0] * len(want)
    for i, frame in enumerate(frames(path)):
        try:
            n = stream_of(frame)
            assert n < len(want), f"stream {n}"
            check_frame(frame, n, seen)
            seen[n] += 1
        except AssertionError as e:
            sys.exit(f"frame {i}: {e}")
    same("packets of each stream", seen, [COUNT] * len(want))


if sys.argv[1] == "scenario":
    sys.stdout.write(scenario())
else:
    check(sys.argv[2])
