# SPDX-License-Identifier: GPL-3.0-or-later
"""Listings in JSON, with each event of a row as members of the row.

{"events": [{"name": "cycles", "samples": 12, "percent": 1.5}]} gets "cycles": 12 and
"cycles.percent": 1.5, too, as columns of --csv are called.
"""
import json


def by_name(o):
    for event in o.get("events", []):
        if isinstance(event, dict) and "name" in event:
            for key, value in event.items():
                o[event["name"] + ("" if key == "samples" else "." + key)] = value
    return o


def load(file):
    return json.load(file, object_hook=by_name)
