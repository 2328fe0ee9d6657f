#include "evidenced/domain/definition.h"

#include "domain/definition_private.h"
#include "evidenced/base/arena.h"

const struct evd_definition *evd_definition_compile(const struct evd_form_version *version, struct evd_arena *arena) {
    struct evd_definition *definition = EVD_NEW(arena, struct evd_definition);
    definition->version = version;
    evd_question_index_init(&definition->index, version->questions.items, version->questions.count, arena);
    evd_question_tree_init(&definition->tree, &definition->index, arena);
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

bool evd_definition_is_renderable(const struct evd_definition *definition) {
    return definition->renderable;
}
