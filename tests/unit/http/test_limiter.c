#include "../../../src/http/networks.h"
#include "../../support/test.h"

#include "evidenced/http/limiter.h"

#include <pthread.h>

enum { SECOND = 1000000, THREADS = 4, ROUNDS = 20000 };

static struct evd_limiter *limiter;
static struct evd_limited *held[256];

static evd_uuid person(unsigned number) {
    evd_uuid id = {{0}};
    memcpy(id.bytes, &number, sizeof number);
    return id;
}

START_TEST(a_caller_has_so_many_calls_in_flight_and_no_more) {
    const struct evd_limits limits = {.in_flight = 2, .rate = 1000, .burst = 1000};
    limiter = evd_limiter_new(0);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(1), 0, &held[0]), EVD_ADMITTED);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(1), 0, &held[1]), EVD_ADMITTED);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(1), 0, &held[2]), EVD_TOO_MANY_IN_FLIGHT);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(2), 0, &held[2]), EVD_ADMITTED);
    evd_limiter_leave(limiter, held[0]);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(1), 0, &held[0]), EVD_ADMITTED);
    for (int i = 0; i < 3; i++)
        evd_limiter_leave(limiter, held[i]);
    evd_limiter_leave(limiter, NULL);
    evd_limiter_free(limiter);
}
END_TEST

static int64_t took(const struct evd_limits *limits, int64_t now_us) {
    int64_t count = 0;
    while (evd_limiter_spend(limiter, limits, person(1), now_us))
        count++;
    return count;
}

START_TEST(a_bucket_gives_its_burst_at_once_and_its_rate_from_then_on) {
    const struct evd_limits limits = {.rate = 10, .burst = 5};
    limiter = evd_limiter_new(0);
    ck_assert_int_eq(took(&limits, 1000), 5);
    ck_assert(!evd_limiter_has(limiter, &limits, person(1), 1000));
    ck_assert(evd_limiter_has(limiter, &limits, person(2), 1000));
    ck_assert_int_eq(took(&limits, 1000 + SECOND / 10 - 1), 0);
    ck_assert_int_eq(took(&limits, 1000 + SECOND / 10), 1);
    ck_assert_int_eq(took(&limits, 1000 + SECOND / 10), 0);
    ck_assert_int_eq(took(&limits, 1000 + SECOND / 2), 4);
    ck_assert_int_eq(took(&limits, INT64_C(1000) * SECOND), 5);
    ck_assert_int_eq(took(&limits, INT64_MAX / 4), 5); /* an age later nothing overflows */
    evd_limiter_free(limiter);
}
END_TEST

START_TEST(a_time_that_goes_back_gives_nothing_and_takes_nothing) {
    const struct evd_limits limits = {.rate = 1, .burst = 2};
    limiter = evd_limiter_new(0);
    ck_assert_int_eq(took(&limits, 10 * SECOND), 2);
    ck_assert_int_eq(took(&limits, 5 * SECOND), 0);
    ck_assert_int_eq(took(&limits, 11 * SECOND), 1);
    evd_limiter_free(limiter);
}
END_TEST

START_TEST(a_smaller_burst_holds_at_once) {
    struct evd_limits limits = {.rate = 1, .burst = 100};
    limiter = evd_limiter_new(0);
    ck_assert(evd_limiter_spend(limiter, &limits, person(1), 0));
    limits.burst = 3;
    ck_assert_int_eq(took(&limits, 0), 3);
    evd_limiter_free(limiter);
}
END_TEST

START_TEST(who_calls_too_fast_takes_no_place_in_flight) {
    const struct evd_limits limits = {.in_flight = 8, .rate = 1, .burst = 1};
    limiter = evd_limiter_new(0);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(1), 0, &held[0]), EVD_ADMITTED);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(1), 0, &held[1]), EVD_TOO_FAST);
    evd_limiter_leave(limiter, held[0]);
    evd_limiter_free(limiter);
}
END_TEST

START_TEST(a_full_table_forgets_who_is_idle_longest_and_never_who_is_in_flight) {
    const struct evd_limits limits = {.in_flight = 1, .rate = 1, .burst = 1};
    limiter = evd_limiter_new(64);
    for (unsigned i = 0; i < 64; i++)
        ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(i), i, &held[i]), EVD_ADMITTED);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(100), 64, &held[64]), EVD_TOO_MANY_IN_FLIGHT);
    evd_limiter_leave(limiter, held[7]);
    evd_limiter_leave(limiter, held[3]);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(100), 64, &held[3]), EVD_ADMITTED);
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(7), 64, &held[7]), EVD_TOO_FAST); /* still known */
    ck_assert_int_eq(evd_limiter_enter(limiter, &limits, person(3), 64, &held[7]), EVD_ADMITTED); /* forgotten */
    for (unsigned i = 0; i < 64; i++)
        evd_limiter_leave(limiter, held[i]);
    evd_limiter_free(limiter);
}
END_TEST

