#include "commands/support.h"

void evd_receipt_of_record(struct evd_call *call, const struct evd_record *record) {
    struct evd_record_receipt receipt = {
        .command_id = call->command_id, .stamp = call->stamp, .id = record->id, .version = record->version};
    evd_call_receipt(call, &evd_type_record_receipt, &receipt);
}

struct evd_outcome evd_invalid(struct evd_call *call, const char *pointer, enum evd_error_code code) {
    struct evd_errors *errors = EVD_NEW(evd_call_arena(call), struct evd_errors);
    evd_errors_init(errors, evd_call_arena(call));
    (void)evd_errors_note(errors, evd_text_from(pointer), code);
    return evd_errors_outcome(errors);
}

bool evd_text_is_blank(struct evd_text text) {
    return evd_text_trim(text).size_bytes == 0;
}
