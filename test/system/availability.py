"""Availability of a period, counted second by second: out of what GET /api/events lists and the histories of the site.

Reads JSON on standard input, writes the seconds of each device and interface as JSON. Nothing of it is the product's.
"""
import json
import sys

asked = json.load(sys.stdin)
BEGIN, END = asked["from"], asked["to"]
LENGTH = END - BEGIN
STILL_S = 600


def seconds(spans):
    """A byte for each second of the period: 1 within one of the spans. They end before their second time; null is for ever."""
    marked = bytearray(LENGTH)
    for begin, end in spans:
        begin, end = max(begin, BEGIN), min(END if end is None else end, END)
        if end > begin:
            marked[begin - BEGIN : end - BEGIN] = b"\x01" * (end - begin)
    return int.from_bytes(marked, "big")


ALL = seconds([[BEGIN, END]])


def count(marked):
    return marked.to_bytes(LENGTH, "big").count(1)


def times(kinds, whose, of):
    """When events of these kinds were open. What flapped was still for the last ten minutes."""
    found = []
    for event in asked["events"]:
        kind = event["details"].get("of") if event["kind"] == "flapping" else event["kind"]
        if kind in kinds and event[whose] == of:
            end = event["closedAt"]
            if end is not None and event["kind"] == "flapping":
                end = max(event["firstSeen"], end - STILL_S)
            found.append([event["firstSeen"], end])
    return seconds(found)


connected = seconds(asked["connected"])
answer = {}
for device in asked["devices"]:
    planned = seconds([w["span"] for w in asked["windows"] if w["devices"] is None or device["id"] in w["devices"]])
    seen = (seconds(device["monitored"]) & connected | seconds(device["backlog"])) & (ALL ^ planned)
    down = times(("device.down", "device.unreachable"), "deviceId", device["id"])
    silent = times(("snmp.unreachable", "snmp.auth-failed"), "deviceId", device["id"]) & (ALL ^ down)
    things = [(device["id"], seen, down)]
    for port in device["interfaces"]:
        there = seen & (ALL ^ silent) & seconds([port["there"]])
        things.append((port["id"], there, down | times(("interface.down",), "interfaceId", port["id"])))
    for name, observed, broken in things:
        broken &= observed
        answer[name] = [
            count(observed) - count(broken),
            count(broken),
            count(planned),
            LENGTH - count(planned) - count(observed),
        ]
json.dump(answer, sys.stdout)
