/*
 * The class of a version by what its reviewer was shown, and where a session stands after a version.
 */
#include "../../support/test.h"

#include "evidenced/domain/exposure.h"
#include "evidenced/domain/session.h"

START_TEST(shown_for_it_or_an_earlier_version_is_informed_said_throughout_is_independent_else_unknown) {
    static const struct {
        int64_t seq;
        bool declared;
        int64_t first_exposed;
        enum evd_exposure_class expected;
    } table[] = {
        {1, true, 0, EVD_EXPOSURE_INDEPENDENT}, {1, false, 0, EVD_EXPOSURE_UNKNOWN},
        {1, true, 1, EVD_EXPOSURE_INFORMED},    {1, false, 1, EVD_EXPOSURE_INFORMED},
        {5, true, 4, EVD_EXPOSURE_INFORMED},    {5, false, 4, EVD_EXPOSURE_INFORMED},
        {5, true, 5, EVD_EXPOSURE_INFORMED},    {5, true, 6, EVD_EXPOSURE_INDEPENDENT},
        {5, false, 6, EVD_EXPOSURE_UNKNOWN},    {5, true, 0, EVD_EXPOSURE_INDEPENDENT},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        ck_assert_msg(evd_exposure_class_of(table[i].seq, table[i].declared, table[i].first_exposed) ==
                          table[i].expected,
                      "row %zu", i);
}
END_TEST

START_TEST(only_complete_leaves_a_session_completed_and_only_withdraw_withdrawn) {
    static const enum evd_session_state expected[EVD_END_OF_version_kind] = {
        [EVD_NONE_OF_version_kind] = EVD_NONE_OF_session_state, [EVD_VERSION_SAVE] = EVD_SESSION_SAVED_INCOMPLETE,
        [EVD_VERSION_COMPLETE] = EVD_SESSION_COMPLETED,         [EVD_VERSION_FIX] = EVD_SESSION_SAVED_INCOMPLETE,
        [EVD_VERSION_WITHDRAW] = EVD_SESSION_WITHDRAWN,         [EVD_VERSION_UPGRADE] = EVD_SESSION_SAVED_INCOMPLETE,
    };
    for (int kind = 0; kind < EVD_END_OF_version_kind; kind++)
        ck_assert_int_eq(evd_session_state_after((enum evd_version_kind)kind), expected[kind]);
}
END_TEST

EVD_TEST_MAIN("domain: exposure",
              shown_for_it_or_an_earlier_version_is_informed_said_throughout_is_independent_else_unknown,
              only_complete_leaves_a_session_completed_and_only_withdraw_withdrawn)
