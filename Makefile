# evidenced: one non-recursive makefile. `make help` lists what it can do.

PREFIX  ?= /usr/local
DESTDIR ?=
PROFILE ?= release
BUILD   ?= build

-include config.mk

# mk/libraries names the pkg-config modules, for configure and for the fallback without it.
PKG_CONFIG ?= pkg-config
ifndef PKG_LIBS
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(shell cat mk/libraries))
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(shell cat mk/libraries))
ifeq ($(PKG_LIBS),)
ifneq ($(filter-out help clean format format-check arch-check tools-check uninstall,$(or $(MAKECMDGOALS),all)),)
$(error a library is missing; run: sh deploy/bootstrap)
endif
endif
endif
# Other people's headers are not held to our warnings.
LIBRARY_CFLAGS = $(PKG_CFLAGS:-I%=-isystem %)

VERSION := $(shell cat VERSION)
O       := $(BUILD)/$(PROFILE)

WARNINGS = -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
           -Wcast-qual -Wwrite-strings -Wvla -Wformat=2 -Wundef -Wimplicit-fallthrough -Wswitch-enum
CPPFLAGS += -D_GNU_SOURCE -DEVD_VERSION='"$(VERSION)"' -Iinclude -Isrc -I$(O)/gen -include evidenced/base/banned.h
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

ALL_CFLAGS = $(CFLAGS_BASE) $(CFLAGS_$(PROFILE)) $(LIBRARY_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(LDFLAGS_BASE) $(LDFLAGS_$(PROFILE)) $(LDFLAGS)
# The daemon does without the client's library; evidencectl loads no more than it uses.
ALL_LIBS = $(filter-out -lcurl,$(PKG_LIBS)) -lcsv -pthread -ldl # libcsv has no pkg-config module
CTL_LIBS = -Wl,--as-needed $(PKG_LIBS) -lcsv -pthread

LIB_SRCS  := $(filter-out src/ctl/%,$(sort $(wildcard src/*/*.c src/*/*/*.c)))
LIB_OBJS  := $(LIB_SRCS:%.c=$(O)/%.o)
LIB       := $(O)/libevidenced.a
# What only evidencectl is made of.
CTL_SRCS  := $(sort $(wildcard src/ctl/*.c))
CTL_OBJS  := $(CTL_SRCS:%.c=$(O)/%.o)
CTL       := $(O)/libevidencectl.a
PROGRAMS  := $(O)/evidenced $(O)/evidencectl
TEST_SRCS := $(sort $(wildcard tests/unit/*/test_*.c tests/store/test_*.c tests/command/test_*.c))
TESTS     := $(TEST_SRCS:%.c=$(O)/%)
# Tests that start the programs themselves.
PROGRAM_TEST_SRCS := $(sort $(wildcard tests/http/test_*.c tests/crash/test_*.c))
PROGRAM_TESTS := $(PROGRAM_TEST_SRCS:%.c=$(O)/%)
PLANTED_RACE  := $(O)/tests/support/planted_race
SUPPORT_SRCS := $(filter-out tests/support/faultfs.c tests/support/planted_race.c,$(wildcard tests/support/*.c))
SUPPORT_OBJS := $(SUPPORT_SRCS:%.c=$(O)/%.o)
FAULTFS   := $(O)/tests/support/faultfs.so
HEADERS   := $(sort $(wildcard include/evidenced/*/*.h))

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all programs tests clean FORCE

## make                 build evidenced and evidencectl (PROFILE=release; test, asan, tsan, coverage, fuzz)
all: programs

include $(sort $(wildcard mk/*.mk))

programs: $(PROGRAMS)
## make tests           build the test programs too
tests: $(TESTS) $(PROGRAM_TESTS)

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

$(CTL): $(CTL_OBJS)
	@rm -f $@
	@$(AR) rcs $@ $(CTL_OBJS)

$(O)/evidenced: $(O)/src/main.o $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(ALL_LIBS)

$(O)/evidencectl: $(O)/src/ctl.o $(CTL) $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(CTL) $(LIB) $(CTL_LIBS)

$(TESTS) $(PROGRAM_TESTS) $(PLANTED_RACE): $(O)/%: $(O)/%.o $(SUPPORT_OBJS) $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(SUPPORT_OBJS) $(TESTED) $(LIB) $(shell $(PKG_CONFIG) --libs check) $(ALL_LIBS) $(TESTED_LIBS)

CTL_TESTS := $(filter $(O)/tests/unit/ctl/%,$(TESTS))
$(CTL_TESTS): $(CTL)
$(CTL_TESTS): TESTED = $(CTL)
$(CTL_TESTS): TESTED_LIBS = $(filter -lcurl,$(PKG_LIBS))

$(FAULTFS): tests/support/faultfs.c
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -O2 -Wall -Wextra -Werror -shared -fPIC -o $@ $< -ldl

## make clean           remove build/
clean:
	rm -rf $(BUILD)

-include $(LIB_OBJS:.o=.d) $(CTL_OBJS:.o=.d) $(TESTS:%=%.d) $(PROGRAM_TESTS:%=%.d) $(PLANTED_RACE).d $(SUPPORT_OBJS:.o=.d) $(O)/src/main.d $(O)/src/ctl.d
