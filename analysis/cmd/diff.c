/* SPDX-License-Identifier: MIT */
/*
 * diff - say what changed between two profiles, and what is noise
 */
#include <getopt.h>
#include <stdlib.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/diff/diff.h"
#include "analysis/diff/diff_json.h"
#include "analysis/diff/diff_text.h"
#include "analysis/diff/rule.h"

enum {
	TOP_DEFAULT = 10,
	TOP_MAX = 1000000,
	ARGUMENTS_MAX = 64,
};

struct arguments {
	const char *text[ARGUMENTS_MAX];
	size_t n;
};

struct options {
	bool json, symbols;
	size_t top;
	struct arguments before, after, rules;
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "top", required_argument, NULL, 'n' },
	{ "before", required_argument, NULL, 'b' },
	{ "after", required_argument, NULL, 'a' },
	{ "fail-on", required_argument, NULL, 'f' },
	{ "no-symbols", no_argument, NULL, 'S' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void keep(struct arguments *a, const char *text, const char *option)
{
	if (a->n == ARGUMENTS_MAX)
		die("diff: %s can be given %d times at most", option,
		    ARGUMENTS_MAX);
	a->text[a->n++] = text;
}

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct option_syntax syntax = { "diff", cmd_diff.usage,
					      ":jn:b:a:h", long_options };
	int letter;

	*o = (struct options){ .symbols = true, .top = TOP_DEFAULT };
	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		if (letter == 'j')
			o->json = true;
		else if (letter == 'n')
			o->top = (size_t)whole_number("diff: --top", optarg, 1,
						      TOP_MAX);
		else if (letter == 'b')
			keep(&o->before, optarg, "--before");
		else if (letter == 'a')
			keep(&o->after, optarg, "--after");
		else if (letter == 'f')
			keep(&o->rules, optarg, "--fail-on");
		else
			o->symbols = false;
	}
	if (argc - optind == 2 && !o->before.n && !o->after.n) {
		keep(&o->before, argv[optind], "");
		keep(&o->after, argv[optind + 1], "");
		return;
	}
	if (argc != optind || !o->before.n || !o->after.n)
		die("diff takes two directories, or --before and --after; see "
		    "reusetrack diff --help");
}

static int check_rules(const struct rule *rule, size_t n, const struct diff *d)
{
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		char *why;

		if (!rule_broken(&rule[i], d, &why))
			continue;
		warn("diff: %s", why);
		free(why);
		status = 1;
	}
	return status;
}

static int run_diff(int argc, char **argv)
{
	struct side before = { 0 }, after = { 0 };
	struct rule rule[ARGUMENTS_MAX];
	struct options o;
	struct diff d;
	int status = 0;
	char *unlike;

	parse_options(argc, argv, &o);
	for (size_t i = 0; i < o.rules.n; i++)
		if (!rule_parse(&rule[i], o.rules.text[i]))
			die("diff: --fail-on takes regress, 'avoidable > 10%%' "
			    "(or false, true) or 'sharing > 5', not '%s'",
			    safe_text(o.rules.text[i]));
	for (size_t i = 0; i < o.before.n; i++)
		side_add(&before, o.before.text[i], o.symbols);
	for (size_t i = 0; i < o.after.n; i++)
		side_add(&after, o.after.text[i], o.symbols);
	unlike = diff_unlike(&before, &after);
	if (unlike)
		die("diff: what they found does not compare: %s", unlike);
	diff_init(&d, &before, &after);
	if (o.json)
		status = diff_json(&d) ? 1 : 0;
	else
		diff_text(&d, stdout, o.top);
	status |= check_rules(rule, o.rules.n, &d);
	diff_release(&d);
	side_release(&before);
	side_release(&after);
	return status;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "say what changed between two profiles, and what is noise",
	.usage = "usage: reusetrack diff [OPTION...] BEFORE AFTER\n"
		 "       reusetrack diff [OPTION...] --before DIR... --after "
		 "DIR...\n\n"
		 "Compares the sharing in two output directories, of the same "
		 "program before and\n"
		 "after a change. With several runs on a side, their scatter "
		 "is in the intervals.\n\n"
		 "      --json          one JSON object instead of text\n"
		 "  -n, --top N         rows of each table at most; default "
		 "10\n"
		 "  -b, --before DIR    a run before; may be repeated\n"
		 "  -a, --after DIR     a run after; may be repeated\n"
		 "      --fail-on RULE  exit with 1 if RULE holds: regress, "
		 "'avoidable > 10%',\n"
		 "                      'false > 10%', 'true > 10%' or "
		 "'sharing > 5'; may be\n"
		 "                      repeated\n"
		 "      --no-symbols    modules and offsets, no names\n",
	.run = run_diff,
};
