/*
 * config/yaml.h - the only door to libyaml: bytes in, a tree out.
 *
 * YAML is cut down to what a configuration needs: one document of texts, lists
 * and maps with text keys, NODE_DEPTH_MAX deep.  Aliases are refused (a few
 * lines of them can stand for billions of nodes), and so are tags and keys
 * that are given twice.
 */
#ifndef CONFIG_YAML_H
#define CONFIG_YAML_H

#include "base/view.h"
#include "config/node.h"
#include "config/report.h"

#define YAML_BYTES_MAX ((size_t)8 << 20)
#define YAML_NODES_MAX 262144

/*
 * The root, which the caller frees; or NULL when no tree can be made, which
 * has then been reported.  Lesser errors are reported, and what is wrong is
 * left out of the tree, so that the rest can be checked too.
 */
struct node *yaml_read(struct view text, struct report *report) MUST_CHECK;

#endif
