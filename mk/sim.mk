# The simulator: tests/sim, one program. A seed runs the same way every time. docs/testing.md says what it proves.

SIM_SRCS := $(sort $(wildcard tests/sim/*.c))
SIM_OBJS := $(SIM_SRCS:%.c=$(O)/%.o)
SIM      := $(O)/tests/sim/sim

SEED         ?= 1
SCHEDULES    ?= 2000
STEPS        ?= 1500
# A canary must be caught within so many seeds.
CANARY_SEEDS ?= 3000

# The store's conformance suite on the store the simulator runs on: it keeps the same promises.
SIM_STORE_TESTS = $(filter $(addprefix $(O)/tests/store/test_,port writes isolation indexes),$(TESTS))

CHECK_STAGES += check-sim@test check-sim-canaries@test check-sim-store@test check-sim@asan

# Only test builds have what it needs.
SIM_PROFILE = $(if $(filter file,$(origin PROFILE)),test,$(PROFILE))
SIM_RUNS    = sim sim-long sim-canaries

.PHONY: $(SIM_RUNS) $(SIM_RUNS:%=run-%) check-sim check-sim-canaries check-sim-store

## make sim             simulated schedules: SEED=1 SCHEDULES=2000 STEPS=1500
## make sim-long        100,000 of them
## make sim-canaries    is every deliberate bug caught, and how soon?
$(SIM_RUNS):
	@$(MAKE) --no-print-directory PROFILE=$(SIM_PROFILE) run-$@

run-sim: $(SIM)
	@$(SIM) --seed $(SEED) --schedules $(SCHEDULES) --steps $(STEPS) --jobs $(JOBS)

run-sim-long: $(SIM)
	@$(SIM) --seed $(SEED) --schedules 100000 --steps $(STEPS) --jobs $(JOBS)

run-sim-canaries: $(SIM)
	@$(SIM) --canaries --seed $(SEED) --schedules $(CANARY_SEEDS) --steps $(STEPS) --jobs $(JOBS)

# Fewer under the sanitizers; and the same seeds once more, in a process of its own: every byte must be the same.
check-sim: $(SIM)
	@$(SIM) --schedules $(if $(filter asan,$(PROFILE)),300,$(SCHEDULES)) --steps $(STEPS) \
	    --jobs $(if $(filter asan,$(PROFILE)),1,$(JOBS))
	@first=$$($(SIM) --schedules 50 --steps $(STEPS) --twice) && second=$$($(SIM) --schedules 50 --steps $(STEPS)) && \
	    [ "$$first" = "$$second" ] || { printf '%s\n' "the same seeds run another way:" "$$first" "$$second"; exit 1; }

check-sim-canaries: $(SIM)
	@mkdir -p $(BUILD)/totals $(O)/log
	@status=0; $(SIM) --canaries --schedules $(CANARY_SEEDS) --steps $(STEPS) --jobs $(JOBS) >$(O)/log/canaries.log || \
	    status=$$?; cat $(O)/log/canaries.log; \
	    awk '/^[0-9]+ passed, [0-9]+ failed/ { print $$1, $$3, 0 }' $(O)/log/canaries.log >$(BUILD)/totals/$@@$(PROFILE); \
	    exit $$status

check-sim-store: $(SIM_STORE_TESTS)
	@EVIDENCED_TEST_STORE=simulated $(RUN) $(SIM_STORE_TESTS)

$(SIM): $(SIM_OBJS) $(SUPPORT_OBJS) $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $(SIM_OBJS) $(SUPPORT_OBJS) $(LIB) $(shell $(PKG_CONFIG) --libs check) $(ALL_LIBS)

-include $(SIM_OBJS:.o=.d)
