# evidenced: one non-recursive makefile. `make help` lists what it can do.

PREFIX  ?= /usr/local
DESTDIR ?=
PROFILE ?= release
BUILD   ?= build

-include config.mk

PKG_CONFIG ?= pkg-config
MODULES     = libmicrohttpd jansson libbson-1.0 libcrypto libuv rocksdb
ifndef PKG_LIBS
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(MODULES) 2>/dev/null)
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(MODULES) 2>/dev/null)
endif

VERSION := $(shell cat VERSION)
O       := $(BUILD)/$(PROFILE)

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
           -Wcast-qual -Wwrite-strings -Wvla -Wformat=2 -Wundef -Wimplicit-fallthrough -Wswitch-enum
CPPFLAGS += -D_GNU_SOURCE -DEVD_VERSION='"$(VERSION)"' -Iinclude -I$(O)/gen -include evidenced/base/banned.h
CFLAGS_BASE = -std=gnu17 -g -fno-common -fstack-protector-strong -fPIE $(WARNINGS)

CFLAGS_release  = -O2 -D_FORTIFY_SOURCE=2
CFLAGS_test     = -O2 -D_FORTIFY_SOURCE=2 -DEVD_TEST=1
CFLAGS_asan     = -O1 -DEVD_TEST=1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
CFLAGS_tsan     = -O1 -DEVD_TEST=1 -fsanitize=thread -fno-omit-frame-pointer
CFLAGS_coverage = -O0 -DEVD_TEST=1 --coverage
CFLAGS_fuzz     = -O1 -DEVD_TEST=1 -fsanitize=address,undefined,fuzzer-no-link -fno-omit-frame-pointer
LDFLAGS_BASE    = -pie -Wl,-z,relro,-z,now -rdynamic
LDFLAGS_asan     = -fsanitize=address,undefined
LDFLAGS_tsan     = -fsanitize=thread
LDFLAGS_coverage = --coverage
LDFLAGS_fuzz     = -fsanitize=address,undefined
ifeq ($(PROFILE),fuzz)
CC = clang
endif
ifeq ($(filter $(PROFILE),release test asan tsan coverage fuzz),)
$(error PROFILE is one of: release test asan tsan coverage fuzz)
endif

ALL_CFLAGS = $(CFLAGS_BASE) $(CFLAGS_$(PROFILE)) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(LDFLAGS_BASE) $(LDFLAGS_$(PROFILE)) $(LDFLAGS)
ALL_LIBS = $(PKG_LIBS) -pthread -ldl

LIB_SRCS  := $(sort $(wildcard src/*/*.c src/*/*/*.c))
LIB_OBJS  := $(LIB_SRCS:%.c=$(O)/%.o)
LIB       := $(O)/libevidenced.a
PROGRAMS  := $(O)/evidenced $(O)/evidencectl
TEST_SRCS := $(sort $(wildcard tests/unit/*/test_*.c tests/store/test_*.c tests/command/test_*.c))
TESTS     := $(TEST_SRCS:%.c=$(O)/%)
SUPPORT_SRCS := $(filter-out tests/support/faultfs.c,$(wildcard tests/support/*.c))
SUPPORT_OBJS := $(SUPPORT_SRCS:%.c=$(O)/%.o)
FAULTFS   := $(O)/tests/support/faultfs.so
HEADERS   := $(sort $(wildcard include/evidenced/*/*.h))

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all help clean install uninstall format format-check arch-check headers-check lint check check-fast \
        check-unit run demo bench programs tests dictionary FORCE

all: programs

include mk/help.mk
include mk/check.mk
include mk/install.mk

programs: $(PROGRAMS)
tests: $(TESTS)

# Every object depends on this stamp, whose content is the profile's flags: change a flag and all is rebuilt.
$(O)/flags.stamp: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS))' | cmp -s - $@ || \
	    printf '%s\n' '$(subst ','\'',$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(ALL_LDFLAGS))' > $@

$(O)/%.o: %.c $(O)/flags.stamp
	@mkdir -p $(@D)
	@echo '  CC $(PROFILE) $<'
	@$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJS)
	@rm -f $@
	@$(AR) rcs $@ $(LIB_OBJS)

$(O)/evidenced: $(O)/src/main.o $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(ALL_LIBS)

$(O)/evidencectl: $(O)/src/ctl.o $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(ALL_LIBS)

$(TESTS): $(O)/%: $(O)/%.o $(SUPPORT_OBJS) $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(SUPPORT_OBJS) $(LIB) $(shell $(PKG_CONFIG) --libs check) $(ALL_LIBS)

$(FAULTFS): tests/support/faultfs.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -O2 -Wall -Wextra -Werror -shared -fPIC -o $@ $< -ldl

clean:
	rm -rf $(BUILD)

-include $(LIB_OBJS:.o=.d) $(TESTS:%=%.d) $(SUPPORT_OBJS:.o=.d) $(O)/src/main.d $(O)/src/ctl.d
