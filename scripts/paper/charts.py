# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts of the papers' figures as SVG, by a tool of the tests (`make test-programs`)."""

import os

from programs import Failure, run

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CHART = os.path.join(os.environ.get("VT_BUILD", os.path.join(ROOT, "build")),
                     "tests/tools/chart_draw")


def prepare_charts(directory):
    """Makes a directory for charts; without the tool, fails before programs run for hours."""
    if not os.access(CHART, os.X_OK):
        raise Failure(f"{CHART} is not there: make test-programs")
    os.makedirs(directory, exist_ok=True)


def draw(path, title, x, y, series, dots=False, bars=()):
    """
    Draws a chart, and tells what it is: axes are (label, largest number), series (label, points of
    two numbers).  With names of bars, each series has a number for each.
    """
    text = [f"title {title}", f"x {x[1] or 1} {x[0]}", f"y {y[1] or 1} {y[0]}"] + ["dots"] * dots
    text += [f"bar {name}" for name in bars]
    for label, points in series:
        pairs = enumerate(points) if bars else points
        text += [f"series {label}"] + [f"{p[0]:.6g} {p[1]:.6g}" for p in pairs]
    picture = run([CHART], input="\n".join(text).encode())
    with open(path, "wb") as f:
        f.write(picture)
    return f"{path}: {title}"
