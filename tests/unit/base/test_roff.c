#include "../../support/test.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/config.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/roff.h"

static struct evd_arena arena;

static struct evd_buffer begin(void) {
    struct evd_buffer text;
    evd_arena_init(&arena, EVD_MIB);
    evd_buffer_init(&text, &arena, 0);
    return text;
}

static void assert_text(struct evd_buffer *text, const char *expected) {
    evd_buffer_add_byte(text, '\0');
    ck_assert_str_eq(evd_buffer_text(text).bytes, expected);
    evd_arena_done(&arena);
}

START_TEST(no_character_of_a_text_is_an_order) {
    struct evd_buffer text = begin();
    evd_roff_line(&text, EVD_TEXT(".TH is-no 'order' \\fB`\"^~\n.x"));
    evd_roff_line(&text, EVD_TEXT("'tis"));
    assert_text(&text, "\\&.TH is\\-no \\(aqorder\\(aq \\efB\\(ga\\(dq\\(ha\\(ti .x\n\\(aqtis\n");
}
END_TEST

START_TEST(an_item_is_what_is_typed_and_what_stands_for_something) {
    struct evd_buffer text = begin();
    evd_roff_section(&text, "OPTIONS");
    evd_roff_part(&text, "Where it listens");
    evd_roff_item(&text, "--data", "PATH");
    evd_roff_item(&text, "--help", "");
    assert_text(&text,
                ".SH OPTIONS\n.SS Where it listens\n.TP\n\\fB\\-\\-data\\fR \\fIPATH\\fR\n.TP\n\\fB\\-\\-help\\fR\n");
}
END_TEST

START_TEST(the_manual_of_the_configuration_knows_every_option) {
    struct evd_buffer text = begin();
    evd_config_manual(&text);
    evd_buffer_add_byte(&text, '\0');
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++) {
        struct evd_buffer item;
        evd_buffer_init(&item, &arena, 0);
        evd_roff_item(&item, evd_text_print(&arena, "--%s", evd_config_name(option)).bytes, "");
        struct evd_text line = evd_buffer_text(&item);
        ck_assert_ptr_nonnull(memmem(text.bytes, text.size_bytes, line.bytes, line.size_bytes - 1));
    }
    evd_arena_done(&arena);
}
END_TEST

EVD_TEST_MAIN("base: roff", no_character_of_a_text_is_an_order, an_item_is_what_is_typed_and_what_stands_for_something,
              the_manual_of_the_configuration_knows_every_option)
