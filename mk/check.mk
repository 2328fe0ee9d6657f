# Every check of the project. A stage is `target` or `target@profile`, run by tools/stages in the order of the list;
# other mk/*.mk add theirs with CHECK_FAST_STAGES += and CHECK_STAGES +=.

JOBS ?= $(shell nproc)

# What runs under the thread sanitizer: the folders whose programs start threads, or rest on code that does.
TSAN_TESTS = $(filter $(addprefix $(O)/tests/,store/% command/% unit/base/% unit/http/% unit/runtime/%),$(TESTS))

CHECK_FAST_STAGES = format-check tools-check arch-check headers-check pure-check@release check-unit@release
CHECK_STAGES      = lint check-unit@asan check-threads@tsan check-planted-race@tsan
ifneq ($(PROGRAM_TESTS),)
CHECK_FAST_STAGES += check-programs@test
CHECK_STAGES      += check-programs@asan
endif

STAGES  = tools/stages -j $(JOBS) -t $(BUILD)/totals
RESTART = -- $(MAKE_COMMAND) $(MAKEOVERRIDES)
RUN     = EVIDENCED_BIN=$(abspath $(O)) tests/support/run -j $(JOBS) -t $(BUILD)/totals/$@@$(PROFILE)

.PHONY: check check-fast check-unit check-threads check-programs check-planted-race format format-check arch-check \
        pure-check tools-check headers-check lint lint-tidy lint-cppcheck lint-analyzer

## make check           everything, sanitizers and linters included: what CI runs
check:
	@$(STAGES) $(CHECK_FAST_STAGES) $(CHECK_STAGES) $(RESTART)

## make check-fast      formatting, architecture, headers, and the tests without sanitizers
check-fast:
	@$(STAGES) $(CHECK_FAST_STAGES) $(RESTART)

## make check-unit      the unit, store and command tests of one PROFILE
check-unit: $(TESTS) $(FAULTFS)
	@$(RUN) $(TESTS)

## make check-threads   those of them that run threads (PROFILE=tsan)
check-threads: $(TSAN_TESTS) $(FAULTFS)
	@$(RUN) $(TSAN_TESTS)

## make check-programs  the tests that start evidenced itself
check-programs: $(PROGRAM_TESTS) $(PROGRAMS) $(FAULTFS)
	@$(RUN) $(PROGRAM_TESTS)

## make check-planted-race   does the thread sanitizer see a race that is there? (PROFILE=tsan)
check-planted-race: $(PLANTED_RACE)
	@tools/expect-race $(PLANTED_RACE)

# Sources the formatter owns. The tables (*.def) are aligned by hand.
FORMATTED = $(sort $(wildcard $(foreach d,src src/* src/*/* include/evidenced/* tests/* tests/*/*,$(d)/*.c $(d)/*.h)))

## make format          format the sources in place
format:
	@printf '%s\n' $(FORMATTED) | xargs -P $(JOBS) -n 16 clang-format -i

format-check:
	@printf '%s\n' $(FORMATTED) | xargs -P $(JOBS) -n 16 clang-format --dry-run -Werror

## make arch-check      do all includes go down the rows of the architecture?
arch-check:
	@tools/arch-check

# What rules without I/O are made of, and the libraries below them that they may call.
PURE    = $(filter $(O)/src/domain/% $(O)/src/tables/%,$(LIB_OBJS))
FRIENDS = $(filter $(O)/src/records/%,$(LIB_OBJS)) $(foreach f,arena buffer clock sha256 stamp text uuid,$(O)/src/base/$f.o)

## make pure-check      do the compiled rules import no I/O, clock or allocator? (of the shipped build: PROFILE=release)
pure-check: $(PURE) $(FRIENDS)
	@tools/pure-check $(PURE) -- $(FRIENDS)

tools-check:
	@tools/arch-check --self-test
	@tools/pure-check --self-test
	@tests/support/run-test

## make headers-check   does every header compile alone, and twice?
headers-check:
	@printf '%s\n' $(sort $(HEADERS) $(wildcard src/*/*.h src/*/*/*.h)) | xargs -P $(JOBS) -n 1 \
	    tools/header-check $(CC) $(filter-out evidenced/base/banned.h,$(CPPFLAGS:-include=)) $(LIBRARY_CFLAGS)

## make lint            clang-tidy, cppcheck and gcc's analyzer, at zero findings (with -j they run side by side)
lint: lint-tidy lint-cppcheck lint-analyzer

# The linters see the test build: it is the shipped code plus the crash points.
LINT          = $(BUILD)/lint
LINT_SRCS     = $(LIB_SRCS) $(CTL_SRCS) src/main.c src/ctl.c
LINT_FLAGS    = $(CPPFLAGS) -DEVD_TEST=1 -std=gnu17 $(LIBRARY_CFLAGS)
ANALYZED_SRCS = $(filter src/base/% src/domain/% src/records/%,$(LIB_SRCS))

lint-tidy: $(LINT_SRCS:%.c=$(LINT)/tidy/%.ok)

# The dependencies come from the compiler, so that only what changed is looked at again.
$(LINT)/tidy/%.ok: %.c .clang-tidy mk/check.mk
	@mkdir -p $(@D)
	@echo '  TIDY $<'
	@$(CC) $(LINT_FLAGS) -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	@clang-tidy --quiet $< -- -Wall -Wextra $(LINT_FLAGS) >$(@:.ok=.log) 2>$(@:.ok=.err) || \
	    { cat $(@:.ok=.log) $(@:.ok=.err); exit 1; }
	@touch $@

lint-analyzer: $(ANALYZED_SRCS:%.c=$(LINT)/analyzer/%.o)

$(LINT)/analyzer/%.o: %.c mk/check.mk
	@mkdir -p $(@D)
	@echo '  ANALYZE $<'
	@$(CC) -O2 -Werror -fanalyzer $(LINT_FLAGS) -MMD -MP -c -o $@ $<

lint-cppcheck:
	@mkdir -p $(LINT)/cppcheck
	@echo '  CPPCHECK src'
	@cppcheck --quiet -j $(JOBS) --cppcheck-build-dir=$(LINT)/cppcheck --error-exitcode=1 --std=c11 --library=posix \
	    --enable=warning,performance,portability --inline-suppr --suppressions-list=tools/cppcheck.suppressions \
	    -D_GNU_SOURCE -DEVD_TEST=1 -DEVD_VERSION='"$(VERSION)"' -Iinclude -Isrc $(LINT_SRCS)

-include $(LINT_SRCS:%.c=$(LINT)/tidy/%.d) $(ANALYZED_SRCS:%.c=$(LINT)/analyzer/%.d)
