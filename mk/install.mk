MANDIR        = $(DESTDIR)$(PREFIX)/share/man/man1
COMPLETIONDIR = $(DESTDIR)$(PREFIX)/share/bash-completion/completions

.PHONY: install uninstall

## make install         install below $(DESTDIR)$(PREFIX)
install: programs manual
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/doc/evidenced $(MANDIR) $(COMPLETIONDIR)
	install -m 755 $(PROGRAMS) $(DESTDIR)$(PREFIX)/bin
	install -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/evidenced
	install -m 644 $(O)/man/evidenced.1 $(O)/man/evidencectl.1 $(MANDIR)
	install -m 644 $(O)/man/evidencectl.bash $(COMPLETIONDIR)/evidencectl

## make uninstall       remove what install put there
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/evidenced $(DESTDIR)$(PREFIX)/bin/evidencectl
	rm -f $(MANDIR)/evidenced.1 $(MANDIR)/evidencectl.1 $(COMPLETIONDIR)/evidencectl
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/evidenced
