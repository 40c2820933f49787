/*
 * config/settings.c - a file or some bytes become settings, or messages.
 *
 *   bytes -> yaml_read() -> tree -> process_settings_read() -> settings
 *                                   pool_settings_read()
 *                                   check_*()               -> messages
 */
#include "config/settings.h"

#include "base/mem.h"
#include "config/check.h"
#include "config/pool.h"
#include "config/process.h"
#include "config/slurp.h"
#include "config/yaml.h"

/* What was believed before a restart must be believed after it. */
static void
check_state_file(struct report *report, const struct node *root,
                 const struct settings *settings)
{
    bool has_named = false;

    for (size_t i = 0; i < settings->pool_count; i++)
        has_named = has_named || pool_is_named(&settings->pools[i]);
    if (has_named && settings->state_file == NULL)
        report_warning(report, root->at, NULL, "sentinels without state_file "
                       "in section " PROCESS_SECTION ": which epochs of "
                       "masters were seen is forgotten at a restart");
}

static void
read_root(struct report *report, const struct node *root,
          struct settings *settings)
{
    struct pool_settings *pool =
        mem_array(root->count, sizeof(*settings->pools));

    settings->pools = pool;
    for (const struct node *node = root->first; node; node = node->next) {
        if (view_equal(node_key(node), VIEW(PROCESS_SECTION)))
            process_settings_read(report, node, settings);
        else
            pool_settings_read(report, node, pool++);
    }
    settings->pool_count = (size_t)(pool - settings->pools);
    if (settings->pool_count == 0)
        report_error(report, root->at, NULL, "found no pool, allowed one or "
                     "more keys with listen, servers ...");
    check_listens(report, root, settings);
    check_state_file(report, root, settings);
}

/* NULL, or settings that are only good if nothing was reported as an error. */
static struct settings *
read_text(struct report *report, struct view text)
{
    struct node *root = yaml_read(text, report);
    struct settings *settings = NULL;

    if (root != NULL && root->kind == NODE_MAP) {
        settings = MEM_NEW(struct settings);
        process_settings_init(settings);
        read_root(report, root, settings);
    } else if (root != NULL || report->errors == 0) {
        report_error(report, root ? root->at : (struct mark){1, 1}, NULL,
                     "found no keys, allowed pools and " PROCESS_SECTION);
    }
    node_free(&root);
    return settings;
}

struct settings *
settings_parse(const char *name, struct view text, struct buf *messages)
{
    struct report report = {.file = name, .out = messages};
    struct settings *settings = read_text(&report, text);

    report_finish(&report);
    if (report.errors > 0)
        settings_free(&settings);
    return settings;
}

struct settings *
settings_load(const char *path, struct buf *messages)
{
    struct report report = {.file = path, .out = messages};
    struct settings *settings = NULL;
    struct buf text = {0};
    struct error error;

    if (slurp(path, YAML_BYTES_MAX, &text, &error) < 0)
        report_file_error(&report, "%s", error.text);
    else
        settings = settings_parse(path, buf_view(&text), messages);
    buf_fini(&text);
    return settings;
}

void
settings_free(struct settings **settingsp)
{
    struct settings *settings = *settingsp;

    *settingsp = NULL;
    if (settings == NULL)
        return;
    for (size_t i = 0; i < settings->pool_count; i++)
        pool_settings_fini(&settings->pools[i]);
    mem_free(settings->pools);
    process_settings_fini(settings);
    mem_free(settings);
}

const struct pool_settings *
settings_find_pool(const struct settings *settings, struct view name)
{
    for (size_t i = 0; i < settings->pool_count; i++) {
        if (view_equal(view_str(settings->pools[i].name), name))
            return &settings->pools[i];
    }
    return NULL;
}
