/*
 * Rows that give studies: judged, and written. What AddStudies, an import's steps and a correction share.
 *
 * A row is added, matched to a study that holds one of its identifiers, or refused. Identifiers are inserted with
 * their study, so two commands at once cannot both take one: the second runs again and finds a match.
 */
#ifndef EVIDENCED_SRC_COMMANDS_STUDY_ROWS_H
#define EVIDENCED_SRC_COMMANDS_STUDY_ROWS_H

#include "commands/support.h"
#include "evidenced/domain/study_identity.h"

struct evd_row_identifier {
    enum evd_identity_kind kind;
    const char *member;
    struct evd_text normal; /* bytes NULL: none given, or none of its kind */
    evd_uuid id;
    const struct evd_study_identity *held; /* by a stored study; set by the fetch */
    bool malformed;
};

enum { EVD_ROW_IDENTIFIERS = 4 }; /* customId, doi, pmid, openAlexId: in the order of enum evd_identity_kind */

struct evd_judged_row {
    const struct evd_study_row *given;
    evd_uuid would_be; /* the id of the study it makes if it is added */
    struct evd_row_identifier identifiers[EVD_ROW_IDENTIFIERS];
    enum evd_row_result result;
    evd_uuid study;           /* added or matched; nil when refused */
    bool is_stored;           /* matched to a study of the store, and not only to a row above */
    enum evd_error_code code; /* why it is refused */
};

/* Which identifiers rows took so far: open addressing over the identifiers' ids, never full. */
struct evd_taken_identifiers {
    struct evd_taken_identifier {
        evd_uuid id, study;
    } * slots;
    size_t size;
};

/** An empty table with room for all identifiers of `rows` rows, in the arena. */
struct evd_taken_identifiers evd_taken_new(struct evd_arena *arena, size_t rows);

/** The normal form of what was given, without looking whether it is held. */
struct evd_row_identifier evd_row_identifier_of(struct evd_call *call, enum evd_identity_kind kind,
                                                struct evd_text given);

/** Name what judging the row needs: after the next fetch its identifiers know who holds them. `row` must stay where it
 * is until then. */
void evd_study_row_want(struct evd_call *call, struct evd_judged_row *row);

/** After the fetch: added, matched or refused. An added row takes its identifiers, for the rows after it. */
void evd_study_row_judge(struct evd_judged_row *row, struct evd_taken_identifiers *taken);

/** Of a refused row: the member that is wrong; NULL: the row as such. */
const char *evd_study_row_member(const struct evd_judged_row *row);

/* What a study is added with beside what its row gives. */
struct evd_study_origin {
    const struct evd_study_label *labels;
    size_t label_count;
    evd_uuid operation; /* the import; nil: none */
};

/** Insert the study of an added row, and its identifiers. */
void evd_study_row_write(struct evd_call *call, const struct evd_judged_row *row, struct evd_study_origin origin);

/** A study's place in lists: spreads evenly and for ever, and needs no randomness, since the id is a hash. Never 0. */
int64_t evd_study_random_key(evd_uuid study);

/** The identifiers a stored study holds, named for the next fetch: what `held` then says may be another study's. */
void evd_study_identifiers_want(struct evd_call *call, const struct evd_study *study,
                                struct evd_row_identifier ret_identifiers[EVD_ROW_IDENTIFIERS]);

/** Insert, or delete, the record that says the study holds this identifier. */
void evd_row_identifier_insert(struct evd_call *call, const struct evd_row_identifier *identifier, evd_uuid study);

#endif
