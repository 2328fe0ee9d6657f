#include "strict_json.h"

#include "evidenced/records/json_load.h"

/* Brackets and separators outside strings. Where the text is not JSON the count may be off, but never before the
 * place at which the parser gives up. */
static bool is_within(struct evd_text text, unsigned most_depth, unsigned most_values) {
    unsigned depth = 0, values = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.bytes[i];
        if (in_string) {
            if (c == '\\') i++;
            if (c == '"') in_string = false;
            continue;
        }
        if (c == '"') in_string = true;
        if (c == '{' || c == '[' || c == ',') values++;
        if (c == '{' || c == '[') depth++;
        if ((c == '}' || c == ']') && depth > 0) depth--;
        if (depth > most_depth || values > most_values) return false;
    }
    return true;
}

enum evd_strict_json evd_strict_json_object(struct evd_text text, unsigned most_depth, unsigned most_values,
                                            json_t **ret_object) {
    json_error_t error;
    bool no_memory;
    if (!is_within(text, most_depth, most_values)) return EVD_STRICT_JSON_MALFORMED;
    json_t *value = evd_json_load(text, &error, &no_memory);
    if (value == NULL) return no_memory ? EVD_STRICT_JSON_NO_MEMORY : EVD_STRICT_JSON_MALFORMED;
    if (!json_is_object(value)) {
        json_decref(value);
        return EVD_STRICT_JSON_MALFORMED;
    }
    *ret_object = value;
    return EVD_STRICT_JSON_OK;
}

struct evd_text evd_strict_json_text(const json_t *value) {
    if (!json_is_string(value)) return (struct evd_text){0};
    return (struct evd_text){json_string_value(value), json_string_length(value)};
}
