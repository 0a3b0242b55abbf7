# SPDX-License-Identifier: GPL-3.0-or-later
#
# How many values are there of which every word is told? Of `vtrace dump -k VALUE -F what,size,lane`;
# with -v kind=KIND, of that kind only. Latencies come from the sample itself, and count separately.

kind ? $1 != kind : $1 == "latency" { next }
!$3 { left = int(($2 + 7) / 8); lane = 0 }
left && $3 == lane++ && !--left { n++ }
END { print n + 0 }
