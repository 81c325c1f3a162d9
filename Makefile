# SPDX-License-Identifier: GPL-2.0-or-later
# One makefile, no recursion. V=1 shows the commands; CC=clang works as well.

ifeq ($(origin CC),default)
CC      := gcc
endif
CFLAGS  ?= -O2 -g
V       ?= 0
B       := build

WARN    := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
           -Wwrite-strings -Wformat=2 -Wvla -Wundef
BASE    := -std=gnu11 -D_GNU_SOURCE -I. -MMD -MP -fno-common $(WARN)
VERSION := $(shell cat VERSION)
GIT_ID  := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' '$(1)' '$(2)')

all:

# --- dependencies --------------------------------------------------------------------------------
# scripts/deps installs what is missing when root, and else prints the one command to run. What
# pkg-config says is kept in a file that make remakes, and then reads again, when packages changed:
# so a first `make` on a bare machine sees what it has just installed.
ifneq ($(filter-out clean deps check check-long,$(or $(MAKECMDGOALS),all)),)
include $(B)/pkg.mk
endif
$(B)/pkg.mk: scripts/deps $(wildcard /var/lib/dpkg/status)
	@scripts/deps build $(if $(filter run bench,$(MAKECMDGOALS)),run)
	@mkdir -p $(@D)
	@printf '%s\n' "DPDK_CFLAGS := $$(pkg-config --cflags libdpdk | sed 's/-I/-isystem /g')" \
		"DPDK_LIBS := $$(pkg-config --libs libdpdk)" \
		"NL_CFLAGS := $$(pkg-config --cflags libnl-3.0)" >$@

.PHONY: deps deps-test
deps:
	@scripts/deps all
deps-test:
	@scripts/deps build test

PROGRAMS := dststorm $(B)/dststorm-gen $(B)/dststorm-sink $(B)/dststorm-mon $(B)/dststorm-rtcache
all: $(PROGRAMS)

