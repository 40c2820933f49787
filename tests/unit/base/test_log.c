/*
 * test_log.c - log lines, and what untrusted text becomes in them.
 */
#include "log_file.h"
#include "unit.h"

#include <regex.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

static char moved[80];

static void
set_up(void)
{
    log_file_begin();
    snprintf(moved, sizeof(moved), "%s.1", log_path);
}

static void
tear_down(void)
{
    log_file_end();
    unlink(moved);
    log_set_level(LOG_LEVEL_INFO);
}

/* What stands in a file, terminated. */
static const char *
text_of(const char *name)
{
    static char text[65536];
    FILE *file = fopen(name, "r");

    ck_assert_ptr_nonnull(file);
    size_t len = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[len] = '\0';
    return text;
}

static const char *
quoted(struct view text)
{
    static char out[256];

    return log_quote(out, sizeof(out), text);
}

START_TEST(log_line_is_logfmt_with_a_utc_time)
{
    regex_t pattern;

    log_info("listening", "pool=%s port=%d", "a", 7);
    ck_assert_int_eq(
        regcomp(&pattern,
                "^ts=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
                "\\.[0-9]{6}Z level=info msg=\"listening\" pool=a port=7\n$",
                REG_EXTENDED | REG_NOSUB),
        0);
    ck_assert_msg(regexec(&pattern, text_of(log_path), 0, NULL, 0) == 0, "%s",
                  text_of(log_path));
    regfree(&pattern);
}
END_TEST

START_TEST(log_line_without_fields_ends_after_msg)
{
    log_warn("ready", NULL);
    const char *end = strstr(text_of(log_path), " level=warn msg=\"ready\"\n");
    ck_assert_ptr_nonnull(end);
}
END_TEST

START_TEST(log_level_decides_what_is_written)
{
    log_debug("hidden", NULL);
    log_set_level(LOG_LEVEL_DEBUG);
    log_debug("shown", NULL);
    log_set_level(LOG_LEVEL_ERROR);
    log_warn("hidden", NULL);
    log_error("bad", NULL);
    ck_assert_ptr_null(strstr(text_of(log_path), "hidden"));
    ck_assert_ptr_nonnull(strstr(text_of(log_path), "level=debug msg=\"shown\""));
    ck_assert_ptr_nonnull(strstr(text_of(log_path), "level=error msg=\"bad\""));
}
END_TEST

START_TEST(log_level_is_parsed_by_its_exact_name)
{
    ck_assert_int_eq(log_level_parse("error"), LOG_LEVEL_ERROR);
    ck_assert_int_eq(log_level_parse("debug"), LOG_LEVEL_DEBUG);
    ck_assert_int_eq(log_level_parse("Debug"), -1);
    ck_assert_int_eq(log_level_parse(""), -1);
}
END_TEST

/* Whatever the lengths, one line comes out and it ends with a newline. */
START_TEST(log_cuts_a_line_that_is_too_long)
{
    static char huge[5000];

    memset(huge, 'x', sizeof(huge) - 1);
    for (int len = 1900; len < 2100; len++) {
        ck_assert_int_eq(truncate(log_path, 0), 0);
        log_info("long", "key=%.*s", len, huge);
        const char *text = text_of(log_path);
        ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
        ck_assert_uint_le(strlen(text), 2048);
    }
    for (int len = 1900; len < 2100; len++) {
        ck_assert_int_eq(truncate(log_path, 0), 0);
        huge[len] = '\0';
        log_info(huge, "key=%d", 1);
        huge[len] = 'x';
        const char *text = text_of(log_path);
        ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
        ck_assert_uint_le(strlen(text), 2048);
    }
}
END_TEST

START_TEST(log_open_again_follows_a_rotation)
{
    struct error error;

    log_info("before", NULL);
    ck_assert_int_eq(rename(log_path, moved), 0);
    log_info("between", NULL);
    ck_assert_int_eq(log_open(log_path, &error), 0);
    log_info("after", NULL);
    ck_assert_ptr_nonnull(strstr(text_of(moved), "between"));
    ck_assert_ptr_null(strstr(text_of(moved), "after"));
    ck_assert_ptr_nonnull(strstr(text_of(log_path), "after"));
    ck_assert_ptr_null(strstr(text_of(log_path), "before"));
}
END_TEST

