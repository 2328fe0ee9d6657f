check-unit: $(TESTS)
	tests/support/run $(TESTS)
