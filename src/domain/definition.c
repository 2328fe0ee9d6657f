#include "evidenced/domain/definition.h"

#include "domain/definition_private.h"
#include "evidenced/base/arena.h"

#include <assert.h>

const struct evd_definition *evd_definition_compile(const struct evd_form_version *version, struct evd_arena *arena) {
    struct evd_definition *definition = EVD_NEW(arena, struct evd_definition);
    definition->version = version;
    evd_question_index_init(&definition->index, version->questions.items, version->questions.count, arena);
    evd_question_tree_init(&definition->tree, &definition->index, arena);
    evd_question_frames_init(&definition->frames, &definition->index, &definition->tree, arena);
    evd_question_groups_init(&definition->groups, &definition->index, &definition->tree, &definition->frames, arena);
    evd_question_choices_init(&definition->choices, &definition->index, &definition->tree, arena);
    definition->renderable = true;
    for (size_t i = 0; i < version->questions.count; i++)
        if (version->questions.items[i].kind.value == EVD_NONE_OF_question_kind) definition->renderable = false;
    return definition;
}

const struct evd_form_version *evd_definition_version(const struct evd_definition *definition) {
    return definition->version;
}

const struct evd_question *evd_definition_question(const struct evd_definition *definition, struct evd_text id) {
    uint32_t at = evd_question_index_find(&definition->index, id);
    return at == EVD_NOT_THERE ? NULL : &definition->index.questions[at];
}

size_t evd_definition_frame(const struct evd_definition *definition, const struct evd_question *question,
                            const struct evd_question *ret_frame[EVD_LIMIT_QUESTION_DEPTH]) {
    const struct evd_question *questions = definition->index.questions;
    const struct evd_question_frames *frames = &definition->frames;
    size_t at = (size_t)(question - questions), length = frames->length[at];
    assert(at < definition->index.count);
    for (size_t i = length; i-- > 0;) {
        at = frames->within[at];
        ret_frame[i] = &questions[at];
    }
    return length;
}

bool evd_definition_is_renderable(const struct evd_definition *definition) {
    return definition->renderable;
}
