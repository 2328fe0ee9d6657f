# The description of the API: made from the service's own tables and the words in api/prose.yaml, so that it cannot differ
# from what the service does. Needs node and npm; their packages are pinned in tests/http/package-lock.json.
# The stages are in mk/client.mk.

NODE ?= node
NPM  ?= npm

DESCRIBE     := $(O)/tools/describe
NODE_MODULES := tests/http/node_modules
API_MADE      = $(BUILD)/api
API_FILES     = openapi.yaml openapi-3.0.json problems
REDOCLY       = REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true $(NODE_MODULES)/.bin/redocly

.PHONY: api

$(DESCRIBE): $(O)/tools/describe.o $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(ALL_LIBS)

-include $(DESCRIBE).d

$(NODE_MODULES)/.package-lock.json: tests/http/package.json tests/http/package-lock.json tests/http/.npmrc
	@echo '  NPM tests/http'
	@cd tests/http && $(NPM) ci --no-progress --loglevel=error
	@touch $@

## make api             write api/openapi.yaml, its 3.0 copy and api/problems anew, lint them; fails if they were out of date
api: $(DESCRIBE) $(NODE_MODULES)/.package-lock.json
	@rm -rf $(API_MADE) && mkdir -p $(API_MADE)
	@$(DESCRIBE) >$(API_MADE)/tables.json
	@$(NODE) api/generate.mjs $(API_MADE)/tables.json $(API_MADE)
	@$(REDOCLY) lint --config api/redocly.yaml $(API_MADE)/openapi.yaml $(API_MADE)/openapi-3.0.json
	@api/update $(API_MADE) $(API_FILES)