START_TEST(log_open_goes_back_to_standard_error)
{
    struct error error;
    int saved = dup(STDERR_FILENO);

    ck_assert_ptr_nonnull(freopen(moved, "w", stderr));
    ck_assert_int_eq(log_open("-", &error), 0);
    log_info("to stderr", NULL);
    ck_assert_int_eq(log_open(log_path, &error), 0);
    log_info("to file", NULL);
    ck_assert_ptr_nonnull(strstr(text_of(moved), "to stderr"));
    ck_assert_ptr_nonnull(strstr(text_of(log_path), "to file"));
    ck_assert_ptr_null(strstr(text_of(log_path), "to stderr"));
    ck_assert_int_ge(dup2(saved, STDERR_FILENO), 0);
    close(saved);
}
END_TEST

START_TEST(log_open_names_the_file_and_keeps_the_old_one)
{
    struct error error;

    ck_assert_int_eq(log_open("/nonexistent/file", &error), -1);
    ck_assert_str_eq(error.text,
                     "cannot open log file /nonexistent/file: "
                     "No such file or directory");
    log_info("still here", NULL);
    ck_assert_ptr_nonnull(strstr(text_of(log_path), "still here"));
}
END_TEST

/* A file may not grow beyond this size from now on. */
static void
limit_file_size(rlim_t size)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(log_tells_how_many_lines_a_full_disk_has_cost)
{
    signal(SIGXFSZ, SIG_IGN);
    log_info("before", NULL);
    uint64_t lost = log_lost();
    limit_file_size(strlen(text_of(log_path)) + 10);
    log_info("torn", NULL);
    log_info("lost", NULL);
    log_info("lost", NULL);
    limit_file_size(RLIM_INFINITY);
    log_info("after", NULL);
    log_info("last", NULL);
    ck_assert_uint_eq(log_lost() - lost, 3);
    const char *text = text_of(log_path);
    ck_assert_ptr_null(strstr(text, "lost\"\n"));
    const char *after = strstr(text, "\nts=20");
    ck_assert_ptr_nonnull(after);
    ck_assert_ptr_nonnull(strstr(after, "msg=\"after\"\n"));
    const char *told = strstr(text, "msg=\"log lines were lost\" count=3\n");
    ck_assert_ptr_nonnull(told);
    ck_assert_ptr_nonnull(strstr(told, "msg=\"last\""));
    ck_assert_ptr_null(strstr(told + 8, "log lines were lost"));
}
END_TEST

START_TEST(log_quote_escapes_what_could_forge_a_line)
{
    ck_assert_str_eq(quoted(VIEW("plain text")), "\"plain text\"");
    ck_assert_str_eq(quoted(VIEW("")), "\"\"");
    ck_assert_str_eq(quoted(VIEW("a\"b\\c")), "\"a\\\"b\\\\c\"");
    ck_assert_str_eq(quoted(VIEW("a\r\nlevel=error")),
                     "\"a\\x0d\\x0alevel=error\"");
    ck_assert_str_eq(quoted(VIEW("\0\x7f\xff")), "\"\\x00\\x7f\\xff\"");
}
END_TEST

START_TEST(log_quote_never_writes_past_its_end)
{
    char out[64];
    static const char nasty[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
                                "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";

    for (size_t size = 8; size <= 48; size++) {
        memset(out, '#', sizeof(out));
        log_quote(out, size, view_str(nasty));
        size_t len = strlen(out);
        ck_assert_uint_lt(len, size);
        ck_assert_int_eq(out[0], '"');
        ck_assert_int_eq(out[len - 1], '"');
        ck_assert_int_eq(out[size], '#');
    }
}
END_TEST

int
main(void)
{
    TCase *tests = tcase_create("log");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, log_line_is_logfmt_with_a_utc_time);
    tcase_add_test(tests, log_line_without_fields_ends_after_msg);
    tcase_add_test(tests, log_level_decides_what_is_written);
    tcase_add_test(tests, log_level_is_parsed_by_its_exact_name);
    tcase_add_test(tests, log_cuts_a_line_that_is_too_long);
    tcase_add_test(tests, log_open_again_follows_a_rotation);
    tcase_add_test(tests, log_open_goes_back_to_standard_error);
    tcase_add_test(tests, log_open_names_the_file_and_keeps_the_old_one);
    tcase_add_test(tests, log_tells_how_many_lines_a_full_disk_has_cost);
    tcase_add_test(tests, log_quote_escapes_what_could_forge_a_line);
    tcase_add_test(tests, log_quote_never_writes_past_its_end);
    return unit_run("base", tests);
}
