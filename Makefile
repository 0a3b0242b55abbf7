# SPDX-License-Identifier: GPL-3.0-or-later
#
# vtrace: build, tests, installation. GNU make.
#
#   make            programs into build/bin, libvtrace.a and libvtrace.so into build
#   make check      set-up, build, every test;  make check-long adds the long ones
#   make demo       set-up, build, the main pipelines on a saved trace
#   make help       the other targets
#
# Variables: B (build directory), CC, OPT, SAN (as in SAN=address,undefined), V=1 (show commands),
# PREFIX, DESTDIR, FUZZ_SECONDS, FUZZ_RUNS; T (of make unit); SEED, MUTANTS, DIR (of make mutate).

ifeq ($(origin CC),default)
CC = gcc
endif
comma := ,
space := $(subst ,, )
SAN ?=
B ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))
OPT ?= $(if $(SAN),-O1,-O3)
FUZZ_SECONDS ?= 60
FUZZ_RUNS ?= 10000

PREFIX ?= /usr/local
DESTDIR ?=
bindir = $(PREFIX)/bin
libdir = $(PREFIX)/lib
includedir = $(PREFIX)/include
libexecdir = $(PREFIX)/libexec/vtrace
mandir = $(PREFIX)/share/man
# Where each shell looks for what completes the arguments of a command.
bashdir = $(PREFIX)/share/bash-completion/completions
zshdir = $(PREFIX)/share/zsh/site-functions
fishdir = $(PREFIX)/share/fish/vendor_completions.d

VERSION := $(shell sed -n 's/^.define VT_VERSION "\(.*\)"/\1/p' lib/base/version.h)
SOVERSION = 0

# Assertions say what holds by construction, whatever the input; they are in every build, sanitizers'
# and release alike, for they cost 2 instructions in 1000 and a stop is better than a wrong number.
# CPPFLAGS=-DNDEBUG leaves them out. What input may violate is checked, not asserted.
WARN = -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes -Wvla
CPPFLAGS_ALL = -D_POSIX_C_SOURCE=200809L $(OPCODES_CPPFLAGS) -Ilib -I. -I$(B)/gen $(VEX_CPPFLAGS) $(CPPFLAGS)
# Reports of sanitizers name lines; for a debugger, CFLAGS=-g adds the rest, a fifth of the compiler's time.
DEBUG = $(if $(SAN),-g1,-g)
SANFLAGS = $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS_ALL = -std=c11 $(OPT) $(DEBUG) $(WARN) $(SANFLAGS) $(CFLAGS)
LDFLAGS_ALL = -Wl,--as-needed $(SANFLAGS) $(LDFLAGS)

# The file names have the version.
LIBOPCODES := $(notdir $(realpath $(shell $(CC) -print-file-name=libopcodes-multiarch.so)))
OPCODES_CPPFLAGS = -DVT_LIBOPCODES='"$(LIBOPCODES)"' \
	-DVT_LIBOPCODES_NATIVE='"$(subst multiarch,system,$(LIBOPCODES))"'
STREAM_LIBS = -ldeflate -lzstd -lm
# VEX as a library, for the interpreter: a part of Valgrind.
VALGRIND_LIBS ?= /usr/lib/x86_64-linux-gnu/valgrind
VEX_CPPFLAGS = -isystem /usr/include/valgrind
# Linked statically where Debian has the archive: to find, map and relocate them takes a program longer
# to start than all else that it does.  libopcodes has none for all machines: lib/image/disasm.c loads it.
STATIC_LIBS = -lbpf -ldw -lelf -lbz2 -llzma -liberty -lsqlite3 -ljansson -lprotobuf-c -ltraceevent -lz -ldeflate -lzstd
LIBS = $(VALGRIND_LIBS)/libvex-amd64-linux.a -Wl,-Bstatic $(STATIC_LIBS) -Wl,-Bdynamic -lZydis -lipt -lm

# Without -j on the command line, use every processor.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

Q = $(if $(V),,@)
say = @$(if $(V),:,$(if $(findstring s,$(firstword -$(MAKEFLAGS))),:,printf '  %-5s %s\n' '$(1)' '$(2)'))

# ---- sources ----------------------------------------------------------------

