/*
 * RocksDB's options and handles, and what a directory must be to be ours.
 *
 * The family `default` holds the key "format". A directory is ours when it is empty, or holds a RocksDB database with
 * that key. A database without it is taken only when it holds nothing at all: that is what an interrupted first start
 * leaves. Whatever is not exactly as we would have left it is looked at read-only first, so that refusing changes
 * nothing.
 */
#include "internal.h"

#include "evidenced/base/limits.h"
#include "evidenced/base/text.h"

#include <dirent.h>
#include <errno.h>

enum {
    WARNINGS = 2, /* of RocksDB's InfoLogLevel */
    OPEN_FILES = 1024,
    LOG_FILES = 4,
    BACKGROUND_JOBS = 2,
    WRITE_BUFFERS = 3,
    BLOOM_BITS = 10,
    NO_HISTORY = 1, /* 0 would mean RocksDB's choice */
    DELETION_WINDOW = 1024,
    DELETION_TRIGGER = 256,
    FORMAT_TEXT_BYTES = 24,
    MOST_FAMILIES = 16,
};

static const char *const family_names[EVD_FAMILY_COUNT] = {"default", "records", "index"};
static const char format_key[] = "format";

/* Below this the conflict check, which looks at buffers only, would run out of history and refuse at random. */
static const uint64_t least_buffer_bytes = 64 * EVD_MIB;

/* Index entries are not checked for conflicts, and live best in small buffers: a queue leaves the remains of what was
 * taken at its front, every scan walks over them, and only writing a buffer out clears them away. */
static const uint64_t index_buffer_bytes = 8 * EVD_MIB;

/* Of a write buffer: most keys a commit looks for are new, and a filter says so without walking the buffers. */
static const double memtable_bloom_share = 0.02;

static rocksdb_options_t *options_new(uint64_t buffer_bytes, uint64_t history_bytes,
                                      rocksdb_block_based_table_options_t *table) {
    rocksdb_options_t *options = rocksdb_options_create();
    rocksdb_options_set_write_buffer_size(options, buffer_bytes);
    rocksdb_options_set_max_write_buffer_number(options, WRITE_BUFFERS);
    rocksdb_options_set_max_write_buffer_size_to_maintain(options, (int64_t)history_bytes);
    rocksdb_options_set_compression(options, rocksdb_lz4_compression);
    rocksdb_options_set_level_compaction_dynamic_level_bytes(options, 1);
    rocksdb_options_set_block_based_table_factory(options, table);
    return options;
}

/* Indexes and filters are in parts of a block's size: one for a whole file is larger than what one shard of the cache
 * holds, and then is read and unpacked again for every key. */
static rocksdb_block_based_table_options_t *table_new(rocksdb_cache_t *cache) {
    rocksdb_block_based_table_options_t *table = rocksdb_block_based_options_create();
    rocksdb_block_based_options_set_block_cache(table, cache);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
    rocksdb_block_based_options_set_cache_index_and_filter_blocks_with_high_priority(table, 1);
    rocksdb_block_based_options_set_pin_l0_filter_and_index_blocks_in_cache(table, 1);
    rocksdb_block_based_options_set_pin_top_level_index_and_filter(table, 1);
    rocksdb_block_based_options_set_index_type(table, rocksdb_block_based_table_index_type_two_level_index_search);
    rocksdb_block_based_options_set_partition_filters(table, 1);
    return table;
}

void evd_database_options_init(struct evd_database_options *options, uint64_t write_buffer_bytes,
                               uint64_t block_cache_bytes) {
    uint64_t buffer_bytes = write_buffer_bytes / 4;
    if (buffer_bytes < least_buffer_bytes) buffer_bytes = least_buffer_bytes;
    options->cache = rocksdb_cache_create_lru(block_cache_bytes);
    options->table = table_new(options->cache);
    options->records_table = table_new(options->cache);
    rocksdb_block_based_options_set_filter_policy(options->records_table,
                                                  rocksdb_filterpolicy_create_bloom_full(BLOOM_BITS));
    options->all = options_new(index_buffer_bytes, NO_HISTORY, options->table);
    rocksdb_options_set_db_write_buffer_size(options->all, write_buffer_bytes); /* one budget for all families */
    rocksdb_options_set_max_total_wal_size(options->all, write_buffer_bytes);   /* bounds the time a start takes */
    rocksdb_options_set_max_background_jobs(options->all, BACKGROUND_JOBS);
    rocksdb_options_set_max_open_files(options->all, OPEN_FILES);
    rocksdb_options_set_keep_log_file_num(options->all, LOG_FILES);
    rocksdb_options_set_max_log_file_size(options->all, 4 * EVD_MIB);
    rocksdb_options_set_info_log_level(options->all, WARNINGS);
    options->records = options_new(buffer_bytes, buffer_bytes, options->records_table);
    rocksdb_options_set_memtable_whole_key_filtering(options->records, 1);
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options->records, memtable_bloom_share);
    options->index = options_new(index_buffer_bytes, NO_HISTORY, options->table);
    rocksdb_options_add_compact_on_deletion_collector_factory(options->index, DELETION_WINDOW, DELETION_TRIGGER);
    options->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(options->write, 1);
    options->begin = rocksdb_optimistictransaction_options_create();
    rocksdb_optimistictransaction_options_set_set_snapshot(options->begin, 1);
}

