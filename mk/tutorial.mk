# The tutorial is run as it stands: every command in docs/tutorial.md, against a daemon of its own. Needs Node 18.

CHECK_STAGES += check-tutorial@test

.PHONY: check-tutorial tutorial

## make check-tutorial  does every command in docs/tutorial.md still print what the page shows?
check-tutorial: $(PROGRAMS)
	@$(DEMO_NODE)
	@$(NODE) --test tests/tutorial/page.test.mjs
	@$(NODE) tests/tutorial/run.mjs docs/tutorial.md $(O) $(BUILD)/totals/$@@$(PROFILE)

## make tutorial        write what the commands print now into docs/tutorial.md, to be read before it is committed
tutorial: $(PROGRAMS)
	@$(DEMO_NODE)
	@$(NODE) tests/tutorial/run.mjs --write docs/tutorial.md $(O)
