# What people meet first. Both need Node 18 and nothing from npm; the programs are in examples/demo.

NODE ?= node
PORT ?=

DEMO_NODE = command -v $(NODE) >/dev/null || \
    { echo "$(NODE) is missing, version 18 or later. Run: sh deploy/bootstrap" >&2; exit 1; }

CHECK_STAGES += check-demo@test

.PHONY: demo demo-play run check-demo

## make demo            three reviewers, broken connections, a daemon that is killed, and a recount; seconds
demo:
	@$(DEMO_NODE)
	@$(MAKE) --no-print-directory PROFILE=test demo-play

# It takes a test build, whose daemon can be told to kill itself at a named place.
demo-play: $(PROGRAMS)
	@$(NODE) examples/demo/demo.mjs $(O) $(BUILD)/demo

## make run             serve a project to try things out with, in the foreground; PORT=8080 unless that is taken
run: $(PROGRAMS)
	@$(DEMO_NODE)
	@$(NODE) examples/demo/run.mjs $(O) $(BUILD)/run $(PORT) && exec $(O)/evidenced --config $(BUILD)/run/evidenced.conf

## make check-demo      does the demo hold, and would its recount notice if something were lost or doubled?
check-demo:
	@$(DEMO_NODE)
	@$(NODE) --test examples/demo/recount.test.mjs
	@$(MAKE) --no-print-directory demo
