## make install         install below $(DESTDIR)$(PREFIX)
install: programs
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin

## make uninstall       remove what install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/evidenced $(DESTDIR)$(PREFIX)/bin/evidencectl
