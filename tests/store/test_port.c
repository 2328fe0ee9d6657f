/*
 * The port's own part: what the observer is told, and which arguments are programmer errors.
 */
#include "suite.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char told[4096];
static size_t told_bytes;

static void listen_in(void *self, const char *call, evd_collection in, size_t records) {
    ck_assert_ptr_eq(self, told);
    told_bytes += (size_t)snprintf(told + told_bytes, sizeof told - told_bytes, "%s %s %zu; ", call,
                                   collection_names[in], records);
}

static void expect_told(const char *expected) {
    ck_assert_str_eq(told, expected);
    told_bytes = 0;
    told[0] = '\0';
}

START_TEST(the_observer_is_told_of_each_call_and_of_nothing_else) {
    suite_open();
    evd_store_observe(store, listen_in, told);
    struct evd_image one = IMAGE(.rank = 1), two = IMAGE(.version = 2, .rank = 2);
    struct evd_txn *txn = begin();
    expect_told("");
    const struct evd_key keys[] = {thing_key(1), key_in(NOTES, 1, 1), thing_key(2), key_in(LEDGER, 1, 1), thing_key(1)};
    struct evd_image images[5];
    ck_assert_int_eq(evd_txn_get(txn, keys, 5, images).status, EVD_STORE_OK);
    expect_told("get notes 1; get things 3; get ledger 1; ");
    ck_assert_int_eq(evd_txn_get(txn, keys, 0, images).status, EVD_STORE_OK);
    expect_told("");
    struct evd_write writes[] = {inserting(key_in(LEDGER, 1, 1), one), inserting(thing_key(1), one),
                                 inserting_once(thing_key(2), one), inserting(key_in(NOTES, 1, 1), one)};
    ck_assert_int_eq(commit(txn, writes, 4), EVD_STORE_OK);
    expect_told("insert notes 1; insert things 2; insert ledger 1; ");
    struct evd_write changes[] = {deleting(key_in(NOTES, 1, 1), one), replacing(thing_key(2), one, two),
                                  inserting(thing_key(3), two), replacing(thing_key(1), one, two)};
    ck_assert_int_eq(write_all(changes, 4), EVD_STORE_OK);
    expect_told("insert things 1; replace things 2; delete notes 1; ");
    ck_assert_int_eq(write_all(changes, 4), EVD_STORE_CONFLICT);
    expect_told("insert things 1; replace things 2; delete notes 1; ");
    const struct evd_range range = {.index = &indexes[BY_RANK], .project = thing_key(0).project, .limit = 2};
    struct evd_key found[2];
    size_t count = 0;
    txn = begin_in(&arena, EVD_READ_LATEST);
    ck_assert_int_eq(evd_txn_scan(txn, &range, found, images, &count).status, EVD_STORE_OK);
    evd_txn_close(txn);
    expect_told("scan things 2; ");
    ck_assert_int_eq(evd_store_swap(store, &changes[2], evd_store_fixture_far()).status, EVD_STORE_DUPLICATE);
    expect_told("swap things 1; ");
    ck_assert_int_eq(evd_store_probe(store, evd_store_fixture_far()).status, EVD_STORE_OK);
    evd_store_observe(store, NULL, NULL);
    (void)latest(thing_key(1));
    expect_told("");
    suite_close();
}
END_TEST

/* Each of these is a bug of the caller and must stop the process, not reach the database. */
enum misuse {
    SAME_KEY_TWICE,
    UNUSED_COLLECTION,
    COLLECTION_BEYOND,
    INSERT_OF_NOTHING,
    DELETE_WITH_CONTENT,
    REPLACE_OF_NOTHING,
    TOO_LARGE,
    COMMIT_OF_LATEST,
    COMMIT_TWICE,
    READ_AFTER_COMMIT,
    AGAIN_WITHOUT_UNKNOWN,
    NO_LIMIT,
    TOO_MANY_EQUAL,
    MISUSES
};

