# What is installed beside the programs: manual pages and completion, made from the programs' own tables.
MANUAL  := $(O)/tools/manual
MANUALS  = $(O)/man/evidenced.1 $(O)/man/evidencectl.1 $(O)/man/evidencectl.bash

CHECK_FAST_STAGES += manual@release

.PHONY: manual

## make manual          the manual pages and the bash completion, in build/<profile>/man
manual: $(MANUALS)

$(MANUAL): $(O)/tools/manual.o $(CTL) $(LIB)
	@echo '  LD $(PROFILE) $(@F)'
	@$(CC) $(ALL_LDFLAGS) -o $@ $< $(CTL) $(LIB) $(CTL_LIBS)

$(MANUALS): $(O)/man/%: $(MANUAL)
	@mkdir -p $(@D)
	@$(MANUAL) $* >$@

-include $(MANUAL).d
