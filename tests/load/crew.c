/*
 * Clients without threads: whoever answers one asks its next.
 */
#include "inside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct hand {
    struct bench_asked asked; /* first: the call's owner */
    struct bench_crew *crew;
    struct bench_author *author;
    struct bench_samples *samples;
};

struct bench_crew {
    struct hand *hands;
    struct bench_samples *samples;
    unsigned count;
    int64_t end_ns;

    pthread_mutex_t mutex;
    pthread_cond_t ended;
    unsigned working;
};

static void hand_ask(struct hand *hand) {
    char etag[BENCH_ETAG_BYTES];
    bench_author_write(hand->author);
    bench_asked_go(&hand->asked, bench_author_condition(hand->author, etag),
                   (struct evd_text){hand->author->body, hand->author->body_bytes});
}

static void hand_rest(struct bench_crew *crew) {
    (void)pthread_mutex_lock(&crew->mutex);
    if (--crew->working == 0) (void)pthread_cond_signal(&crew->ended);
    (void)pthread_mutex_unlock(&crew->mutex);
}

static void done(struct evd_call *call) {
    struct hand *hand = call->owner;
    int64_t now_ns = bench_now_ns();
    bench_sample(hand->samples, now_ns - hand->asked.asked_ns);
    if (call->outcome.code == EVD_OK)
        bench_author_keep(hand->author, call->receipt);
    else if (call->outcome.code == EVD_RETRYABLE_CONFLICT)
        hand->samples->exhausted++;
    else
        hand->samples->refused++;
    bench_asked_release(&hand->asked);
    if (now_ns < hand->crew->end_ns)
        hand_ask(hand);
    else
        hand_rest(hand->crew);
}

struct bench_crew *bench_crew_new(struct bench_inside *inside, const struct bench_project *project,
                                  struct bench_author *authors, const char *const *studies, unsigned clients,
                                  enum bench_verb verb) {
    struct bench_crew *crew = bench_alloc(sizeof *crew);
    *crew = (struct bench_crew){.count = clients};
    crew->hands = bench_alloc(clients * sizeof *crew->hands);
    crew->samples = bench_alloc(clients * sizeof *crew->samples);
    memset(crew->samples, 0, clients * sizeof *crew->samples);
    (void)pthread_mutex_init(&crew->mutex, NULL);
    (void)pthread_cond_init(&crew->ended, NULL);
    for (unsigned i = 0; i < clients; i++) {
        char path[BENCH_PATH_BYTES];
        struct hand *hand = &crew->hands[i];
        bench_session_path(project, studies[i], verb, path);
        bench_asked_init(&hand->asked, inside, path, authors[i].number, done);
        hand->crew = crew;
        hand->author = &authors[i];
        hand->samples = &crew->samples[i];
    }
    return crew;
}

void bench_crew_free(struct bench_crew *crew) {
    for (unsigned i = 0; i < crew->count; i++)
        free(crew->samples[i].ns);
    (void)pthread_cond_destroy(&crew->ended);
    (void)pthread_mutex_destroy(&crew->mutex);
    free(crew->samples);
    free(crew->hands);
    free(crew);
}

static void crew_run(void *self, double seconds, struct bench_round *ret_round) {
    struct bench_crew *crew = self;
    int64_t begun_ns = bench_now_ns();
    crew->end_ns = begun_ns + (int64_t)(seconds * 1e9);
    crew->working = crew->count;
    for (unsigned i = 0; i < crew->count; i++)
        hand_ask(&crew->hands[i]);
    (void)pthread_mutex_lock(&crew->mutex);
    while (crew->working > 0)
        (void)pthread_cond_wait(&crew->ended, &crew->mutex);
    (void)pthread_mutex_unlock(&crew->mutex);
    bench_round_make(crew->samples, crew->count, (double)(bench_now_ns() - begun_ns) / 1e9, ret_round);
}

struct bench_side bench_crew_side(struct bench_crew *crew) {
    return (struct bench_side){.self = crew, .processor = CLOCK_PROCESS_CPUTIME_ID, .run = crew_run};
}
