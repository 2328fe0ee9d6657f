#include "bench.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 100, ABSTRACT_BYTES = 1400 };

static json_t *ask(const struct bench_asker *asker, const char *path, json_t *body) {
    char *text = json_dumps(body, JSON_COMPACT), *answer = NULL;
    if (text == NULL) bench_fail("out of memory");
    asker->ask(asker->self, 0, path, NULL, text, &answer);
    json_t *parsed = json_loads(answer, 0, NULL);
    if (parsed == NULL) bench_fail("%s answered no JSON", path);
    json_decref(body);
    free(text);
    free(answer);
    return parsed;
}

/* Takes the object. */
static void take_id(json_t *object, const char *member, char ret_id[BENCH_TEXT_BYTES]) {
    const char *id = json_string_value(json_object_get(object, member));
    if (id == NULL || strlen(id) != EVD_UUID_TEXT_BYTES) bench_fail("an answer names no %s", member);
    memcpy(ret_id, id, BENCH_TEXT_BYTES);
    json_decref(object);
}

static void add_members(const struct bench_asker *asker, const char *base) {
    char path[BENCH_PATH_BYTES], id[BENCH_TEXT_BYTES];
    (void)snprintf(path, sizeof path, "%s/members", base);
    for (unsigned i = 1; i <= BENCH_MOST_CLIENTS; i++) {
        evd_uuid_format(bench_person(i), id);
        json_decref(ask(asker, path, json_pack("{s:s, s:[s]}", "investigatorId", id, "roles", "reviewer")));
    }
}

static json_t *questions(void) {
    json_t *list = json_array();
    for (unsigned i = 1; i <= BENCH_QUESTIONS; i++) {
        char id[16], label[64];
        (void)snprintf(id, sizeof id, "q%u", i);
        (void)snprintf(label, sizeof label, "What does the study report on item %u?", i);
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:b}", "id", id, "label", label, "kind", "text", "required", i == 1));
    }
    return list;
}

static void add_form(const struct bench_asker *asker, const char *base, struct bench_project *project) {
    char path[BENCH_PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/forms", base);
    take_id(ask(asker, path,
                json_pack("{s:s, s:{s:i}, s:o}", "name", "Extraction", "capacity", "target", BENCH_MOST_CLIENTS,
                          "questions", questions())),
            "id", project->form);
    (void)snprintf(path, sizeof path, "%s/stages", base);
    take_id(ask(asker, path, json_pack("{s:s, s:s}", "name", "Extraction", "formId", project->form)), "id",
            project->stage);
    (void)snprintf(path, sizeof path, "%s/forms/%s/publications", base, project->form);
    json_decref(ask(asker, path, json_pack("{s:i}", "baseVersion", 2)));
}

static json_t *study(unsigned number, const char *abstract) {
    char title[120], doi[40];
    (void)snprintf(title, sizeof title, "Effects of the intervention in population %u: a randomised controlled trial",
                   number);
    (void)snprintf(doi, sizeof doi, "10.1000/bench.%u", number);
    return json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "title", title, "abstract", abstract, "authors",
                     "Abara C; Beck D; Castillo E; Dufour F", "year", 1990 + (int)(number % 30), "journal",
                     "Journal of Trials", "doi", doi);
}

static void add_studies(const struct bench_asker *asker, const char *base, struct bench_project *project) {
    char path[BENCH_PATH_BYTES], abstract[ABSTRACT_BYTES + 1];
    for (size_t i = 0; i < ABSTRACT_BYTES; i++)
        abstract[i] = "background methods findings interpretation "[i % 43];
    abstract[ABSTRACT_BYTES] = '\0';
    (void)snprintf(path, sizeof path, "%s/studies/batch", base);
    for (unsigned begun = 0; begun < BENCH_STUDIES; begun += BATCH) {
        json_t *rows = json_array();
        for (unsigned i = 0; i < BATCH; i++)
            (void)json_array_append_new(rows, study(begun + i, abstract));
        json_t *receipt = ask(asker, path, json_pack("{s:o}", "studies", rows));
        for (unsigned i = 0; i < BATCH; i++) {
            json_t *row = json_array_get(json_object_get(receipt, "rows"), i);
            take_id(json_incref(row), "studyId", project->studies[begun + i]);
        }
        json_decref(receipt);
    }
}

void bench_furnish(const struct bench_asker *asker, struct bench_project *ret_project) {
    char base[64];
    *ret_project = (struct bench_project){.studies_used = 0};
    take_id(ask(asker, "/v1/projects", json_pack("{s:s}", "name", "Bench")), "id", ret_project->project);
    (void)snprintf(base, sizeof base, "/v1/projects/%s", ret_project->project);
    add_members(asker, base);
    add_form(asker, base, ret_project);
    add_studies(asker, base, ret_project);
}

const char *bench_project_study(struct bench_project *project) {
    if (project->studies_used == BENCH_STUDIES) bench_fail("there are no studies left");
    return project->studies[project->studies_used++];
}

void bench_session_path(const struct bench_project *project, const char *study_id, enum bench_verb verb,
                        char ret_path[BENCH_PATH_BYTES]) {
    static const char *const verbs[] = {
        [BENCH_SAVE] = "save", [BENCH_COMPLETE] = "complete", [BENCH_AUTOSAVE] = "draft"};
    (void)snprintf(ret_path, BENCH_PATH_BYTES, "/v1/projects/%s/studies/%s/forms/%s/session/%s", project->project,
                   study_id, project->form, verbs[verb]);
}

struct bench_author *bench_authors_new(const struct bench_asker *asker, const struct bench_project *project,
                                       const char *const *studies, unsigned count, unsigned changed) {
    struct bench_author *authors = bench_alloc(count * sizeof *authors);
    memset(authors, 0, count * sizeof *authors);
    for (unsigned i = 0; i < count; i++) {
        char path[BENCH_PATH_BYTES], *receipt = NULL;
        struct bench_author *author = &authors[i];
        author->number = i + 1;
        author->stage = project->stage;
        author->changed = BENCH_QUESTIONS;
        bench_author_write(author);
        author->body[author->body_bytes] = '\0';
        bench_session_path(project, studies[i], BENCH_SAVE, path);
        asker->ask(asker->self, author->number, path, NULL, author->body, &receipt);
        bench_author_keep(author, evd_text_from(receipt));
        author->changed = changed;
        free(receipt);
    }
    return authors;
}
