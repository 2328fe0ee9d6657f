.PHONY: install uninstall

## make install         install below $(DESTDIR)$(PREFIX)
install: programs
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/doc/evidenced
	install -m 755 $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/evidenced

## make uninstall       remove what install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/evidenced $(DESTDIR)$(PREFIX)/bin/evidencectl
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/evidenced
