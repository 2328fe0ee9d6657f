# Pages that are run: every command in docs/tutorial.md as it stands, and every refusal docs/drafts.md lists, each against
# a daemon of its own. Needs Node 18.

CHECK_STAGES += check-tutorial@test

.PHONY: check-tutorial tutorial

## make check-tutorial  does every command in docs/tutorial.md print what it shows, is docs/drafts.md true?
check-tutorial: $(PROGRAMS)
	@$(DEMO_NODE)
	@EVIDENCED_BIN=$(abspath $(O)) $(NODE) --test tests/tutorial/page.test.mjs tests/tutorial/drafts.test.mjs
	@$(NODE) tests/tutorial/run.mjs docs/tutorial.md $(O) $(BUILD)/totals/$@@$(PROFILE)

## make tutorial        write what the commands print now into docs/tutorial.md, to be read before it is committed
tutorial: $(PROGRAMS)
	@$(DEMO_NODE)
	@$(NODE) tests/tutorial/run.mjs --write docs/tutorial.md $(O)
