/*
 * Look-ups by id: one open-addressing table for all questions and options of a definition.
 *
 * Ids come from outside, so they must not be able to choose their places. Rules have no randomness; the table's key is
 * the digest of all ids in it instead, and SipHash spreads them: whoever wants many ids in one place would have to find
 * a set whose own digest makes them collide.
 */
#include "domain/definition_private.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/sha256.h"

#include <assert.h>

struct evd_id_slot {
    struct evd_text id;
    uint32_t owner;       /* OF_THE_FORM for a question, else the number of the question whose option it is */
    uint32_t number_plus; /* the number, plus one; 0: an empty slot */
};

#define OF_THE_FORM UINT32_MAX

static uint64_t rotate(uint64_t word, unsigned by) {
    return word << by | word >> (64 - by);
}

static void sip_rounds(uint64_t v[4], unsigned rounds) {
    while (rounds-- > 0) {
        v[0] += v[1];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[0] = rotate(v[0], 32);
        v[2] += v[3];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[2] = rotate(v[2], 32);
    }
}

static void sip_add(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

/* SipHash-2-4 of the owner and the id. */
static uint64_t hash_of(const uint64_t key[2], uint32_t owner, struct evd_text id) {
    uint64_t v[4] = {key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                     key[0] ^ UINT64_C(0x6c7967656e657261), key[1] ^ UINT64_C(0x7465646279746573)};
    sip_add(v, owner);
    for (size_t at = 0; at < id.size_bytes; at += 8) {
        uint64_t word = 0;
        memcpy(&word, id.bytes + at, id.size_bytes - at < 8 ? id.size_bytes - at : 8);
        sip_add(v, word);
    }
    sip_add(v, id.size_bytes);
    v[2] ^= 0xFF;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The slot that holds the id, or the empty one where it would be. At least half of the slots are empty. */
static struct evd_id_slot *slot_of(const struct evd_question_index *index, uint32_t owner, struct evd_text id) {
    uint32_t at = (uint32_t)hash_of(index->key, owner, id) & index->mask;
    for (;; at = (at + 1) & index->mask) {
        struct evd_id_slot *slot = &index->slots[at];
        if (slot->number_plus == 0 || (slot->owner == owner && evd_text_equal(slot->id, id))) return slot;
    }
}

static void add(struct evd_question_index *index, uint32_t owner, struct evd_text id, uint32_t number) {
    struct evd_id_slot *slot = slot_of(index, owner, id);
    if (slot->number_plus == 0) *slot = (struct evd_id_slot){.id = id, .owner = owner, .number_plus = number + 1};
}

static void derive_key(struct evd_question_index *index, uint32_t id_count, struct evd_arena *arena) {
    struct evd_text *ids = EVD_NEW_ARRAY(arena, struct evd_text, (size_t)id_count + 1);
    size_t at = 0;
    for (uint32_t q = 0; q < index->count; q++) {
        const struct evd_question *question = &index->questions[q];
        ids[at++] = question->id;
        for (size_t i = 0; i < question->options.count; i++)
            ids[at++] = question->options.items[i].id;
    }
    assert(at == id_count);
    struct evd_sha256 digest = evd_sha256_of_parts(ids, at);
    memcpy(index->key, digest.bytes, sizeof index->key);
}

void evd_question_index_init(struct evd_question_index *index, const struct evd_question *questions, size_t count,
                             struct evd_arena *arena) {
    assert(count <= EVD_LIMIT_QUESTIONS);
    *index = (struct evd_question_index){.questions = questions, .count = (uint32_t)count};
    index->first_option = EVD_NEW_ARRAY(arena, uint32_t, count + 1);
    uint32_t option_count = 0;
    for (uint32_t q = 0; q < index->count; q++) {
        assert(questions[q].options.count <= EVD_LIMIT_OPTIONS);
        index->first_option[q] = option_count;
        option_count += (uint32_t)questions[q].options.count;
    }
    index->first_option[count] = option_count;

    uint32_t id_count = index->count + option_count, slot_count = 8;
    while (slot_count < id_count * 2)
        slot_count *= 2;
    index->slots = EVD_NEW_ARRAY(arena, struct evd_id_slot, slot_count);
    index->mask = slot_count - 1;
    derive_key(index, id_count, arena);
    for (uint32_t q = 0; q < index->count; q++) {
        add(index, OF_THE_FORM, questions[q].id, q);
        for (uint32_t i = 0; i < questions[q].options.count; i++)
            add(index, q, questions[q].options.items[i].id, index->first_option[q] + i);
    }
}

uint32_t evd_question_index_find(const struct evd_question_index *index, struct evd_text id) {
    return slot_of(index, OF_THE_FORM, id)->number_plus - 1; /* 0 - 1 is EVD_NOT_THERE */
}

uint32_t evd_question_index_find_option(const struct evd_question_index *index, uint32_t question, struct evd_text id) {
    assert(question < index->count);
    return slot_of(index, question, id)->number_plus - 1;
}
