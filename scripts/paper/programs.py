# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that the papers' experiments are repeated on, and how commands are run."""

import json
import os
import subprocess

PERL = r"""
my %n; my $text = do { local (@ARGV, $/) = ($ARGV[0]); <> };
for (1 .. $ARGV[1]) { $n{lc $1}++ while $text =~ /(\w+)/g; }
my @top = (sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n)[0 .. 9];
print "$_ $n{$_}\n" for @top;
"""

PYTHON = r"""
import sys
def queens(n, row=0, cols=0, down=0, up=0):
    if row == n:
        return 1
    return sum(queens(n, row + 1, cols | 1 << c, (down | 1 << c) << 1, (up | 1 << c) >> 1)
               for c in range(n) if not (cols | down | up) >> c & 1)
words = {}
for word in open(sys.argv[1], encoding="latin-1").read().split():
    words[word] = words.get(word, 0) + 1
print(sum(sorted(words.values())[-10:]), queens(int(sys.argv[2])))
"""

SQL = """
create table t(id integer primary key, a int, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
  insert into t select i, i * 7919 % 1000, 'row ' || (i * 31 % 977) from n;
create index ta on t(a);
select count(*), sum(a) from t where b like '%7%';
select a, count(*) as c from t group by a order by c desc, a limit 5;
select count(*) from t x join t y on x.a = y.id;
"""

AWK = '{ for (i = 1; i <= NF; i++) n[$i]++; m += length($0) } END { for (w in n) k++; print k, m }'

SCENE = """
camera {{ location <0, 2, -6> look_at <0, 1, 0> }}
light_source {{ <5, 8, -5> rgb 1 }}
plane {{ y, 0 pigment {{ checker rgb 0.2, rgb 0.8 }} finish {{ reflection 0.2 }} }}
{objects}
"""
SPHERE = ("sphere {{ <{x}, 1, {z}>, 0.8 pigment {{ rgb <0.8, 0.3, 0.2> }} "
          "finish {{ phong 0.8 reflection 0.3 }} }}\n")
BOX = "box {{ <{x}, 0, {z}>, <{x} + 1, 1, {z} + 1> pigment {{ granite scale 0.3 }} }}\n"

DASH = """
i=0; n=0
while [ $i -lt {rounds} ]; do
	case $i in *7*) n=$((n + i % 13)) ;; *[02468]) n=$((n - 1)) ;; *) set -- $i $n "$i-$n" ;; esac
	s=${{3-}}; s=${{s#*-}}; i=$((i + 1))
done
echo $n
"""

BC = """
scale = {digits}
4 * a(1)
define f(n) {{ if (n < 2) return (n); return (f(n - 1) + f(n - 2)); }}
f(17)
e(1) ^ 50
quit
"""

MAKEFILE = """
objects := $(foreach n,{numbers},$(addprefix o/,$(addsuffix .o,part$(n))))
all: $(sort $(filter-out %7.o,$(objects)))
o/%.o: %.c ; @:
%.c: ; @:
"""


class Failure(Exception):
    """A command that did not do what it should."""


