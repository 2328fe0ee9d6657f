.PHONY: help

help:
	@sed -n 's/^## //p' Makefile mk/*.mk