void evd_database_options_done(struct evd_database_options *options) {
    rocksdb_optimistictransaction_options_destroy(options->begin);
    rocksdb_writeoptions_destroy(options->write);
    rocksdb_options_destroy(options->index);
    rocksdb_options_destroy(options->records);
    rocksdb_options_destroy(options->all);
    rocksdb_block_based_options_destroy(options->records_table);
    rocksdb_block_based_options_destroy(options->table);
    rocksdb_cache_destroy(options->cache);
}

/* Takes RocksDB's sentence. */
static bool refuse_by_rocksdb(char ret_error[EVD_EMBEDDED_ERROR_BYTES], const char *directory, char *said) {
    if (strstr(said, "lock hold by current process") != NULL)
        (void)EVD_REFUSE(ret_error, "The store in %s is already open in this process.", directory);
    else if (strstr(said, "While lock file") != NULL)
        (void)EVD_REFUSE(ret_error, "The store in %s is in use by another process.", directory);
    else
        (void)EVD_REFUSE(ret_error, "The store in %s cannot be opened: %s.", directory, said);
    rocksdb_free(said);
    return false;
}

/* What RocksDB may leave behind when it is interrupted before the database exists, and what file systems put. */
static bool may_be_there_before_us(const char *name) {
    static const char *const beginnings[] = {"LOG", "LOCK", "IDENTITY", "MANIFEST-", "OPTIONS-", "lost+found"};
    size_t size_bytes = strlen(name);
    if (size_bytes > 6 && strcmp(name + size_bytes - 6, ".dbtmp") == 0) return true;
    if (size_bytes > 4 && strcmp(name + size_bytes - 4, ".log") == 0) return true;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

enum found { FOUND_NOTHING, FOUND_DATABASE, FOUND_STRANGERS, FOUND_UNREADABLE };

static enum found directory_look(const char *directory) {
    DIR *stream = opendir(directory);
    if (stream == NULL) return FOUND_UNREADABLE;
    enum found found = FOUND_NOTHING;
    // The stream is this thread's alone, and readdir_r is deprecated.
    // cppcheck-suppress readdirCalled
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        if (strcmp(entry->d_name, "CURRENT") == 0) {
            found = FOUND_DATABASE;
            break;
        }
        if (!may_be_there_before_us(entry->d_name)) found = FOUND_STRANGERS;
    }
    (void)closedir(stream);
    return found;
}

static bool is_empty(rocksdb_t *base, rocksdb_column_family_handle_t *const *families, size_t count) {
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    bool empty = true;
    for (size_t i = 0; i < count && empty; i++) {
        rocksdb_iterator_t *iterator = rocksdb_create_iterator_cf(base, options, families[i]);
        rocksdb_iter_seek_to_first(iterator);
        empty = !rocksdb_iter_valid(iterator);
        rocksdb_iter_destroy(iterator);
    }
    rocksdb_readoptions_destroy(options);
    return empty;
}

enum format { FORMAT_OURS, FORMAT_NONE, FORMAT_REFUSED };

/* The format key of an open database. REFUSED: ret_error says why. */
static enum format format_check(rocksdb_t *base, rocksdb_column_family_handle_t *const *families, size_t count,
                                const char *directory, char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    size_t size_bytes = 0;
    uint64_t format = 0;
    char *said = NULL;
    rocksdb_readoptions_t *options = rocksdb_readoptions_create();
    char *value = rocksdb_get_cf(base, options, families[0], format_key, sizeof format_key - 1, &size_bytes, &said);
    rocksdb_readoptions_destroy(options);
    if (said != NULL) return refuse_by_rocksdb(ret_error, directory, said), FORMAT_REFUSED;
    bool known = value != NULL && evd_text_to_u64((struct evd_text){value, size_bytes}, &format);
    bool absent = value == NULL;
    rocksdb_free(value);
    if (known && format >= 1 && format <= EVD_EMBEDDED_FORMAT) return FORMAT_OURS;
    if (absent && is_empty(base, families, count)) return FORMAT_NONE;
    if (known && format > EVD_EMBEDDED_FORMAT)
        (void)EVD_REFUSE(
            ret_error,
            "The store in %s was written by a newer version of this program (format %ju; this one reads up "
            "to %d).",
            directory, (uintmax_t)format, EVD_EMBEDDED_FORMAT);
    else
        (void)EVD_REFUSE(ret_error, "%s holds a database that is not an evidenced store.", directory);
    return FORMAT_REFUSED;
}

static bool are_our_families(char *const *names, size_t count) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        for (int family = 0; family < EVD_FAMILY_COUNT; family++)
            known += strcmp(names[i], family_names[family]) == 0;
    return count == EVD_FAMILY_COUNT && known == EVD_FAMILY_COUNT;
}