# --- objects -------------------------------------------------------------------------------------
# lib/ is pure and knows none of the libraries below. dpdk/ (ports) is linked into the programs that
# move packets, gen and sink; capture/ (libpcap) into those that read captures: gen, sink and ctl. No
# program includes another. tests/layering.sh keeps it so.
LIB_O  := $(patsubst %.c,$(B)/%.o,$(wildcard lib/*.c))
DPDK_O := $(patsubst %.c,$(B)/%.o,$(wildcard dpdk/*.c))
CAPTURE_O := $(patsubst %.c,$(B)/%.o,$(wildcard capture/*.c))
GEN_O  := $(patsubst %.c,$(B)/%.o,$(wildcard gen/*.c))
SINK_O := $(patsubst %.c,$(B)/%.o,$(wildcard sink/*.c))
MON_O  := $(patsubst %.c,$(B)/%.o,$(wildcard mon/*.c))
CTL_O  := $(patsubst %.c,$(B)/%.o,$(wildcard ctl/*.c))
RTCACHE_C := $(wildcard rtcache/core/*.c rtcache/shim/*.c rtcache/user/*.c)
RTCACHE_O := $(patsubst %.c,$(B)/%.o,$(RTCACHE_C))

$(LIB_O) $(CAPTURE_O): EXTRA := -Wconversion
# The batch loops are written to be vectorised; -O3 lets both compilers do it.
$(B)/lib/perm.o $(B)/lib/addrset.o $(B)/lib/sched_fill.o $(B)/lib/zipf.o: EXTRA += -O3
# The same numbers on every machine: no product and sum in one rounding.
$(B)/lib/zipf.o $(B)/fuzz/lib/zipf.o: EXTRA += -ffp-contract=off
$(DPDK_O): EXTRA := $(DPDK_CFLAGS)
$(GEN_O): EXTRA := $(DPDK_CFLAGS) -O3
$(SINK_O): EXTRA := $(DPDK_CFLAGS)
$(MON_O): EXTRA := $(NL_CFLAGS)
# The cache is written for the kernel, whose headers' place the shim takes.
SHIM := -Irtcache/shim
$(RTCACHE_O): EXTRA := $(SHIM) $(DPDK_CFLAGS)
$(foreach p,ctl gen sink mon rtcache/user,$(B)/$(p)/main.o): EXTRA += -DDSTSTORM_VERSION='"$(VERSION)"' -DDSTSTORM_GIT_ID='"$(GIT_ID)"'

$(B)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(EXTRA) -c -o $@ $<

$(B)/libdststorm.a: $(LIB_O)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# --- programs ------------------------------------------------------------------------------------
LIB_LIBS := -lyaml -ljansson -lz -lm

define link
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(1)
endef

dststorm: $(CTL_O) $(CAPTURE_O) $(B)/libdststorm.a
	$(call link,-levent_core -lpcap $(LIB_LIBS))
$(B)/dststorm-gen: $(GEN_O) $(DPDK_O) $(CAPTURE_O) $(B)/libdststorm.a
	$(call link,$(DPDK_LIBS) -lrte_net_vhost -lrte_bus_vdev -levent_core -lpcap $(LIB_LIBS) -lpthread)
$(B)/dststorm-sink: $(SINK_O) $(DPDK_O) $(CAPTURE_O) $(B)/libdststorm.a
	$(call link,$(DPDK_LIBS) -lrte_net_vhost -lrte_bus_vdev -levent_core -lpcap $(LIB_LIBS) -lpthread)
comma := ,
# Static glibc warns of name lookups that libnl and libevent could do and the agent never does.
$(B)/dststorm-mon: $(MON_O) $(B)/libdststorm.a
	$(call link,-static -Wl$(comma)--no-warnings -levent_extra -levent_core -lnl-3 $(LIB_LIBS) -lpthread)

# --- the module -----------------------------------------------------------------------------------
# kbuild writes beside its sources: they are linked into a folder of $(B) for each kernel. Kernels are
# built by gcc, whatever CC is. BTF would need pahole, and nobody reads it.
KERNEL ?= debian-6.1

.PHONY: rtcache
rtcache:
	@kdir=$$(scripts/kernel-headers $(KERNEL)) && release=$$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$$kdir/include/generated/utsrelease.h") && \
	dir=$(abspath $(B))/rtcache/$$release && mkdir -p "$$dir" && find "$$dir" -type l -delete && \
	cp -rs $(CURDIR)/rtcache/Kbuild $(CURDIR)/rtcache/kmod $(CURDIR)/rtcache/core "$$dir/" && \
	printf '  %-8s %s\n' KBUILD $(B)/rtcache/$$release/rtcache.ko && \
	$(MAKE) -C "$$kdir" M="$$dir" CC=gcc CONFIG_DEBUG_INFO_BTF_MODULES= modules $(if $(Q),>"$$dir/log" 2>&1 || { cat "$$dir/log"; false; })

RTCACHE_LIBS := -lurcu-qsbr -lurcu-cds $(DPDK_LIBS) -lpthread
$(B)/dststorm-rtcache: $(RTCACHE_O) $(B)/libdststorm.a
	$(call link,$(RTCACHE_LIBS))
# For its torture test: uses of what was freed are seen at once.
$(B)/dststorm-rtcache-asan: $(RTCACHE_C) $(B)/libdststorm.a
	$(call say,LD,$@)
	$(Q)$(CC) $(BASE) -MF $@.d $(SHIM) $(DPDK_CFLAGS) -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined \
		-DDSTSTORM_VERSION='"asan"' -DDSTSTORM_GIT_ID='"asan"' -o $@ $(filter %.c %.a,$^) $(RTCACHE_LIBS)

# --- what users type -----------------------------------------------------------------------------
SCENARIO ?= configs/many-destinations.yaml

.PHONY: all run check check-long bench docs clean fuzz unit compile
run: all
	@scripts/deps run
	./dststorm run $(SCENARIO)

check:
	@scripts/check
check-long:
	@scripts/check --long
bench: all
	@scripts/bench

# Manual pages, as in `man build/docs/dststorm.1`.
docs: $(patsubst docs/%.scd,$(B)/docs/%,$(wildcard docs/*.scd))
$(B)/docs/%: docs/%.scd | deps-test
	$(call say,SCDOC,$@)
	@mkdir -p $(@D)
	$(Q)scdoc <$< >$@

clean:
	rm -rf $(B) dststorm

# --- tests ---------------------------------------------------------------------------------------
# A unit test may need pure files of a program: name them in a line "// needs: sink/track.c" at its top.
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/test_*.c))
needs = $(patsubst %.c,$(B)/%.o,$(shell sed -n 's|^// needs: ||p' $(1)))

unit: $(UNIT)
# Every file compiled and no program linked: for a look with another compiler (CC=, B=).
compile: $(LIB_O) $(DPDK_O) $(CAPTURE_O) $(GEN_O) $(SINK_O) $(MON_O) $(CTL_O) $(RTCACHE_O) $(UNIT)

.SECONDEXPANSION:
$(B)/tests/%: tests/unit/%.c $$(call needs,tests/unit/%.c) $(B)/libdststorm.a | deps-test
	$(call say,TEST,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE) $(CFLAGS) -o $@ $(filter %.c %.o %.a,$^) -Wl$(comma)--as-needed -lcmocka -lpcap $(LIB_LIBS) -lpthread

# Fuzzers are clang's; lib is compiled once more, with coverage, ASan and UBSan.
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_LIB_O := $(patsubst %.c,$(B)/fuzz/%.o,$(wildcard lib/*.c))
FUZZ_CC ?= clang-14
FUZZ_FLAGS := $(BASE) -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
fuzz: $(FUZZ)
$(B)/fuzz/lib/%.o: lib/%.c | deps-test
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<
$(B)/fuzz/libdststorm.a: $(FUZZ_LIB_O)
	$(call say,FUZZ,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(B)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(B)/fuzz/libdststorm.a | deps-test
	$(call say,FUZZ,$@)
	$(Q)$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(filter %.a,$^) $(LIB_LIBS)

-include $(shell find $(B) -name '*.d' 2>/dev/null)
