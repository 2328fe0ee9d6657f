# The contract tests: a client generated from api/openapi.yaml calls the real daemon, and the description is the judge
# of every answer.

CLIENT      = $(BUILD)/http
CLIENT_SRCS = $(wildcard tests/http/*.ts tests/http/support/*.ts)

CHECK_FAST_STAGES += api
CHECK_STAGES      += check-client@test

.PHONY: check-client

$(CLIENT)/api.d.ts: api/openapi.yaml $(NODE_MODULES)/.package-lock.json
	@mkdir -p $(@D)
	@echo '  GEN $@'
	@$(NODE_MODULES)/.bin/openapi-typescript api/openapi.yaml -o $@ >$@.log 2>&1 || { cat $@.log; exit 1; }

# The compiler's own configuration of this build: where the generated types are and where the programs go.
$(CLIENT)/tsconfig.json: mk/client.mk
	@mkdir -p $(@D)
	@ln -sfn $(abspath $(NODE_MODULES)) $(@D)/node_modules
	@printf '{"type":"module"}\n' >$(@D)/package.json
	@printf '{"extends":"%s","compilerOptions":{"rootDir":"%s","outDir":".","paths":{"#api":["./api.d.ts"]}},"include":["%s"]}\n' \
	    $(abspath tests/http/tsconfig.json) $(abspath tests/http) '$(abspath tests/http)/**/*.ts' >$@

$(CLIENT)/compiled: $(CLIENT)/tsconfig.json $(CLIENT)/api.d.ts tests/http/tsconfig.json $(CLIENT_SRCS)
	@echo '  TSC tests/http'
	@rm -f $(CLIENT)/*.js $(CLIENT)/support/*.js
	@$(NODE_MODULES)/.bin/tsc -p $(CLIENT)/tsconfig.json
	@touch $@

## make check-client    the API by a generated client, and the front end's client, against the real daemon (PROFILE=test)
check-client: $(CLIENT)/compiled $(PROGRAMS)
	@NODE=$(NODE) EVIDENCED_BIN=$(abspath $(O)) tests/http/run -t $(BUILD)/totals/$@@$(PROFILE) $(CLIENT) $(FRONTEND_TESTS)
