/*
 * Form definitions: the rules a question tree must keep, and a published tree made ready to be asked.
 *
 * Elements and frames. Two kinds of question make elements, under each of which other questions are asked once: a
 * unit's elements are its instances ("Aspirin 100 mg"), those of a split multichoice are the chosen options. A
 * question's frame is the list of the questions above it that make elements, outermost first:
 *   - of one with `unit` U: U's own frame, then U;
 *   - of one with `parent` P: P's own frame, then P when P makes elements;
 *   - of one with both: the longer of the two, of which the other must be the beginning.
 * So a boolean in a cohort can ask a question of that cohort only.
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
 * option ids, or true/false of a boolean, none for other kinds; unit and target: a unit question); parent and unit
 * within one frame; no cycle over parent and unit together (one error for each edge that closes one); then, depth: at
 * most EVD_LIMIT_QUESTION_DEPTH questions one under the other, so that a path has at most as many steps; target exactly
 * on reference.
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

/** Do its answers make elements, that is, is it a unit or a split multichoice? */
bool evd_question_makes_elements(const struct evd_question *question);

/**
 * A question's frame, outermost first; its length, at most EVD_LIMIT_QUESTION_DEPTH - 1. Time grows with that only.
 *
 * question    one of the definition's own: what evd_definition_question gives. One that cannot be reached, which only a
 *             definition that was not checked has, has an empty frame and is never asked
 */
size_t evd_definition_frame(const struct evd_definition *definition, const struct evd_question *question,
                            const struct evd_question *ret_frame[EVD_LIMIT_QUESTION_DEPTH]);

/** Does it hold only kinds this version knows (FormVersionNotRenderable otherwise)? */
bool evd_definition_is_renderable(const struct evd_definition *definition);

#endif
