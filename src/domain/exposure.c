#include "evidenced/domain/exposure.h"

enum evd_exposure_class evd_exposure_class_of(int64_t version_seq, bool declared_so_far, int64_t first_exposed_seq) {
    if (first_exposed_seq > 0 && first_exposed_seq <= version_seq) return EVD_EXPOSURE_INFORMED;
    return declared_so_far ? EVD_EXPOSURE_INDEPENDENT : EVD_EXPOSURE_UNKNOWN;
}
