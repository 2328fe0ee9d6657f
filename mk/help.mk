help:
	@sed -n 's/^## //p' mk/*.mk

## make                 build evidenced and evidencectl (PROFILE=release; test, asan, tsan, coverage, fuzz)
## make clean           remove build/