def run(command, **how):
    """The output of a command that has to succeed; a lossy input is told, and is no failure."""
    done = subprocess.run(command, capture_output=True, check=False, **how)
    if done.returncode not in (0, 1):
        raise Failure(f"{' '.join(command)}: exit status {done.returncode}: "
                      f"{done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def make_texts(work):
    """Two texts of different sorts: prose, and source code; and one program to compile for each."""
    prose = b"".join(open(os.path.join("/usr/share/common-licenses", n), "rb").read()
                     for n in sorted(os.listdir("/usr/share/common-licenses")))
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    sources = sorted(os.path.join(d, n) for d, _, names in os.walk(os.path.join(root, "lib"))
                     for n in names if n.endswith(".c"))
    code = b"".join(open(n, "rb").read() for n in sources)
    texts = []
    for name, data in (("prose", prose), ("code", code)):
        texts.append(os.path.join(work, name))
        with open(texts[-1], "wb") as f:
            f.write(data)
    units = []
    for name in ("base/table.c", "stream/header.c"):
        units.append(os.path.join(work, os.path.basename(name)[:-1] + "i"))
        run(["gcc", "-E", "-I" + os.path.join(root, "lib"), "-D_POSIX_C_SOURCE=200809L",
             os.path.join(root, "lib", name), "-o", units[-1]])
    return texts, units


def make_programs(work, size):
    """Name and two commands of each program: the inputs that the paper calls test and train."""
    texts, units = make_texts(work)
    perl = write(os.path.join(work, "words.pl"), PERL)
    python = write(os.path.join(work, "words.py"), PYTHON)
    sql = [write(os.path.join(work, f"{n}.sql"), SQL.format(rows=n))
           for n in (6000 * size, 4000 * size)]
    scenes = [write(os.path.join(work, n + ".pov"), SCENE.format(objects="".join(
        shape.format(x=x, z=z) for x in range(-2, 3) for z in range(3))))
              for n, shape in (("spheres", SPHERE), ("boxes", BOX))]
    cc1 = run(["gcc", "-print-prog-name=cc1"]).decode().strip()
    render = [["povray", "+I" + s, f"+W{32 * size}", f"+H{24 * size}", "-D", "-GA", "+WT1", "+FN",
               "+O" + os.path.join(work, "out.png")] for s in scenes]
    return [
        ("gzip", ["gzip", "-9", "-c", texts[1]], ["gzip", "-c", texts[0]]),
        ("bzip2", ["bzip2", "-c", texts[0]], ["bzip2", "-c", texts[1]]),
        ("xz", ["xz", "-1", "-c", texts[1]], ["xz", "-1", "-c", texts[0]]),
        ("perl", ["perl", perl, texts[1], str(size)], ["perl", perl, texts[0], str(size)]),
        ("python3", ["/usr/bin/python3", python, texts[1], "6"],
         ["/usr/bin/python3", python, texts[0], "7"]),
        ("cc1", [cc1, "-quiet", "-O2", units[0], "-o", "/dev/null"],
         [cc1, "-quiet", "-O2", units[1], "-o", "/dev/null"]),
        ("sqlite3", ["sqlite3", "-init", sql[0], ":memory:", "select 1;"],
         ["sqlite3", "-init", sql[1], ":memory:", "select 1;"]),
        ("gawk", ["gawk", AWK, texts[1]] + [texts[1]] * size, ["gawk", AWK] + [texts[0]] * size),
        ("povray", render[0], render[1]),
    ]


def make_judges(work, size):
    """
    Name and command of each program that no constant of the estimators was chosen on.  None may be
    used to choose one.
    """
    texts, units = make_texts(work)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    manual = os.path.join(root, "man", "vtrace.1")

    def at(name):
        return os.path.join(work, name)

    lines = open(texts[1], encoding="utf-8").read().splitlines(True)
    other = write(at("code.2"), "".join(x for i, x in enumerate(lines) if i % 17 and i % 400 < 390))
    table = write(at("rows.json"), json.dumps([
        {"id": i, "name": f"row {i * 31 % 977}", "parts": [i * k % 101 for k in range(6)]}
        for i in range(3000 * size)]))
    run(["gcc", "-S", "-O2", "-fpreprocessed", units[0], "-o", at("unit.s")])
    # Some code of a size that takes the tools of object files a while.
    run(["gcc", "-c", "-g", "-O2", "-fpreprocessed", units[0], "-o", at("unit0.o")])
    run(["gcc", "-c", "-g", "-O2", "-fpreprocessed", units[1], "-o", at("unit1.o")])
    names = write(at("names"), "\n".join(
        f"_ZNSt8_Rb_treeI{len(t)}{t}St4pairIK{len(t)}{t}iESt10_Select1stIS2_ESt4lessIS{i % 2}_EE"
        f"{len(t) + 1}f{t}ERKS{i % 3}_"
        for i, t in ((i, "name" + "x" * (i % 9)) for i in range(1500 * size))))
    return [
        ("bc", ["bc", "-lq", write(at("pi.bc"), BC.format(digits=60 * size))]),
        ("dash", ["dash", write(at("loop.sh"), DASH.format(rounds=15000 * size))]),
        ("make", ["make", "-n", "-f", write(at("Makefile"), MAKEFILE.format(
            numbers=" ".join(map(str, range(400 * size)))))]),
        ("diff", ["diff", "-u", texts[1], other]),
        ("git", ["git", "diff", "--no-index", "--patience", other, texts[1]]),
        ("jq", ["jq", "-c", "map(select(.parts | add > 200)) | group_by(.name) | map(length)",
                table]),
        ("mandoc", ["mandoc", "-T", "utf8"] + [manual] * size),
        ("troff", ["troff", "-mandoc", "-Tutf8"] + [manual] * size),
        ("zstd", ["zstd", "-9", "-c", texts[1]]),
        ("as", ["as", at("unit.s"), "-o", "/dev/null"]),
        ("ld", ["ld", "-r", "-o", at("unit.out"), at("unit0.o"), at("unit1.o")]),
        ("objdump", ["objdump", "-d", at("unit0.o"), at("unit1.o")]),
        ("readelf", ["readelf", "-a", "-w", at("unit0.o")]),
        ("c++filt", ["c++filt", "@" + names]),
    ]
