/*
 * Canaries: none sings unless it was chosen, and a misspelt choice does not pass for one that nothing catches.
 */
#include "../../support/test.h"

#include "evidenced/base/canary.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(every_canary_has_a_name_of_its_own_and_says_what_it_breaks) {
    for (int i = 0; i < EVD_CANARY_COUNT; i++) {
        const char *name = evd_canary_name((enum evd_canary)i);
        ck_assert_uint_gt(strlen(name), 0);
        ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
        ck_assert_uint_gt(strlen(evd_canary_meaning((enum evd_canary)i)), 0);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(name, evd_canary_name((enum evd_canary)j));
    }
}
END_TEST

#ifdef EVD_TEST

static unsigned singing(void) {
    unsigned count = 0;
    for (int i = 0; i < EVD_CANARY_COUNT; i++)
        count += evd_canary_is_chosen((enum evd_canary)i);
    return count;
}

START_TEST(none_sings_unless_it_was_chosen) {
    ck_assert_uint_eq(singing(), 0);
    evd_canary_choose(EVD_CANARY_LEDGER_NOT_READ);
    ck_assert(EVD_CANARY(LEDGER_NOT_READ));
    ck_assert_uint_eq(singing(), 1);
    evd_canary_choose(EVD_CANARY_COUNT);
    ck_assert_uint_eq(singing(), 0);
}
END_TEST

/* How a process ends with this wish: its exit status, 1 when LEDGER_NOT_READ sings; or the signal, negative. */
static int end_of(const char *wish) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (setenv("EVIDENCED_CANARY", wish, 1) != 0) _exit(9);
        _exit(EVD_CANARY(LEDGER_NOT_READ) ? 1 : 0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

START_TEST(the_environment_chooses_one_by_its_whole_name) {
    ck_assert_int_eq(end_of("ledger-not-read"), 1);
    ck_assert_int_eq(end_of("reads-latest"), 0);
    ck_assert_int_eq(end_of("ledger-not"), -SIGABRT);
    ck_assert_int_eq(end_of("ledger-not-reads"), -SIGABRT);
    ck_assert_int_eq(end_of(""), -SIGABRT);
}
END_TEST

EVD_TEST_MAIN("base: canaries", every_canary_has_a_name_of_its_own_and_says_what_it_breaks,
              none_sings_unless_it_was_chosen, the_environment_chooses_one_by_its_whole_name)

#else

START_TEST(in_what_is_shipped_none_sings) {
    ck_assert(!EVD_CANARY(LEDGER_NOT_READ));
}
END_TEST

EVD_TEST_MAIN("base: canaries", every_canary_has_a_name_of_its_own_and_says_what_it_breaks,
              in_what_is_shipped_none_sings)

#endif
