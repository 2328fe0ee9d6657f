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
 * All that is wrong with a definition, at once, in the form's order. Pointers begin with `/questions/<n>`.
 *
 * Checked: ids unique and well formed (1–100 bytes of letters, digits, `_`, `-`, `.`, `:`), of options too; labels not
 * blank; a kind this version knows; options exactly where the kind has them, unique, at least one; split only on
 * multichoice; min and max only on integer, decimal and date, in the form of their answers and in order; maxLength only
 * on text; parent, unit and target exist and are of a kind that can be one (parent: any but series; anyOf: the parent's
 * option ids, or true/false of a boolean, none for other kinds; unit and target: a unit question); no cycle over parent
 * and unit together (one error for each edge that closes one); then, depth: at most EVD_LIMIT_QUESTION_DEPTH questions
 * one under the other; target exactly on reference.
 *
 * Codes are those of error_codes.h. Members are question (its id), path (empty), rule (the member that breaks it),
 * expected and found (a text or null). Scratch memory comes from the errors' arena.
 *
 * count    at most EVD_LIMIT_QUESTIONS, each with at most EVD_LIMIT_OPTIONS options: what the codec lets through
 */
void evd_definition_check(const struct evd_question *questions, size_t count, struct evd_errors *errors);

/** Index a checked definition for look-ups. Borrows `version` and lives in the arena; immutable, so threads may share
 * it. One that was not checked, or by another version's rules, is safe to use: at worst its questions are not asked. */
const struct evd_definition *evd_definition_compile(const struct evd_form_version *version, struct evd_arena *arena);

const struct evd_form_version *evd_definition_version(const struct evd_definition *definition);

/** The question of that id, or NULL. Constant time. */
const struct evd_question *evd_definition_question(const struct evd_definition *definition, struct evd_text id);

/** Does it hold only kinds this version knows (FormVersionNotRenderable otherwise)? A known kind may still be one whose
 * answers are notYetAvailable. */
bool evd_definition_is_renderable(const struct evd_definition *definition);

#endif
