#include "shared.h"

static const char *const questions_of_g = "[{'id':'q1','label':'One','kind':'text'},"
                                          "{'id':'q2','label':'Two','kind':'text'},"
                                          "{'id':'g1','label':'Only here','kind':'text'}]";

struct shared shared_open(struct house *house) {
    return (struct shared){.f = extraction_of_house(house), .g = extraction_add(house, 1, questions_of_g)};
}

static char *revision_of(const struct reply *reply, const char *question) {
    return strdup(member_of(extraction_answer(reply, question), "revision"));
}

void shared_change(struct house *house, struct shared *shared) {
    static const char *const members = "'formVersion':1,'answers':["
                                       "{'question':'q1','value':'%s','baseRevision':%s},"
                                       "{'question':'q2','value':'%s','baseRevision':%s}]";
    char *first = json_of(members, "old", "null", "old", "null");
    struct reply in_f = extraction_ask(house, &evd_command_save, shared->f, 1, 1, NULL, first);
    struct reply in_g = extraction_ask(house, &evd_command_save, shared->g, 1, 2, NULL, first);
    shared->old[0] = revision_of(&in_f, "q1");
    shared->old[1] = revision_of(&in_f, "q2");
    shared->g_version = strdup(text_of(&in_g, "versionId"));
    char *bases[] = {json_of("'%s'", shared->old[0]), json_of("'%s'", shared->old[1])};
    char *second = json_of(members, "new", bases[0], "new", bases[1]);
    struct reply again = extraction_ask(house, &evd_command_save, shared->f, 1, 3, text_of(&in_f, "versionId"), second);
    ck_assert_int_eq(again.code, EVD_OK);
    shared->new[0] = revision_of(&again, "q1");
    shared->new[1] = revision_of(&again, "q2");
    shared->f_version = strdup(text_of(&again, "versionId"));
    free(second);
    free(bases[0]);
    free(bases[1]);
    free(first);
    reply_done(&again);
    reply_done(&in_g);
    reply_done(&in_f);
}

void shared_done(struct shared *shared) {
    free(shared->g_version);
    free(shared->f_version);
    for (size_t i = 0; i < 2; i++) {
        free(shared->old[i]);
        free(shared->new[i]);
    }
}
