# Documents made from the sources, and the proof that they are up to date.
DICTIONARY_SOURCES = src/records/definitions.def src/records/study.def src/records/evidence.def src/records/operations.def \
                     src/records/names.def src/records/indexes.def
CHECK_FAST_STAGES += dictionary-check

.PHONY: dictionary dictionary-check

## make dictionary      write docs/data-dictionary.md from the record declarations
dictionary:
	@tools/dictionary $(DICTIONARY_SOURCES) > docs/data-dictionary.md

dictionary-check:
	@tools/dictionary $(DICTIONARY_SOURCES) | cmp -s - docs/data-dictionary.md || \
	    { echo 'docs/data-dictionary.md is out of date: run make dictionary'; exit 1; }