STREAM_SRC := $(sort $(wildcard lib/base/*.c lib/stream/*.c))
TOOLS_SRC := $(sort $(filter-out $(STREAM_SRC),$(shell find lib formats -name '*.c' 2>/dev/null)))
COMMON_SRC := $(sort $(wildcard cmd/common/*.c))
PROGRAMS := $(sort $(basename $(notdir $(wildcard cmd/*.c))))
# Programs are one executable, vtrace, and links to it; a folder has what is one program's own.
PROGRAM_SRC := $(sort $(filter-out %.bpf.c,$(wildcard cmd/*.c cmd/vtrace/*.c cmd/record/*.c cmd/bpf/*.c cmd/vdb/*.c cmd/vlist/*.c \
	cmd/vprof/*.c)))
UNIT_SRC := $(sort $(shell find tests/unit -name "test_*.c"))
UNIT_COMMON_SRC := $(sort $(filter-out $(UNIT_SRC),$(shell find tests/unit -name "*.c")))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
HELPER_SRC := $(sort $(wildcard tests/tools/*.c))
HELPER_COMMON_SRC := $(sort $(wildcard tests/tools/common/*.c))
RECORDER_SRC := $(sort $(wildcard cmd/recorder/*.c))
# The agent's part that follows code, which tests and helpers call as well.
WALKER_SRC := $(sort $(wildcard cmd/walker/*.c))
PLUGIN_SRC := $(sort $(wildcard cmd/plugins/*.c))
HEADERS := $(sort $(filter-out %internal.h,$(wildcard lib/base/*.h lib/stream/*.h lib/stream/*.def)))
MAN := $(sort $(wildcard man/*.[1357]))

obj = $(patsubst %.c,$(B)/obj/%.o,$(1))
pic = $(patsubst %.c,$(B)/pic/%.o,$(1))

LINKS := $(filter-out vtrace,$(PROGRAMS))
BINS := $(addprefix $(B)/bin/,vtrace $(LINKS))
UNITS := $(patsubst %.c,$(B)/%,$(UNIT_SRC))
REPLAYS := $(patsubst %.c,$(B)/%,$(FUZZ_SRC) tests/fuzz/failing.c)
HELPERS := $(patsubst %.c,$(B)/%,$(HELPER_SRC))
FUZZERS := $(patsubst tests/fuzz/%.c,$(B)/fuzzers/%,$(FUZZ_SRC))

# Plugins that vinterp loads.
PLUGINS := $(patsubst cmd/plugins/%.c,$(B)/lib/vtrace/%.so,$(PLUGIN_SRC))

# What a Valgrind tool is called and where Valgrind looks for it, with what else it wants to find there.
RECORDER := $(B)/libexec/vtrace/vtrace-amd64-linux
RECORDER_FILES := vgpreload_core-amd64-linux.so default.supp

# What `vtrace record --sample-values` loads into programs.
AGENT_SRC := $(sort $(wildcard cmd/agent/*.c))
AGENT := $(B)/libexec/vtrace/libvtrace-agent.so

ARCHIVES := $(B)/libvtools.a $(B)/libvtrace.a
SHARED := $(if $(STREAM_SRC),$(B)/libvtrace.so.$(SOVERSION))

# ---- building ---------------------------------------------------------------

.PHONY: all libs test-programs
all: libs $(BINS) $(RECORDER) $(AGENT) $(PLUGINS)
libs: $(ARCHIVES) $(SHARED)
test-programs: $(UNITS) $(REPLAYS) $(HELPERS)

# A file that changes only when its text does: what depends on it is rebuilt when a compiler, a flag
# or a list of objects differs from last time.
define stamp
$(1): FORCE
	@mkdir -p $$(@D); echo '$(2)' | cmp -s - $$@ || echo '$(2)' >$$@
endef
.PHONY: FORCE
$(eval $(call stamp,$(B)/stamp/compile,$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL)))
$(eval $(call stamp,$(B)/stamp/link,$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(LIBS)))
$(eval $(call stamp,$(B)/stamp/libvtrace,$(STREAM_SRC)))
$(eval $(call stamp,$(B)/stamp/libvtools,$(TOOLS_SRC)))
$(eval $(call stamp,$(B)/stamp/helpers,$(HELPER_COMMON_SRC) $(WALKER_SRC)))
$(eval $(call stamp,$(B)/stamp/cmd,$(COMMON_SRC) $(PROGRAM_SRC)))

$(B)/obj/%.o: %.c $(B)/stamp/compile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/pic/%.o: %.c $(B)/stamp/compile
	$(call say,PIC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -fPIC -MMD -MP -c -o $@ $<

define archive
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)ar rcs $@ $(filter %.o,$^)
endef

$(B)/libvtrace.a: $(call obj,$(STREAM_SRC)) $(B)/stamp/libvtrace
	$(archive)

# Descriptions of processors, tables of timings and microcode become strings of the library.
CORE_TEXTS := $(sort $(wildcard lib/machine/pipeline/cores/*.core))
TIMING_TEXTS := $(sort $(wildcard lib/machine/pipeline/timing/*.tsv))
UCODE_TEXTS := $(sort $(wildcard lib/coprocessor/programs/*.ucode))
EMBED = scripts/embed vti_core_texts $(CORE_TEXTS) -- vti_timing_texts $(TIMING_TEXTS) \
	-- vti_ucode_texts $(UCODE_TEXTS)
$(eval $(call stamp,$(B)/stamp/embed,$(EMBED)))

$(B)/gen/coretext.c: scripts/embed $(CORE_TEXTS) $(TIMING_TEXTS) $(UCODE_TEXTS) $(B)/stamp/embed
	$(call say,EMBED,$@)
	@mkdir -p $(@D)
	$(Q)$(EMBED) >$@

$(B)/obj/gen/coretext.o: $(B)/gen/coretext.c lib/machine/pipeline/core_text.h $(B)/stamp/compile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<

# Messages of Protocol Buffers become C.
$(B)/gen/pprof.pb-c.c: formats/export/pprof.proto
	$(call say,PROTO,$@)
	@mkdir -p $(@D)
	$(Q)protoc-c --proto_path=$(<D) --c_out=$(@D) $<
$(B)/gen/pprof.pb-c.h: $(B)/gen/pprof.pb-c.c ;

$(B)/obj/gen/pprof.pb-c.o: $(B)/gen/pprof.pb-c.c $(B)/stamp/compile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -c -o $@ $<

$(call obj,formats/export/pprof.c tests/unit/formats/export/test_pprof.c): $(B)/gen/pprof.pb-c.h

$(B)/libvtools.a: $(call obj,$(TOOLS_SRC)) $(B)/obj/gen/coretext.o $(B)/obj/gen/pprof.pb-c.o $(B)/stamp/libvtools
	$(archive)

$(B)/libvtrace.so.$(SOVERSION): $(call pic,$(STREAM_SRC)) lib/libvtrace.map $(B)/stamp/link $(B)/stamp/libvtrace
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -shared $(if $(SAN),,-Wl,-z,defs) -Wl,-soname,$(@F) \
		-Wl,--version-script,lib/libvtrace.map -o $@ $(filter %.o,$^) $(STREAM_LIBS)
	$(Q)ln -sf $(@F) $(@D)/libvtrace.so

define link
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(1) -o $@ $(filter %.o,$^) \
		$(filter %/common.a,$^) $(ARCHIVES) $(2) $(LIBS)
endef

LINKDEPS := $(ARCHIVES) $(B)/stamp/link

$(B)/bin/vtrace: $(call obj,$(PROGRAM_SRC) $(COMMON_SRC) cmd/agent/timed.c) $(B)/obj/gen/sample_bpf.o $(LINKDEPS) $(B)/stamp/cmd
	$(call link)
$(addprefix $(B)/bin/,$(LINKS)): $(B)/bin/vtrace
	@ln -sf vtrace $@

# Hundreds of programs, each with the whole library and never installed: mold links them in a tenth of
# the time. What only tests does not have to be fast either, but with sanitizers it is the compiler's time.
QUICK_LD := $(if $(shell command -v mold),-fuse-ld=mold)
$(UNITS) $(REPLAYS): LDFLAGS_ALL += $(QUICK_LD)
$(B)/obj/tests/unit/%.o: OPT = $(if $(SAN),-O0,-O1)

$(filter $(B)/tests/unit/agent/%,$(UNITS)): $(call obj,$(WALKER_SRC))
$(B)/tests/unit/bpf/test_compile: $(B)/obj/cmd/bpf/compile.o $(B)/obj/cmd/bpf/emit.o
$(UNITS): $(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(call obj,$(UNIT_COMMON_SRC)) $(LINKDEPS)
	$(call link,,-lcmocka)

# What several helpers share is an archive: each takes only what it calls.
HELPER_COMMON := $(if $(HELPER_COMMON_SRC),$(B)/tests/common.a)
$(HELPER_COMMON): $(call obj,$(HELPER_COMMON_SRC) $(WALKER_SRC)) $(B)/stamp/helpers
	$(archive)

$(REPLAYS): $(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/replay_main.o \
		$(HELPER_COMMON) $(LINKDEPS)
	$(call link)

$(HELPERS): $(B)/tests/tools/%: $(B)/obj/tests/tools/%.o $(LINKDEPS)
	$(call link)
$(filter-out $(B)/tests/tools/rec_%,$(HELPERS)): $(HELPER_COMMON)

# Programs to be recorded run under Valgrind, which sanitizers do not like.
$(filter $(B)/tests/tools/rec_%,$(HELPERS)) $(B)/obj/tests/tools/rec_%.o: SANFLAGS =

# A plugin is built as its users build theirs: from one public header and the C library.
$(B)/lib/vtrace/%.so: cmd/plugins/%.c lib/vtrace/plugin.h $(B)/stamp/compile $(B)/stamp/link
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_POSIX_C_SOURCE=200809L -Ilib $(CFLAGS_ALL) -fvisibility=hidden -fPIC \
		$(LDFLAGS_ALL) -shared -o $@ $< -lm

# libFuzzer brings its own main; the objects come from a build with SAN=fuzzer-no-link,...
$(FUZZERS): $(B)/fuzzers/%: $(B)/obj/tests/fuzz/%.o $(LINKDEPS)
	$(call link,-fsanitize=fuzzer)

# The recorder runs inside Valgrind, without a C library and at a place of its own, so it is always
# built by gcc and without sanitizers. Its headers are not of our dialect: they are system headers.
VALGRIND_LIBEXEC ?= /usr/libexec/valgrind
RECORDER_CC ?= gcc
RECORDER_CPPFLAGS = -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 \
	-isystem /usr/include/valgrind -Ilib -I.
RECORDER_CFLAGS = -std=gnu11 -m64 -O2 -g $(WARN) -fno-strict-aliasing -fno-builtin \
	-fno-stack-protector -fno-pie -fomit-frame-pointer
RECORDER_LIBS = $(VALGRIND_LIBS)/libcoregrind-amd64-linux.a $(VALGRIND_LIBS)/libvex-amd64-linux.a \
	-lgcc $(VALGRIND_LIBS)/libgcc-sup-amd64-linux.a
$(eval $(call stamp,$(B)/stamp/recorder,$(RECORDER_CC) $(RECORDER_CPPFLAGS) $(RECORDER_CFLAGS) $(RECORDER_SRC)))

$(B)/obj/cmd/recorder/%.o: cmd/recorder/%.c $(B)/stamp/recorder
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(RECORDER_CC) $(RECORDER_CPPFLAGS) $(RECORDER_CFLAGS) -MMD -MP -c -o $@ $<

$(RECORDER): $(call obj,$(RECORDER_SRC)) $(B)/stamp/recorder
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(RECORDER_CC) -m64 -static -nodefaultlibs -nostartfiles -nostdlib -no-pie -u _start \
		-Wl,-Ttext-segment=0x58000000 -Wl,--build-id=none -o $@ $(filter %.o,$^) $(RECORDER_LIBS)
	$(Q)ln -sf $(RECORDER_FILES:%=$(VALGRIND_LIBEXEC)/%) $(@D)/

# The agent runs in signal handlers of any program, so it is always built by gcc, without sanitizers,
# and takes nothing from the C library there: -fno-builtin keeps its own copies of memcpy() and the like
# from becoming calls of themselves, -z now binds all else when it is loaded.
AGENT_CC ?= gcc
AGENT_CPPFLAGS = -Ilib -I.
AGENT_CFLAGS = -std=gnu11 -m64 -O2 -g $(WARN) -fPIC -fvisibility=hidden -fno-builtin \
	-fno-tree-loop-distribute-patterns -fno-stack-protector -fcf-protection -fomit-frame-pointer
$(eval $(call stamp,$(B)/stamp/agent,$(AGENT_CC) $(AGENT_CPPFLAGS) $(AGENT_CFLAGS) $(AGENT_SRC) $(WALKER_SRC)))

$(call obj,$(AGENT_SRC) $(WALKER_SRC)): $(B)/obj/%.o: %.c $(B)/stamp/agent
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(AGENT_CC) $(AGENT_CPPFLAGS) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(AGENT): $(call obj,$(AGENT_SRC) $(WALKER_SRC)) $(B)/stamp/agent
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(AGENT_CC) -m64 -shared -Wl,-z,now -Wl,-z,defs -Wl,-soname,$(@F) -o $@ $(filter %.o,$^)

# What `vtrace record --sample-values --bpf` loads into the kernel becomes bytes of vtrace.  Only clang
# writes what libbpf needs to put in the running kernel's offsets.
BPF_CC ?= clang
BPF_CFLAGS = -target bpf -O2 -g -Wall -Wextra -Werror -ffreestanding -fno-jump-tables -Ilib -I. \
	-idirafter /usr/include/$(shell $(CC) -print-multiarch)
$(eval $(call stamp,$(B)/stamp/bpf,$(BPF_CC) $(BPF_CFLAGS)))

$(B)/obj/cmd/bpf/%.bpf.o: cmd/bpf/%.bpf.c $(B)/stamp/bpf
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CC) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/gen/%_bpf.o: $(B)/obj/cmd/bpf/%.bpf.o
	@mkdir -p $(@D)
	$(Q)cd $(<D) && ld -r -b binary -z noexecstack -o $(abspath $@) $(<F)

.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(B)/obj $(B)/pic -name '*.d' 2>/dev/null)

# ---- set-up, demonstration, tests -------------------------------------------

.PHONY: setup demo unit check check-long truth bench
setup:
	@scripts/setup

demo:
	@scripts/setup demo
	@$(MAKE) --no-print-directory -s all
	@VT_BUILD=$(abspath $(B)) scripts/demo

RUN = VT_BUILD=$(abspath $(B)) VT_SAN=$(SAN) tests/run $(if $(V),-v) $(TESTFLAGS)

# Those that T picks, a regex: make unit T=hot_list, T=value/, T='freq/|culprit/'.
T ?=
unit: $(if $(T),$(shell printf '%s\n' $(UNITS) | grep -E -- '$(T)'),$(UNITS))
	@$(RUN) $(if $(T),-k '$(T)') unit

check:
	@scripts/setup
	@$(MAKE) --no-print-directory all test-programs
	@$(RUN) unit pipe

check-long:
	@scripts/setup
	@$(MAKE) --no-print-directory all test-programs
	@VT_MUTATIONS=4000 $(RUN) unit pipe long

# Values of the interpreter against recordings and against the processor; prints tables.
truth: all test-programs
	@set -e; for f in tests/long/truth*.t tests/long/record-values-truth.t; do VT_BUILD=$(abspath $(B)) VT_SAN=$(SAN) "$$f"; done

bench: all test-programs
	@set -e; for f in tests/bench/*.sh; do [ -e "$$f" ] || continue; \
		echo "== $$f"; VT_BUILD=$(abspath $(B)) "$$f"; done

# How much of what programs do vinterp knows from samples: needs perf events.
.PHONY: coverage
coverage: all
	@VT_BUILD=$(abspath $(B)) scripts/coverage

# ---- mutants ----------------------------------------------------------------

# Does a test notice when a source is changed? MUTANTS of each folder, or of DIR; see scripts/mutate.
SEED ?= 1
MUTANTS ?= 20
DIR ?=
.PHONY: mutate
mutate: all test-programs
	@B=$(B) MUTATE_COMPILE='$(CC) $(CPPFLAGS_ALL) -std=c11' MUTATE_LIBS='$(LIBS)' \
		scripts/mutate -s $(SEED) -n $(MUTANTS) $(if $(V),-v) $(DIR)

# ---- fuzzing ----------------------------------------------------------------

.PHONY: fuzz fuzz-long fuzz-check fuzzers replays
fuzzers: $(FUZZERS)
replays: $(REPLAYS)

# To find something: what is found becomes an input in tests/fuzz/corpus.
fuzz: FUZZ = -t $(FUZZ_SECONDS)
fuzz-long: FUZZ = -t $(if $(filter file,$(origin FUZZ_SECONDS)),3600,$(FUZZ_SECONDS))
fuzz fuzz-long:
	@scripts/setup
	@$(MAKE) --no-print-directory B=$(B)-fuzz CC=clang SAN=fuzzer-no-link,address,undefined fuzzers
	@scripts/fuzz $(FUZZ) $(B)-fuzz/fuzzers

# Always the same inputs.
fuzz-check:
	@scripts/setup
	@$(MAKE) --no-print-directory B=$(B)-address-undefined SAN=address,undefined replays
	@scripts/fuzz -r $(FUZZ_RUNS) $(B)-address-undefined/tests/fuzz

# ---- lint -------------------------------------------------------------------

.PHONY: lint tidy format
lint:
	@scripts/setup
	@$(MAKE) --no-print-directory -s objects
	@B=$(B) CC=$(CC) SAN=$(SAN) OPT=$(OPT) scripts/lint

# Checked again only when the file or a header that it includes has changed since. Clang's warnings
# are among the checks, so nothing has to be built by clang.
TIDY_SRC := $(WALKER_SRC) $(STREAM_SRC) $(TOOLS_SRC) $(COMMON_SRC) $(PROGRAM_SRC) $(PLUGIN_SRC)
TIDY_TESTS := $(UNIT_SRC) $(UNIT_COMMON_SRC) $(wildcard tests/fuzz/*.c) $(HELPER_SRC) $(HELPER_COMMON_SRC)
# How many states of a function the analyzer looks at: by itself 225000, in ten times the time, which
# `make lint TIDY_NODES=225000 TIDY_TEST_NODES=225000` in a new build is for.  Of tests, whose paths
# sanitizers see run, fewer.
TIDY_NODES ?= 20000
TIDY_TEST_NODES ?= 8000
TIDY_FLAGS = $(CPPFLAGS_ALL) -std=c11 $(filter-out -Werror,$(WARN)) -Xclang -analyzer-config -Xclang
# The recorder is gcc's alone, and gets addresses of the program as numbers from Valgrind.
RECORDER_TIDY = --checks=-performance-no-int-to-ptr,-clang-diagnostic-* -- $(RECORDER_CPPFLAGS) -std=gnu11
# The agent reads memory by its number, and has functions of the C library under their names.
AGENT_TIDY = --checks=-performance-no-int-to-ptr,-readability-inconsistent-declaration-parameter-name \
	-- $(AGENT_CPPFLAGS) -std=gnu11
.PHONY: objects
objects: $(call obj,$(TIDY_SRC) $(TIDY_TESTS) $(RECORDER_SRC) $(AGENT_SRC))
tidy: objects
	@printf '%s\n' $(TIDY_SRC) | scripts/tidy $(B) -- $(TIDY_FLAGS) max-nodes=$(TIDY_NODES)
	@printf '%s\n' $(TIDY_TESTS) | scripts/tidy $(B) -- $(TIDY_FLAGS) max-nodes=$(TIDY_TEST_NODES)
	@printf '%s\n' $(RECORDER_SRC) | scripts/tidy $(B) $(RECORDER_TIDY)
	@printf '%s\n' $(AGENT_SRC) | scripts/tidy $(B) $(AGENT_TIDY)
# One file alone.
$(B)/tidy/%.ok: TIDY = -- $(TIDY_FLAGS) max-nodes=$(TIDY_NODES)
$(B)/tidy/tests/%.ok: TIDY = -- $(TIDY_FLAGS) max-nodes=$(TIDY_TEST_NODES)
$(B)/tidy/cmd/recorder/%.ok: TIDY = $(RECORDER_TIDY)
$(AGENT_SRC:%.c=$(B)/tidy/%.ok): TIDY = $(AGENT_TIDY)
$(B)/tidy/%.ok: $(B)/obj/%.o .clang-tidy
	$(call say,TIDY,$*.c)
	$(Q)echo $*.c | scripts/tidy $(B) $(TIDY)

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

# ---- installation -----------------------------------------------------------

.PHONY: install uninstall clean help
# Quoted, because a folder may have a space in its name.
to = "$(DESTDIR)$(1)"
install: all
	install -d $(call to,$(bindir)) $(call to,$(libdir)/pkgconfig) $(call to,$(libexecdir)) \
		$(call to,$(libdir)/vtrace) $(call to,$(includedir)/vtrace/base) \
		$(call to,$(includedir)/vtrace/stream)
	install -m 755 $(B)/bin/vtrace $(call to,$(bindir))/
	for p in $(LINKS); do ln -sf vtrace $(call to,$(bindir))/$$p || exit 1; done
	install -m 644 lib/vtrace/plugin.h $(call to,$(includedir)/vtrace/plugin.h)
	install -m 644 $(PLUGINS) $(call to,$(libdir)/vtrace)/
	install -m 755 $(RECORDER) $(call to,$(libexecdir))/
	install -m 644 $(AGENT) $(call to,$(libexecdir))/
	ln -sf $(RECORDER_FILES:%=$(VALGRIND_LIBEXEC)/%) $(call to,$(libexecdir))/
	for h in $(HEADERS:lib/%=%); do \
		install -m 644 lib/$$h $(call to,$(includedir)/vtrace)/$$h || exit 1; done
	install -m 644 lib/vtrace.h $(call to,$(includedir)/vtrace/vtrace.h)
	install -m 644 $(B)/libvtrace.a $(call to,$(libdir))/
	install -m 755 $(B)/libvtrace.so.$(SOVERSION) $(call to,$(libdir))/
	ln -sf libvtrace.so.$(SOVERSION) $(call to,$(libdir)/libvtrace.so)
	sed -e 's|@PREFIX@|$(subst $(space),\\ ,$(PREFIX))|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@PRIVATE_LIBS@|$(STREAM_LIBS)|' lib/vtrace.pc.in \
		>$(call to,$(libdir)/pkgconfig/vtrace.pc)
	for m in $(MAN); do install -D -m 644 $$m \
		$(call to,$(mandir))/man$${m##*.}/$${m##*/} || exit 1; done
	install -D -m 644 scripts/completion/vtrace.bash $(call to,$(bashdir)/vtrace)
	for p in $(LINKS); do ln -sf vtrace $(call to,$(bashdir))/$$p || exit 1; done
	install -D -m 644 scripts/completion/_vtrace $(call to,$(zshdir)/_vtrace)
	install -D -m 644 scripts/completion/vtrace.fish $(call to,$(fishdir)/vtrace.fish)
	for p in $(LINKS); do ln -sf vtrace.fish $(call to,$(fishdir))/$$p.fish || exit 1; done

uninstall:
	for p in $(PROGRAMS); do rm -f $(call to,$(bindir))/$$p $(call to,$(bashdir))/$$p \
		$(call to,$(fishdir))/$$p.fish; done
	rm -f $(call to,$(zshdir)/_vtrace)
	rm -rf $(call to,$(includedir)/vtrace) $(call to,$(libexecdir)) $(call to,$(libdir)/vtrace)
	rm -f $(call to,$(libdir)/libvtrace.a) $(call to,$(libdir)/libvtrace.so) \
		$(call to,$(libdir)/libvtrace.so.$(SOVERSION)) $(call to,$(libdir)/pkgconfig/vtrace.pc)
	for m in $(MAN); do rm -f $(call to,$(mandir))/man$${m##*.}/$${m##*/}; done

clean:
	rm -rf $(B) $(B)-*

help:
	@echo 'all           programs and libraries into $(B)'
	@echo 'demo          set up, build, run the main pipelines on a saved trace'
	@echo 'check         set up, build, run every test (check-long: also the long ones)'
	@echo 'unit          build and run the unit tests, with T= those whose names it fits: T=hot_list, T=value/'
	@echo '              (tests/run -k REGEX unit pipe runs tests of either kind, as they are built)'
	@echo 'truth         compare what the interpreter says with recordings and the processor'
	@echo 'bench         measure speed and memory against perf'
	@echo 'coverage      measure how much vinterp knows of what programs do, from samples'
	@echo 'mutate        change sources at random: do the tests notice? (SEED= MUTANTS= DIR=)'
	@echo 'fuzz          run each fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS) (fuzz-long: 3600)'
	@echo 'fuzz-check    run each on its kept inputs and FUZZ_RUNS=$(FUZZ_RUNS) damaged ones, always the same'
	@echo 'lint          formatting, static analysis, layers, shell scripts, man pages'
	@echo 'install       into DESTDIR=$(DESTDIR) PREFIX=$(PREFIX); uninstall removes it'
	@echo 'setup         install the Debian packages that are needed'
	@echo 'format        let clang-format rewrite all C files; clean: remove $(B)*'