static void misuse(enum misuse how) {
    struct evd_image one = IMAGE(.rank = 1);
    struct evd_image huge = {.bson = one.bson, .size_bytes = EVD_LIMIT_DOCUMENT_BYTES + 1};
    struct evd_write twice[] = {inserting(thing_key(5), one), inserting(thing_key(6), one),
                                inserting(thing_key(5), one)};
    struct evd_write unused = inserting(key_in(2, 1, 1), one), beyond = inserting(key_in(5, 1, 1), one);
    struct evd_write nothing = inserting(thing_key(1), (struct evd_image){0}), large = inserting(thing_key(1), huge);
    struct evd_write content = {.kind = EVD_DELETE, .key = thing_key(1), .before = one, .after = one};
    struct evd_write no_before = replacing(thing_key(1), (struct evd_image){0}, one);
    const struct evd_value equal[2] = {{.kind = EVD_VALUE_I64}, {.kind = EVD_VALUE_I64}};
    struct evd_range range = {.index = &indexes[BY_RANK], .limit = how == NO_LIMIT ? 0 : 1};
    struct evd_key key = thing_key(1);
    size_t count;
    struct evd_txn *txn = begin_in(&arena, how == COMMIT_OF_LATEST ? EVD_READ_LATEST : EVD_READ_SNAPSHOT);
    struct evd_store_result result = {.status = EVD_STORE_OK};
    switch (how) {
    case SAME_KEY_TWICE: result = evd_txn_commit(txn, twice, 3); break;
    case UNUSED_COLLECTION: result = evd_txn_commit(txn, &unused, 1); break;
    case COLLECTION_BEYOND: result = evd_txn_commit(txn, &beyond, 1); break;
    case INSERT_OF_NOTHING: result = evd_txn_commit(txn, &nothing, 1); break;
    case DELETE_WITH_CONTENT: result = evd_txn_commit(txn, &content, 1); break;
    case REPLACE_OF_NOTHING: result = evd_txn_commit(txn, &no_before, 1); break;
    case TOO_LARGE: result = evd_txn_commit(txn, &large, 1); break;
    case COMMIT_OF_LATEST: result = evd_txn_commit(txn, twice, 1); break;
    case COMMIT_TWICE:
        ck_assert_int_eq(evd_txn_commit(txn, twice, 1).status, EVD_STORE_OK);
        result = evd_txn_commit(txn, twice + 1, 1);
        break;
    case READ_AFTER_COMMIT:
        ck_assert_int_eq(evd_txn_commit(txn, twice, 1).status, EVD_STORE_OK);
        result = evd_txn_get(txn, &key, 1, &one);
        break;
    case AGAIN_WITHOUT_UNKNOWN:
        ck_assert_int_eq(evd_txn_commit(txn, twice, 1).status, EVD_STORE_OK);
        result = evd_txn_commit_again(txn, evd_store_fixture_far());
        break;
    case TOO_MANY_EQUAL:
        range.equal = equal;
        range.equal_count = 2;
        __attribute__((fallthrough));
    case NO_LIMIT: result = evd_txn_scan(txn, &range, &key, &one, &count); break;
    case MISUSES: break;
    }
    (void)result;
}

START_TEST(misuse_stops_the_process) {
    const struct rlimit no_core = {0, 0};
    ck_assert_int_eq(setenv("TMPDIR", evd_test_directory(), 1), 0); /* what they leave behind is removed with it */
    for (enum misuse how = SAME_KEY_TWICE; how < MISUSES; how++) {
        int status = 0;
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0) {
            (void)setrlimit(RLIMIT_CORE, &no_core);
            (void)close(STDERR_FILENO);
            suite_open();
            misuse(how);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "misuse %d was let through", (int)how);
    }
}
END_TEST

START_TEST(every_status_has_a_name_of_its_own) {
    for (int a = EVD_STORE_OK; a <= EVD_STORE_CORRUPT; a++)
        for (int b = EVD_STORE_OK; b < a; b++)
            ck_assert_str_ne(evd_store_status_name((enum evd_store_status)a),
                             evd_store_status_name((enum evd_store_status)b));
}
END_TEST

START_TEST(closing_no_store_is_fine) {
    evd_store_close(NULL);
}
END_TEST

EVD_TEST_MAIN("store: port", the_observer_is_told_of_each_call_and_of_nothing_else, misuse_stops_the_process,
              every_status_has_a_name_of_its_own, closing_no_store_is_fine)
