/*
 * Frames: the elements a question is asked under, found for all questions in one pass, those above first.
 */
#include "domain/definition_private.h"
#include "evidenced/base/arena.h"

/* A frame being made: its innermost question, and its length. */
struct frame {
    uint32_t within;
    uint32_t length;
};

bool evd_question_makes_elements(const struct evd_question *question) {
    return question->kind.value == EVD_QUESTION_UNIT ||
           (question->kind.value == EVD_QUESTION_MULTICHOICE && question->split);
}

struct reaching {
    const struct evd_question_index *index;
    const struct evd_question_tree *tree;
    struct evd_question_frames *frames;
};

/* The frame of what hangs under `up`. */
static bool frame_below(const struct reaching *reaching, uint32_t question, unsigned edge, uint32_t up,
                        struct frame *ret_frame) {
    const struct evd_question_frames *frames = reaching->frames;
    if (up == EVD_NOT_THERE || (reaching->tree->leads_back[question] & 1U << edge) != 0) return false;
    if (frames->reach[up] != EVD_REACHED) return false;
    if (evd_question_makes_elements(&reaching->index->questions[up]))
        *ret_frame = (struct frame){up, frames->length[up] + 1U};
    else if (edge == EVD_EDGE_PARENT)
        *ret_frame = (struct frame){frames->within[up], frames->length[up]};
    else
        return false; /* a unit that is none */
    return true;
}

static bool is_prefix(const struct evd_question_frames *frames, struct frame shorter, struct frame longer) {
    uint32_t within = longer.within;
    for (uint32_t length = longer.length; length > shorter.length; length--)
        within = frames->within[within];
    return within == shorter.within;
}

static enum evd_question_reach reach(const struct reaching *reaching, uint32_t question, struct frame *ret_frame) {
    const struct evd_question *asked = &reaching->index->questions[question];
    const struct evd_question_tree *tree = reaching->tree;
    struct frame by_parent = {EVD_NOT_THERE, 0}, by_unit = by_parent;
    if (asked->parent != NULL && !frame_below(reaching, question, EVD_EDGE_PARENT, tree->parent[question], &by_parent))
        return EVD_NOT_REACHED;
    if (asked->unit.bytes != NULL && !frame_below(reaching, question, EVD_EDGE_UNIT, tree->unit[question], &by_unit))
        return EVD_NOT_REACHED;
    struct frame longer = by_parent.length >= by_unit.length ? by_parent : by_unit;
    struct frame shorter = by_parent.length >= by_unit.length ? by_unit : by_parent;
    if (!is_prefix(reaching->frames, shorter, longer)) return EVD_OUT_OF_REACH;
    /* An element's own step has to have room too. Its depth tells about it; here it only bounds what is walked. */
    if (longer.length >= EVD_LIMIT_QUESTION_DEPTH) return EVD_NOT_REACHED;
    *ret_frame = longer;
    return EVD_REACHED;
}

void evd_question_frames_init(struct evd_question_frames *frames, const struct evd_question_index *index,
                              const struct evd_question_tree *tree, struct evd_arena *arena) {
    *frames = (struct evd_question_frames){.within = EVD_NEW_ARRAY(arena, uint32_t, index->count),
                                           .length = EVD_NEW_ARRAY(arena, uint8_t, index->count),
                                           .reach = EVD_NEW_ARRAY(arena, uint8_t, index->count)};
    struct reaching reaching = {index, tree, frames};
    for (uint32_t i = 0; i < index->count; i++) /* an edge that leads back goes to one that is not reached yet */
        frames->reach[i] = EVD_NOT_REACHED;
    for (uint32_t i = 0; i < index->count; i++) {
        uint32_t question = tree->order[i];
        struct frame frame = {EVD_NOT_THERE, 0};
        frames->reach[question] = (uint8_t)reach(&reaching, question, &frame);
        frames->within[question] = frame.within;
        frames->length[question] = (uint8_t)frame.length;
    }
}

static uint32_t group_of(const struct evd_question_index *index, const struct evd_question_frames *frames,
                         uint32_t question) {
    return frames->within[question] == EVD_NOT_THERE ? index->count : frames->within[question];
}

void evd_question_groups_init(struct evd_question_groups *groups, const struct evd_question_index *index,
                              const struct evd_question_tree *tree, const struct evd_question_frames *frames,
                              struct evd_arena *arena) {
    uint32_t group_count = index->count + 1;
    groups->first = EVD_NEW_ARRAY(arena, uint32_t, (size_t)group_count + 1);
    groups->in_form_order = EVD_NEW_ARRAY(arena, uint32_t, index->count);
    groups->in_tree_order = EVD_NEW_ARRAY(arena, uint32_t, index->count);
    for (uint32_t q = 0; q < index->count; q++)
        groups->first[group_of(index, frames, q) + 1]++;
    for (uint32_t group = 0; group < group_count; group++)
        groups->first[group + 1] += groups->first[group];
    uint32_t *next = evd_arena_copy(arena, groups->first, sizeof *next * group_count);
    for (uint32_t q = 0; q < index->count; q++)
        groups->in_form_order[next[group_of(index, frames, q)]++] = q;
    memcpy(next, groups->first, sizeof *next * group_count);
    for (uint32_t i = 0; i < index->count; i++)
        groups->in_tree_order[next[group_of(index, frames, tree->order[i])]++] = tree->order[i];
}
