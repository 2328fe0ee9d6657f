# The front end's client: api/client made a package, and its tests: by itself, against the real daemon, and in a browser.
# Types come from api/openapi.yaml; tools and lockfile are those of tests/http.

FRONTEND           = $(BUILD)/client
FRONTEND_SRCS      = $(wildcard api/client/src/*.ts api/client/src/*/*.ts)
FRONTEND_TESTS     = $(FRONTEND)/tests/client
FRONTEND_TEST_SRCS = $(wildcard tests/client/*.ts tests/client/*/*.ts tests/http/support/*.ts)
PACKAGE            = $(FRONTEND)/package

.PHONY: client check-frontend

## make client          the front end's client as an npm package in build/client/package
client: $(PACKAGE)/made

$(FRONTEND)/types/api.d.ts: api/openapi.yaml $(NODE_MODULES)/.package-lock.json
	@mkdir -p $(@D)
	@echo '  GEN $@'
	@$(NODE_MODULES)/.bin/openapi-typescript api/openapi.yaml -o $@ >$@.log 2>&1 || { cat $@.log; exit 1; }

$(FRONTEND)/tsconfig.json: mk/frontend.mk
	@mkdir -p $(@D)
	@ln -sfn $(abspath $(NODE_MODULES)) $(@D)/node_modules
	@printf '{"extends":"%s","compilerOptions":{"rootDir":"%s","rootDirs":["%s","%s"],"outDir":"package/dist"},"include":["%s"]}\n' \
	    $(abspath api/client/tsconfig.json) $(abspath api/client/src) $(abspath api/client/src) \
	    $(abspath $(FRONTEND)/types) '$(abspath api/client/src)/**/*.ts' >$@

$(PACKAGE)/made: $(FRONTEND)/tsconfig.json $(FRONTEND)/types/api.d.ts api/client/tsconfig.json api/client/package.json \
                 api/client/README.md VERSION $(FRONTEND_SRCS)
	@echo '  TSC api/client'
	@rm -rf $(PACKAGE) && mkdir -p $(PACKAGE)
	@$(NODE_MODULES)/.bin/tsc -p $(FRONTEND)/tsconfig.json
	@cp $(FRONTEND)/types/api.d.ts $(PACKAGE)/dist/
	@cp api/client/README.md LICENSE $(PACKAGE)/
	@sed 's/"version": "0.0.0"/"version": "$(VERSION)"/' api/client/package.json >$(PACKAGE)/package.json
	@touch $@

# `paths` is for the compiler, `imports` for node.
$(FRONTEND)/tests/tsconfig.json: mk/frontend.mk
	@mkdir -p $(@D)
	@printf '{"type":"module","imports":{"#client":"./package/dist/node.js","#client/*":"./package/dist/*"}}\n' >$(FRONTEND)/package.json
	@printf '{"extends":"%s","compilerOptions":{"rootDir":"%s","outDir":".","lib":["ES2022","DOM","DOM.Iterable"],%s},"include":["%s"]}\n' \
	    $(abspath tests/http/tsconfig.json) $(abspath tests) \
	    '"paths":{"#api":["../types/api.d.ts"],"#client":["../package/dist/index.d.ts"],"#client/*":["../package/dist/*"],"/client/index.js":["../package/dist/index.d.ts"],"playwright-core":["../node_modules/playwright-core/index.d.ts"]}' \
	    '$(abspath tests/client)/**/*.ts' >$@

$(FRONTEND)/tests/compiled: $(FRONTEND)/tests/tsconfig.json $(PACKAGE)/made tests/http/tsconfig.json $(FRONTEND_TEST_SRCS)
	@echo '  TSC tests/client'
	@rm -rf $(FRONTEND)/tests/client $(FRONTEND)/tests/http
	@$(NODE_MODULES)/.bin/tsc -p $(FRONTEND)/tests/tsconfig.json
	@touch $@

check-client: $(FRONTEND)/tests/compiled

# Only those.
check-frontend: $(FRONTEND)/tests/compiled $(PROGRAMS)
	@NODE=$(NODE) EVIDENCED_BIN=$(abspath $(O)) tests/http/run $(FRONTEND_TESTS)
