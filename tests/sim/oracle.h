/* What the oracles' files share. */
#ifndef EVIDENCED_TESTS_SIM_ORACLE_H
#define EVIDENCED_TESTS_SIM_ORACLE_H

#include "sim.h"

#include "evidenced/base/arena.h"

/* A record of one instant, decoded. */
struct sim_record {
    struct evd_key key;
    const struct evd_type *type;
    const void *record; /* begins with struct evd_record */
};

struct sim_oracle {
    struct evd_arena arena; /* of one look */
    struct sim_record *records;
    size_t count, capacity;
    struct sim_record **by_key; /* sorted */
    struct acknowledged {
        evd_uuid version;
        const struct sim_intent *intent;
    } * acknowledged; /* versions somebody was told of */
    size_t acknowledged_count, acknowledged_capacity;
};

/** Decode; a document that does not is a fault. */
const void *sim_decode(struct sim *sim, const struct evd_key *key, const struct evd_image *image,
                       struct evd_arena *arena);

/** The record as it is now, of those that were looked at last; NULL: there is none. */
const void *sim_find(const struct sim *sim, evd_collection in, evd_uuid id);

/** Is that text the value of any revision, in what was looked at last? */
bool sim_is_revised(const struct sim *sim, struct evd_text question, struct evd_text token);

/** Take a look at everything that is stored. */
void sim_look(struct sim *sim);

/* oracle_text.c: nothing typed is lost. */
void sim_oracle_text(struct sim *sim, const struct sim_intent *intent, const struct simulated_commit *commit);
void sim_oracle_copy(struct sim *sim, const struct sim_intent *intent, const struct sim_answer *answer);

#endif
