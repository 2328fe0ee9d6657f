# The bench: tests/load, one program. It starts the daemon itself, on free ports and in a fresh directory below build/.

BENCH_SRCS := $(sort $(wildcard tests/load/*.c))
BENCH_OBJS := $(BENCH_SRCS:%.c=$(O)/%.o)
BENCH      := $(O)/tests/load/bench

# What to measure, and for how long: BENCH_ONLY=save-many, BENCH_SECONDS=3.
BENCH_SECONDS ?= 1
BENCH_ROUNDS  ?= 7
BENCH_ONLY    ?=

.PHONY: bench

## make bench           measure against the floors; BENCH_ONLY=save-many BENCH_SECONDS=1 BENCH_ROUNDS=7
bench: $(BENCH) $(PROGRAMS)
	@mkdir -p $(BUILD)/bench
	@$(BENCH) --daemon $(O)/evidenced --directory $(BUILD)/bench --out $(BUILD)/bench/results.json \
	    --seconds $(BENCH_SECONDS) --rounds $(BENCH_ROUNDS) --only '$(BENCH_ONLY)'

$(BENCH): $(BENCH_OBJS) $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $(BENCH_OBJS) $(LIB) $(ALL_LIBS) -lm

-include $(BENCH_OBJS:.o=.d)

## make bench-scripts   do the k6 scripts parse? (k6 and wrk themselves are run by hand, see tests/load/{k6,wrk})
.PHONY: bench-scripts
bench-scripts:
	@for script in tests/load/k6/*.js; do node --input-type=module --check < $$script || exit 1; done
