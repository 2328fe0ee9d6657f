#include "tables/lines.h"

#include <assert.h>

static size_t find(struct evd_text content, size_t from, char c) {
    if (from >= content.size_bytes) return content.size_bytes;
    const char *found = memchr(content.bytes + from, c, content.size_bytes - from);
    return found == NULL ? content.size_bytes : (size_t)(found - content.bytes);
}

void evd_lines_init(struct evd_lines *lines, struct evd_text content, size_t at) {
    *lines = (struct evd_lines){
        .content = content, .at = at, .next_cr = find(content, at, '\r'), .next_lf = find(content, at, '\n')};
}

bool evd_lines_take(struct evd_lines *lines, size_t most_bytes, struct evd_text *ret_piece) {
    struct evd_text content = lines->content;
    assert(most_bytes >= 2);
    if (lines->at >= content.size_bytes) return false;
    /* Each is looked for only once it was passed: a file without LF is not searched for one at every CR. */
    if (lines->next_cr < lines->at) lines->next_cr = find(content, lines->at, '\r');
    if (lines->next_lf < lines->at) lines->next_lf = find(content, lines->at, '\n');
    size_t end = lines->next_cr < lines->next_lf ? lines->next_cr : lines->next_lf;
    if (end < content.size_bytes) end++;
    if (end == lines->next_cr + 1 && end == lines->next_lf && end < content.size_bytes) end++;
    if (end - lines->at > most_bytes) {
        end = lines->at + most_bytes;
        if (content.bytes[end - 1] == '\r') end--;
    }
    *ret_piece = (struct evd_text){content.bytes + lines->at, end - lines->at};
    lines->at = end;
    return true;
}
