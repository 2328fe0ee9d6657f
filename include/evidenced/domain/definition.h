/*
 * Form definitions: the rules a question tree must keep, and a published tree made ready to be asked.
 *
 * Pure. Source: domain page §1.
 */
#ifndef EVIDENCED_DOMAIN_DEFINITION_H
#define EVIDENCED_DOMAIN_DEFINITION_H

#include "evidenced/domain/outcome.h"
#include "evidenced/records/dictionary.h"

struct evd_definition;

/**
 * All that is wrong with a definition, at once. Pointers begin with `/questions/<n>`.
 *
 * Checked: ids unique and well formed (1–100 bytes of letters, digits, `_`, `-`, `.`, `:`); a kind this version knows;
 * options exactly where the kind has them, unique, at least one; split only on multichoice; min and max in the form
 * of the kind's answers and in order; maxLength only on text; parent, unit and target exist and are of a kind that
 * can be one (parent: any but series; anyOf: the parent's option ids, or true/false of a boolean, none for other
 * kinds; unit and target: a unit question); no cycle over parent and unit together; depth within the limit; target
 * exactly on reference.
 */
void evd_definition_check(const struct evd_question *questions, size_t count, struct evd_errors *errors);

/** Index a checked definition for look-ups. Borrows `version` and lives in the arena; immutable, so threads may share it. */
const struct evd_definition *evd_definition_compile(const struct evd_form_version *version, struct evd_arena *arena);

const struct evd_form_version *evd_definition_version(const struct evd_definition *definition);

/** The question of that id, or NULL. Constant time. */
const struct evd_question *evd_definition_question(const struct evd_definition *definition, struct evd_text id);

/** Does it hold only kinds this version can check (FormVersionNotRenderable otherwise)? */
bool evd_definition_is_renderable(const struct evd_definition *definition);

#endif