/* Not the families we make: newer, foreign, or interrupted while it was made. Opens nothing for writing. */
static bool look_read_only(const struct evd_database_options *options, const char *directory, char *const *names,
                           size_t count, char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    const rocksdb_options_t *family_options[MOST_FAMILIES];
    rocksdb_column_family_handle_t *families[MOST_FAMILIES];
    const char *family_name[MOST_FAMILIES];
    char *said = NULL;
    if (count > MOST_FAMILIES)
        return EVD_REFUSE(ret_error, "%s holds a database that is not an evidenced store.", directory);
    for (size_t i = 0; i < count; i++) {
        family_options[i] = options->all;
        family_name[i] = names[i];
    }
    rocksdb_t *base = rocksdb_open_for_read_only_column_families(options->all, directory, (int)count, family_name,
                                                                 family_options, families, 0, &said);
    if (said != NULL) return refuse_by_rocksdb(ret_error, directory, said);
    enum format format = format_check(base, families, count, directory, ret_error);
    for (size_t i = 0; i < count; i++)
        rocksdb_column_family_handle_destroy(families[i]);
    rocksdb_close(base);
    return format != FORMAT_REFUSED;
}

static bool directory_check(const struct evd_database_options *options, const char *directory, bool may_create,
                            bool *ret_exists, char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    char *said = NULL;
    size_t count = 0;
    switch (directory_look(directory)) {
    case FOUND_UNREADABLE:
        return EVD_REFUSE(ret_error, "The directory %s cannot be read: %s.", directory, strerrordesc_np(errno));
    case FOUND_STRANGERS:
        return EVD_REFUSE(ret_error, "%s holds other files and no store; name an empty directory.", directory);
    case FOUND_NOTHING:
        *ret_exists = false;
        return may_create || EVD_REFUSE(ret_error, "%s holds no store.", directory);
    case FOUND_DATABASE: break;
    }
    char **names = rocksdb_list_column_families(options->all, directory, &count, &said);
    if (said != NULL) return refuse_by_rocksdb(ret_error, directory, said);
    bool fine = are_our_families(names, count) || look_read_only(options, directory, names, count, ret_error);
    rocksdb_list_column_families_destroy(names, count);
    *ret_exists = true;
    return fine;
}

static bool format_write(struct evd_database *database, const struct evd_database_options *options,
                         const char *directory, char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    char text[FORMAT_TEXT_BYTES], *said = NULL;
    int size = snprintf(text, sizeof text, "%d", EVD_EMBEDDED_FORMAT);
    rocksdb_put(database->base, options->write, format_key, sizeof format_key - 1, text, (size_t)size, &said);
    return said == NULL || refuse_by_rocksdb(ret_error, directory, said);
}

bool evd_database_open(struct evd_database *database, const struct evd_database_options *options, const char *directory,
                       bool may_create, char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    const rocksdb_options_t *family_options[EVD_FAMILY_COUNT] = {options->all, options->records, options->index};
    char *said = NULL;
    bool exists = false;
    if (!directory_check(options, directory, may_create, &exists, ret_error)) return false;
    rocksdb_options_set_create_if_missing(options->all, !exists);
    rocksdb_options_set_create_missing_column_families(options->all, may_create);
    struct evd_database opened = {0};
    opened.transactional = rocksdb_optimistictransactiondb_open_column_families(
        options->all, directory, EVD_FAMILY_COUNT, family_names, family_options, opened.families, &said);
    if (said != NULL) return refuse_by_rocksdb(ret_error, directory, said);
    opened.base = rocksdb_optimistictransactiondb_get_base_db(opened.transactional);
    switch (format_check(opened.base, opened.families, EVD_FAMILY_COUNT, directory, ret_error)) {
    case FORMAT_OURS: break;
    case FORMAT_NONE:
        if (may_create && format_write(&opened, options, directory, ret_error)) break;
        if (!may_create) (void)EVD_REFUSE(ret_error, "%s holds no store.", directory);
        evd_database_close(&opened);
        return false;
    case FORMAT_REFUSED: evd_database_close(&opened); return false;
    }
    *database = opened;
    return true;
}

bool evd_database_flush(struct evd_database *database, char ret_error[EVD_EMBEDDED_ERROR_BYTES]) {
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    char *said = NULL;
    rocksdb_flushoptions_set_wait(options, 1);
    for (int family = 0; family < EVD_FAMILY_COUNT && said == NULL; family++)
        rocksdb_flush_cf(database->base, options, database->families[family], &said);
    rocksdb_flushoptions_destroy(options);
    if (said == NULL) return true;
    (void)EVD_REFUSE(ret_error, "The store cannot write out what it holds in memory: %s.", said);
    rocksdb_free(said);
    return false;
}

void evd_database_close(struct evd_database *database) {
    if (database->transactional == NULL) return;
    for (int family = 0; family < EVD_FAMILY_COUNT; family++)
        rocksdb_column_family_handle_destroy(database->families[family]);
    rocksdb_optimistictransactiondb_close_base_db(database->base);
    rocksdb_optimistictransactiondb_close(database->transactional);
    *database = (struct evd_database){0};
}
