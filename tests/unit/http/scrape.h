/*
 * A strict reader of Prometheus' text format 0.0.4: stricter than Prometheus where that costs nothing. HELP and TYPE
 * once and together, no series twice, escapes, histograms whose buckets never shrink and agree with their count.
 */
#ifndef EVIDENCED_TESTS_UNIT_HTTP_SCRAPE_H
#define EVIDENCED_TESTS_UNIT_HTTP_SCRAPE_H

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 4000, NAME = 200 };

struct sample {
    char series[NAME]; /* name and labels without le, as they stand */
    const char *suffix;
    double le, value; /* le: NaN where there is none */
};

struct scrape {
    const char *at;
    char family[NAME], type[16];
    char families[100][NAME];
    size_t family_count, sample_count;
    struct sample samples[MOST_SAMPLES];
};

#define READER_ASSERT(scrape, condition) ck_assert_msg((condition), "%s, at: %.80s", #condition, (scrape)->at)

static void expect(struct scrape *scrape, const char *literal) {
    ck_assert_msg(strncmp(scrape->at, literal, strlen(literal)) == 0, "no `%s` at: %.80s", literal, scrape->at);
    scrape->at += strlen(literal);
}

static void read_name(struct scrape *scrape, char ret_name[NAME]) {
    size_t size = strspn(scrape->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    READER_ASSERT(scrape, size > 0 && size < NAME && (*scrape->at < '0' || *scrape->at > '9'));
    memcpy(ret_name, scrape->at, size);
    ret_name[size] = '\0';
    scrape->at += size;
}

static void read_label_value(struct scrape *scrape) {
    expect(scrape, "\"");
    for (; *scrape->at != '"'; scrape->at++) {
        READER_ASSERT(scrape, *scrape->at != '\n' && *scrape->at != '\0');
        if (*scrape->at != '\\') continue;
        scrape->at++;
        READER_ASSERT(scrape, *scrape->at == '\\' || *scrape->at == '"' || *scrape->at == 'n');
    }
    scrape->at++;
}

static double read_number(struct scrape *scrape, const char *ends) {
    char *end;
    double number = strtod(scrape->at, &end);
    READER_ASSERT(scrape, end > scrape->at && *end != '\0' && strchr(ends, *end) != NULL);
    scrape->at = end;
    return number;
}

/* Labels to the closing brace; `le` is taken out of the series' identity. */
static void read_labels(struct scrape *scrape, struct sample *sample) {
    const char *begin = scrape->at, *end = NULL; /* end: the separator in front of le */
    size_t name_size = strlen(sample->series);
    char name[NAME];
    do {
        const char *separator = scrape->at++;
        read_name(scrape, name);
        expect(scrape, "=");
        if (strcmp(name, "le") != 0) {
            read_label_value(scrape);
            continue;
        }
        end = separator;
        expect(scrape, "\"");
        sample->le = read_number(scrape, "\"");
        expect(scrape, "\"");
        READER_ASSERT(scrape, *scrape->at == '}'); /* last */
    } while (*scrape->at == ',');
    size_t size = (size_t)((end == NULL ? scrape->at : end) - begin);
    READER_ASSERT(scrape, name_size + size < NAME);
    memcpy(sample->series + name_size, begin, size);
    sample->series[name_size + size] = '\0';
    expect(scrape, "}");
}

static void read_sample(struct scrape *scrape) {
    struct sample *sample = &scrape->samples[scrape->sample_count++];
    bool histogram = strcmp(scrape->type, "histogram") == 0;
    READER_ASSERT(scrape, scrape->sample_count < MOST_SAMPLES);
    *sample = (struct sample){.le = (double)NAN};
    read_name(scrape, sample->series);
    size_t size = strlen(scrape->family);
    READER_ASSERT(scrape, size > 0 && strncmp(sample->series, scrape->family, size) == 0);
    static const char *const suffixes[] = {"", "_bucket", "_sum", "_count"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(sample->series + size, suffixes[i]) == 0) sample->suffix = suffixes[i];
    READER_ASSERT(scrape, sample->suffix != NULL && histogram == (*sample->suffix != '\0'));
    sample->series[size] = '\0';
    if (*scrape->at == '{') read_labels(scrape, sample);
    READER_ASSERT(scrape, isnan(sample->le) != (strcmp(sample->suffix, "_bucket") == 0));
    expect(scrape, " ");
    sample->value = read_number(scrape, "\n");
    READER_ASSERT(scrape, strcmp(scrape->type, "gauge") == 0 || sample->value >= 0);
    for (size_t i = 0; i + 1 < scrape->sample_count; i++) {
        const struct sample *other = &scrape->samples[i];
        bool same_le = other->le == sample->le || (isnan(other->le) && isnan(sample->le));
        READER_ASSERT(scrape,
                      strcmp(other->series, sample->series) != 0 || other->suffix != sample->suffix || !same_le);
    }
    expect(scrape, "\n");
}

static void read_family(struct scrape *scrape) {
    char name[NAME];
    expect(scrape, "# HELP ");
    read_name(scrape, scrape->family);
    for (size_t i = 0; i < scrape->family_count; i++)
        ck_assert_str_ne(scrape->families[i], scrape->family);
    memcpy(scrape->families[scrape->family_count++], scrape->family, NAME);
    expect(scrape, " ");
    for (; *scrape->at != '\n'; scrape->at++)
        if (*scrape->at == '\\') READER_ASSERT(scrape, *++scrape->at == '\\' || *scrape->at == 'n');
    expect(scrape, "\n# TYPE ");
    read_name(scrape, name);
    ck_assert_str_eq(name, scrape->family);
    expect(scrape, " ");
    read_name(scrape, name);
    ck_assert(strcmp(name, "counter") == 0 || strcmp(name, "gauge") == 0 || strcmp(name, "histogram") == 0);
    (void)snprintf(scrape->type, sizeof scrape->type, "%.15s", name);
    expect(scrape, "\n");
}

/* In a histogram's series: buckets in ascending order, never fewer, then sum and count, the last bucket being the
 * count. */
static void check_histograms(const struct scrape *scrape) {
    for (size_t i = 0; i < scrape->sample_count;) {
        const struct sample *first = &scrape->samples[i], *before = NULL;
        if (*first->suffix == '\0') {
            i++;
            continue;
        }
        for (; strcmp(scrape->samples[i].suffix, "_bucket") == 0; i++) {
            const struct sample *bucket = &scrape->samples[i];
            ck_assert_str_eq(bucket->series, first->series);
            if (before != NULL) ck_assert(bucket->le > before->le && bucket->value >= before->value);
            before = bucket;
        }
        const struct sample *sum = &scrape->samples[i++], *count = &scrape->samples[i++];
        ck_assert(before != NULL && isinf(before->le) && i <= scrape->sample_count);
        ck_assert_str_eq(sum->suffix, "_sum");
        ck_assert_str_eq(count->suffix, "_count");
        ck_assert_str_eq(sum->series, first->series);
        ck_assert_str_eq(count->series, first->series);
        ck_assert_double_eq(count->value, before->value);
    }
}

/* Read it all; fails the test where the text is not as it should be. The result is overwritten by the next. */
static const struct scrape *scrape_of(const char *text) {
    static struct scrape scrape;
    scrape.at = text;
    scrape.family_count = scrape.sample_count = 0;
    while (*scrape.at != '\0') {
        read_family(&scrape);
        while (*scrape.at != '\0' && *scrape.at != '#')
            read_sample(&scrape);
    }
    check_histograms(&scrape);
    return &scrape;
}

/* The value of a series, written without its closing brace; -1: there is none. */
static double value_of(const struct scrape *scrape, const char *series, const char *suffix, double le) {
    for (size_t i = 0; i < scrape->sample_count; i++) {
        const struct sample *sample = &scrape->samples[i];
        bool same_le = sample->le == le || (isnan(sample->le) && isnan(le));
        if (strcmp(sample->series, series) == 0 && strcmp(sample->suffix, suffix) == 0 && same_le) return sample->value;
    }
    return -1;
}

#endif