static void *come_and_go(void *self) {
    const struct evd_limits limits = {.in_flight = 2, .rate = 1000000, .burst = 1000000};
    atomic_int *inside = self;
    for (int i = 0; i < ROUNDS; i++) {
        struct evd_limited *place = NULL;
        if (evd_limiter_enter(limiter, &limits, person(1), i, &place) != EVD_ADMITTED) continue;
        if (atomic_fetch_add(inside, 1) >= 2) abort();
        (void)atomic_fetch_sub(inside, 1);
        evd_limiter_leave(limiter, place);
    }
    return NULL;
}

START_TEST(threads_share_one_callers_places) {
    pthread_t threads[THREADS];
    atomic_int inside = 0;
    limiter = evd_limiter_new(0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, come_and_go, &inside), 0);
    for (int i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    evd_limiter_free(limiter);
}
END_TEST

static const struct {
    const char *network, *address;
    bool contains;
} memberships[] = {
    {"10.0.0.0/8", "10.255.1.2", true},
    {"10.0.0.0/8", "11.0.0.1", false},
    {"10.0.0.0/8", "::ffff:10.1.2.3", true},
    {"127.0.0.1", "127.0.0.1", true},
    {"127.0.0.1", "127.0.0.2", false},
    {"0.0.0.0/0", "203.0.113.9", true},
    {"0.0.0.0/0", "2001:db8::1", false},
    {"::/0", "2001:db8::1", true},
    {"2001:db8::/33", "2001:db8:7fff::1", true},
    {"2001:db8::/33", "2001:db8:8000::1", false},
    {"192.168.1.64/26", "192.168.1.127", true},
    {"192.168.1.64/26", "192.168.1.128", false},
    {"10.0.0.0/8", "unix", false},
    {"10.0.0.0/8", "", false},
};

START_TEST(networks_contain_what_their_prefix_says) {
    for (size_t i = 0; i < sizeof memberships / sizeof *memberships; i++) {
        struct evd_network network;
        ck_assert(evd_network_parse(evd_text_from(memberships[i].network), &network));
        ck_assert_msg(evd_networks_contain(&network, 1, evd_text_from(memberships[i].address)) ==
                          memberships[i].contains,
                      "%s in %s", memberships[i].address, memberships[i].network);
    }
}
END_TEST

static const char *const no_networks[] = {"",       "/", "10.0.0.0/33", "10.0.0/8",
                                          "::/129", "x", "10.0.0.0/",   "10.0.0.0/-1"};

START_TEST(what_is_no_network_is_refused) {
    struct evd_network network;
    for (size_t i = 0; i < sizeof no_networks / sizeof *no_networks; i++)
        ck_assert_msg(!evd_network_parse(evd_text_from(no_networks[i]), &network), "%s", no_networks[i]);
}
END_TEST

START_TEST(an_ipv6_client_is_its_network) {
    evd_uuid one = evd_network_client(EVD_TEXT("2001:db8:1:2::1")),
             two = evd_network_client(EVD_TEXT("2001:db8:1:2:3::1"));
    evd_uuid other = evd_network_client(EVD_TEXT("2001:db8:1:3::1"));
    ck_assert(evd_uuid_equal(one, two) && !evd_uuid_equal(one, other));
    one = evd_network_client(EVD_TEXT("10.0.0.1"));
    ck_assert(evd_uuid_equal(one, evd_network_client(EVD_TEXT("::ffff:10.0.0.1"))));
    ck_assert(!evd_uuid_equal(one, evd_network_client(EVD_TEXT("10.0.0.2"))));
    ck_assert(!evd_uuid_is_nil(evd_network_client(EVD_TEXT("unix"))));
}
END_TEST

EVD_TEST_MAIN("http: limits", a_caller_has_so_many_calls_in_flight_and_no_more,
              a_bucket_gives_its_burst_at_once_and_its_rate_from_then_on,
              a_time_that_goes_back_gives_nothing_and_takes_nothing, a_smaller_burst_holds_at_once,
              who_calls_too_fast_takes_no_place_in_flight,
              a_full_table_forgets_who_is_idle_longest_and_never_who_is_in_flight, threads_share_one_callers_places,
              networks_contain_what_their_prefix_says, what_is_no_network_is_refused, an_ipv6_client_is_its_network)
