#include "evidenced/base/roff.h"

#include "evidenced/base/buffer.h"

static void add_character(struct evd_buffer *to, char character) {
    switch (character) {
    case '\\': evd_buffer_add_text(to, EVD_TEXT("\\e")); break;
    case '-': evd_buffer_add_text(to, EVD_TEXT("\\-")); break;
    case '\'': evd_buffer_add_text(to, EVD_TEXT("\\(aq")); break;
    case '`': evd_buffer_add_text(to, EVD_TEXT("\\(ga")); break;
    case '"': evd_buffer_add_text(to, EVD_TEXT("\\(dq")); break;
    case '^': evd_buffer_add_text(to, EVD_TEXT("\\(ha")); break;
    case '~': evd_buffer_add_text(to, EVD_TEXT("\\(ti")); break;
    case '\n': evd_buffer_add_byte(to, ' '); break;
    default: evd_buffer_add_byte(to, (uint8_t)character); break;
    }
}

static void add_escaped(struct evd_buffer *to, struct evd_text text) {
    for (size_t i = 0; i < text.size_bytes; i++)
        add_character(to, text.bytes[i]);
}

void evd_roff_line(struct evd_buffer *to, struct evd_text text) {
    if (text.size_bytes > 0 && text.bytes[0] == '.') evd_buffer_add_text(to, EVD_TEXT("\\&"));
    add_escaped(to, text);
    evd_buffer_add_byte(to, '\n');
}

static void add_order(struct evd_buffer *to, const char *order, const char *title) {
    evd_buffer_print(to, ".%s ", order);
    add_escaped(to, evd_text_from(title));
    evd_buffer_add_byte(to, '\n');
}

void evd_roff_section(struct evd_buffer *to, const char *title) {
    add_order(to, "SH", title);
}

void evd_roff_part(struct evd_buffer *to, const char *title) {
    add_order(to, "SS", title);
}

void evd_roff_item(struct evd_buffer *to, const char *bold, const char *italic) {
    evd_buffer_add_text(to, EVD_TEXT(".TP\n\\fB"));
    add_escaped(to, evd_text_from(bold));
    evd_buffer_add_text(to, EVD_TEXT("\\fR"));
    if (italic[0] != '\0') {
        evd_buffer_add_text(to, EVD_TEXT(" \\fI"));
        add_escaped(to, evd_text_from(italic));
        evd_buffer_add_text(to, EVD_TEXT("\\fR"));
    }
    evd_buffer_add_byte(to, '\n');
}
