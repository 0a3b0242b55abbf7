#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: cputime.py COMMAND [ARGUMENT]...

Runs a command, its output thrown away, and prints its user and system time in seconds.
"""
import resource
import subprocess
import sys

subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.4f" % (usage.ru_utime + usage.ru_stime))
