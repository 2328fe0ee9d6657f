# The simulator: tests/sim, one program. A seed runs the same way every time.

SIM_SRCS := $(sort $(wildcard tests/sim/*.c))
SIM_OBJS := $(SIM_SRCS:%.c=$(O)/%.o)
SIM      := $(O)/tests/sim/sim

SEED      ?= 1
SCHEDULES ?= 2000
STEPS     ?= 600

.PHONY: sim sim-long

## make sim             simulated schedules: SEED=1 SCHEDULES=2000 STEPS=600 (PROFILE=test)
sim: $(SIM)
	@$(SIM) --seed $(SEED) --schedules $(SCHEDULES) --steps $(STEPS)

## make sim-long        100,000 of them
sim-long: $(SIM)
	@$(SIM) --seed $(SEED) --schedules 100000 --steps $(STEPS)

$(SIM): $(SIM_OBJS) $(SUPPORT_OBJS) $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $(SIM_OBJS) $(SUPPORT_OBJS) $(LIB) $(shell $(PKG_CONFIG) --libs check) $(ALL_LIBS)

-include $(SIM_OBJS:.o=.d)
