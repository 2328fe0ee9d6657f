#include "runtime/lanes.h"

#include "evidenced/base/limits.h"

#include <assert.h>
#include <pthread.h>

enum { BUCKETS = 1024 };

struct lane {
    struct lane *next;
    evd_uuid project, study;
    struct evd_call *head, *tail;
    size_t count;
};

struct evd_lanes {
    pthread_mutex_t mutex;
    struct lane *buckets[BUCKETS];
    struct lane *spare; /* lanes come and go with every call: kept, not freed */
    size_t lane_count, parked_count;
};

struct evd_lanes *evd_lanes_new(void) {
    struct evd_lanes *lanes = calloc(1, sizeof *lanes);
    if (lanes == NULL) abort();
    (void)pthread_mutex_init(&lanes->mutex, NULL);
    return lanes;
}

void evd_lanes_free(struct evd_lanes *lanes) {
    if (lanes == NULL) return;
    assert(lanes->lane_count == 0);
    while (lanes->spare != NULL) {
        struct lane *next = lanes->spare->next;
        free(lanes->spare);
        lanes->spare = next;
    }
    (void)pthread_mutex_destroy(&lanes->mutex);
    free(lanes);
}

/* Ids are hashes or random, so a few of their bytes are as good as any hash of them. */
static struct lane **bucket_of(struct evd_lanes *lanes, evd_uuid study) {
    return &lanes->buckets[(study.bytes[0] << 8 | study.bytes[15]) % BUCKETS];
}

static struct lane **find(struct evd_lanes *lanes, evd_uuid project, evd_uuid study) {
    struct lane **at = bucket_of(lanes, study);
    while (*at != NULL && !(evd_uuid_equal((*at)->study, study) && evd_uuid_equal((*at)->project, project)))
        at = &(*at)->next;
    return at;
}

static struct lane *make(struct evd_lanes *lanes, struct lane **at, evd_uuid project, evd_uuid study) {
    struct lane *lane = lanes->spare;
    if (lane != NULL)
        lanes->spare = lane->next;
    else if ((lane = malloc(sizeof *lane)) == NULL)
        abort();
    *lane = (struct lane){.project = project, .study = study};
    lanes->lane_count++;
    return *at = lane;
}

static void drop(struct evd_lanes *lanes, struct lane **at) {
    struct lane *lane = *at;
    *at = lane->next;
    lane->next = lanes->spare;
    lanes->spare = lane;
    lanes->lane_count--;
}

enum evd_lane_entry evd_lanes_enter(struct evd_lanes *lanes, struct evd_call *call, evd_uuid study) {
    enum evd_lane_entry entry = EVD_LANE_FULL;
    (void)pthread_mutex_lock(&lanes->mutex);
    struct lane **at = find(lanes, call->ids.project, study);
    struct lane *lane = *at != NULL ? *at : make(lanes, at, call->ids.project, study);
    if (lane->count < EVD_LIMIT_LANE_CALLS) {
        call->next_in_lane = NULL;
        if (lane->tail == NULL)
            lane->head = call;
        else
            lane->tail->next_in_lane = call;
        lane->tail = call;
        entry = lane->count++ == 0 ? EVD_LANE_HEAD : EVD_LANE_PARKED;
        lanes->parked_count += entry == EVD_LANE_PARKED;
    }
    (void)pthread_mutex_unlock(&lanes->mutex);
    return entry;
}

struct evd_call *evd_lanes_leave(struct evd_lanes *lanes, struct evd_call *head, evd_uuid study) {
    (void)pthread_mutex_lock(&lanes->mutex);
    struct lane **at = find(lanes, head->ids.project, study);
    struct lane *lane = *at;
    assert(lane != NULL && lane->head == head);
    struct evd_call *next = lane->head = head->next_in_lane;
    lane->count--;
    if (next == NULL)
        drop(lanes, at);
    else
        lanes->parked_count--;
    (void)pthread_mutex_unlock(&lanes->mutex);
    return next;
}

/* Unlinks the expired calls behind the head onto *expired. */
static void expire_lane(struct evd_lanes *lanes, struct lane *lane, int64_t now_ms, struct evd_call **expired) {
    for (struct evd_call *before = lane->head; before->next_in_lane != NULL;) {
        struct evd_call *call = before->next_in_lane;
        if (call->deadline_ms > now_ms) {
            before = call;
            continue;
        }
        before->next_in_lane = call->next_in_lane;
        if (lane->tail == call) lane->tail = before;
        lane->count--;
        lanes->parked_count--;
        call->next_waiting = *expired;
        *expired = call;
    }
}

struct evd_call *evd_lanes_expire(struct evd_lanes *lanes, int64_t now_ms) {
    struct evd_call *expired = NULL;
    (void)pthread_mutex_lock(&lanes->mutex);
    for (size_t i = 0; i < BUCKETS && lanes->parked_count > 0; i++)
        for (struct lane *lane = lanes->buckets[i]; lane != NULL; lane = lane->next)
            expire_lane(lanes, lane, now_ms, &expired);
    (void)pthread_mutex_unlock(&lanes->mutex);
    return expired;
}

void evd_lanes_figures(struct evd_lanes *lanes, size_t *ret_lanes, size_t *ret_parked) {
    (void)pthread_mutex_lock(&lanes->mutex);
    *ret_lanes = lanes->lane_count;
    *ret_parked = lanes->parked_count;
    (void)pthread_mutex_unlock(&lanes->mutex);
}
