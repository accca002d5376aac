/* SPDX-License-Identifier: MIT */
/*
 * lines - the cache lines and the instructions that share
 *
 * Under each line stands a map of its bytes, with a row per thread and a
 * character per byte (or for several bytes, if a line has more than 64), so
 * that the reader sees at a glance what must be moved apart.
 */
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "fields.h"
#include "line_groups.h"
#include "padding.h"
#include "style.h"
#include "analysis/base/util.h"

enum {
	LABEL_MAX = 8,
	VARIABLES = 4,
	VARIABLE_COLUMNS = 60,
	PROCESSES_NAMED = 3,
	PROCESS_COLUMNS = 24,
	LINE_COLUMNS = 80,
	VAIN_PERCENT = 5, /* of the transfers: padding is worth no advice */
	PLACE_AT = 31,    /* column where a source line's place begins */
	PLACE_COLUMNS = 24,
	FUNCTION_COLUMNS = LINE_COLUMNS - PLACE_AT - PLACE_COLUMNS - 1,
};

static void print_map(struct report *r, const struct byte_map *m)
{
	uint32_t columns = (m->bytes + m->a_column - 1) / m->a_column;
	char label[32];

	fprintf(r->out, "    %s%-*s", paint(r, PAINT_DIM), LABEL_MAX, "byte");
	for (uint32_t c = 0; c < columns; c += 8)
		fprintf(r->out, "%-*u", c + 8 < columns ? 8 : 1,
			c * m->a_column);
	fprintf(r->out, "%s\n", paint(r, PAINT_OFF));
	for (size_t i = 0; i < m->rows && i < BYTE_MAP_ROWS; i++) {
		const struct byte_row *row = &m->row[i];

		snprintf(label, sizeof(label), "thr %u", row->thread);
		fprintf(r->out, "    %-*s", LABEL_MAX, label);
		for (uint32_t c = 0; c < columns; c++) {
			int f = row->flags[c] & 3;
			enum paint p = f >= ACCESS_STORE ? PAINT_HOT
				       : f               ? PAINT_WARM
							 : PAINT_DIM;

			fprintf(r->out, "%s%c%s", paint(r, p),
				byte_map_letter(f), paint(r, PAINT_OFF));
		}
		fputc('\n', r->out);
	}
	if (m->rows > BYTE_MAP_ROWS)
		fprintf(r->out, "    ... and %s more threads\n",
			count_text(m->rows - BYTE_MAP_ROWS));
}

/* Name up to VARIABLES different variables on the line. */
static void name_variables(struct report *r, const struct line_tally *l,
			   char *out, size_t size)
{
	const struct tally *t = &r->tally;
	const struct process *s = &t->profile->process[l->process];
	uint64_t seen[VARIABLES];
	size_t n = 0, used = 0;
	bool more = false;

	out[0] = '\0';
	for (size_t i = 0; i < 2 * l->pairs && i < 256; i++) {
		const struct pair_row *p =
			&t->profile->pair[t->by_line[l->first + i / 2]];
		uint64_t addr = i % 2 ? p->detector_addr : p->publisher_addr;
		struct object o;
		size_t k;

		/*
		 * An access that crosses the line's start begins in another
		 * variable.
		 */
		if (addr < l->line || addr - l->line >= s->header.line_bytes)
			continue;
		symbols_object(r->symbols, s, addr, p->line_generation, &o);
		for (k = 0; k < n && seen[k] != o.start; k++)
			;
		if (k < n || o.kind != OBJECT_STATIC)
			continue;
		if (n == VARIABLES) {
			more = true;
			break;
		}
		seen[n++] = o.start;
		o.offset = 0;
		used += snprintf(out + used, size - used, "%s%s",
				 n > 1 ? ", " : "",
				 cut_text(object_text(&o), VARIABLE_COLUMNS));
		if (used >= size)
			return;
	}
	if (more)
		snprintf(out + used, size - used, ", ...");
}

/* "struct worker in heap", where accesses tell the type. */
static void name_types(const struct line_tally *l, const struct line_types *t,
		       char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < t->n && used < size; i++)
		if (!t->instance[i].variable && t->instance[i].number < 2)
			used += snprintf(out + used, size - used, "%s%s",
					 used ? ", " : "",
					 cut_text(safe_text(instance_name(
							  &t->instance[i])),
						  VARIABLE_COLUMNS));
	if (used && used < size)
		snprintf(out + used, size - used, " in %s",
			 cut_text(object_text(&l->object), VARIABLE_COLUMNS));
}

static bool shown_above(const struct report *r, const struct byte_map *m,
			size_t row)
{
	const struct thread_row *thread = r->profile->thread;

	for (size_t i = 0; i < row; i++)
		if (thread[m->row[i].thread].process ==
		    thread[m->row[row].thread].process)
			return true;
	return false;
}

/* " of pid 12 (server), pid 13 (server)" if there are several processes. */
static void name_processes(const struct report *r, const struct byte_map *m,
			   char *out, size_t size)
{
	const struct profile *p = r->profile;
	size_t used = 0, shown = 0;

	out[0] = 0;
	for (size_t i = 0; p->processes > 1 && i < m->rows; i++) {
		const struct process *s =
			&p->process[p->thread[m->row[i].thread].process];

		if (shown_above(r, m, i))
			continue;
		if (shown++ == PROCESSES_NAMED) {
			snprintf(out + used, size - used, ", ...");
			return;
		}
		used += snprintf(out + used, size - used, "%s pid %u (%s)",
				 used ? "," : " of", s->header.pid,
				 cut_text(safe_text(base_name(s->header.exe)),
					  PROCESS_COLUMNS));
	}
}

static void print_line(struct report *r, size_t i)
{
	const struct tally *t = &r->tally;
	const struct line_tally *l = &t->line[i];
	struct byte_map m;
	struct fields f;
	char names[1400], module[300] = "", padding[80] = "", *text;
	char processes[400];

	if (l->judged.all)
		snprintf(padding, sizeof(padding), "; padding avoids %s of %s",
			 count_text(l->judged.avoidable),
			 count_text(l->judged.all));
	byte_map_build(&m, t, l);
	name_processes(r, &m, processes, sizeof(processes));
	fields_build(&f, r, l, &m);
	name_variables(r, l, names, sizeof(names));
	if (!names[0])
		name_types(l, &f.types, names, sizeof(names));
	if (l->object.kind == OBJECT_STATIC)
		snprintf(module, sizeof(module), " (%s)",
			 cut_text(safe_text(base_name(l->object.module)),
				  VARIABLE_COLUMNS));
	text = xasprintf(
		"0x%llx  %s false, %s true (%s of all)%s; %s %s%s%s; "
		"%s%s",
		(unsigned long long)l->line, count_text(l->kind[SHARING_FALSE]),
		count_text(l->kind[SHARING_TRUE]),
		percent_text(tally_total(l->kind), tally_total(t->kind)),
		padding, count_text(m.rows),
		r->profile->merged ? "row of thread" : "thread",
		m.rows == 1 && !r->profile->merged ? "" : "s", processes,
		names[0] ? names
			 : cut_text(object_text(&l->object), VARIABLE_COLUMNS),
		module);
	fputs("  ", r->out);
	print_wrapped(r->out, text, 2, 4);
	print_map(r, &m);
	fields_print(r, &f, &m);
	free(text);
	fields_release(&f);
	byte_map_release(&m);
}

/* A variable on several lines: its sum, the first lines, the rest's sum. */
static void print_group(struct report *r, const struct line_groups *g,
			const struct line_group *group)
{
	const struct tally *t = &r->tally;
	struct object whole = t->line[g->line[group->first]].object;
	uint64_t rest[SHARING_KINDS];
	size_t shown = (r->top + 2) / 3;
	char module[300] = "", *name, *text;

	whole.offset = 0;
	name = xstrdup(cut_text(object_text(&whole), VARIABLE_COLUMNS));
	if (whole.module)
		snprintf(module, sizeof(module), " (%s)",
			 cut_text(safe_text(base_name(whole.module)),
				  VARIABLE_COLUMNS));
	text = xasprintf(
		"%s%s: %s false, %s true (%s of all) on %s lines:", name,
		module, count_text(group->kind[SHARING_FALSE]),
		count_text(group->kind[SHARING_TRUE]),
		percent_text(tally_total(group->kind), tally_total(t->kind)),
		count_text(group->lines));
	fputs("  ", r->out);
	print_wrapped(r->out, text, 2, 4);
	free(text);
	memcpy(rest, group->kind, sizeof(rest));
	for (size_t i = 0; i < group->lines && i < shown; i++) {
		size_t line = g->line[group->first + i];

		print_line(r, line);
		for (int k = 0; k < SHARING_KINDS; k++)
			rest[k] -= rest[k] < t->line[line].kind[k]
					   ? rest[k]
					   : t->line[line].kind[k];
	}
	if (group->lines > shown) {
		text = xasprintf("... and %s more lines of %s: %s false, %s "
				 "true",
				 count_text(group->lines - shown), name,
				 count_text(rest[SHARING_FALSE]),
				 count_text(rest[SHARING_TRUE]));
		fputs("  ", r->out);
		print_wrapped(r->out, text, 2, 4);
		free(text);
	}
	free(name);
}

/* True if it is known that padding avoids next to nothing. */
static bool padding_is_vain(const struct report *r)
{
	double share = report_padding_share(r);

	return share >= 0 && share * 100 < VAIN_PERCENT;
}

void report_lines(struct report *r)
{
	const struct tally *t = &r->tally;
	uint64_t unplaced = tally_total(t->unplaced);
	struct line_groups g;
	size_t left = 0;

	report_heading(r, "Cache lines");
	line_groups_init(&g, t);
	for (size_t i = 0; i < g.groups; i++) {
		const struct line_group *group = &g.group[i];

		if (i >= r->top)
			left += group->lines;
		else if (group->lines > 1)
			print_group(r, &g, group);
		else
			print_line(r, g.line[group->first]);
	}
	line_groups_release(&g);
	if (t->lines)
		fputs("  W stored, r loaded, B both, in the accesses of "
		      "detections.\n",
		      r->out);
	if (t->judged.all && !t->judged.avoidable)
		fputs("  Padding avoids none of it: each thread needs what "
		      "others store to its line.\n",
		      r->out);
	else if (t->kind[SHARING_FALSE] && padding_is_vain(r))
		fputs("  Padding avoids little of it: the threads use the same "
		      "data, or data\n  that belongs together.\n",
		      r->out);
	else if (t->kind[SHARING_FALSE])
		fputs("  False sharing ends where bytes of different threads "
		      "get lines of their own\n  (alignas(64), padding, or "
		      "one block of memory a thread).\n",
		      r->out);
	if (left)
		fprintf(r->out, "  ... and %s more lines\n", count_text(left));
	if (unplaced)
		fprintf(r->out,
			"  %s detections are on lines without a record of "
			"their own (too many lines).\n",
			count_text(unplaced));
}

/* Sites of one source line are shown as one. */
struct source_line {
	const struct site_tally *first;
	uint64_t kind[SHARING_KINDS];
	uint32_t flags;
};

static int compare_sources(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;
	const struct place *p = &x->first->place, *q = &y->first->place;
	int order;

	if (!p->file != !q->file)
		return p->file ? -1 : 1;
	if (p->file) {
		order = strcmp(p->file, q->file);
		if (!order && p->line != q->line)
			order = p->line < q->line ? -1 : 1;
		return order;
	}
	/* A JIT compiler names functions; its code has no lines. */
	if (p->jit && q->jit)
		return strcmp(p->function, q->function);
	return place_compare(p, q);
}

static int compare_source_weights(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;
	uint64_t n = tally_total(x->kind), m = tally_total(y->kind);

	return n != m ? (n > m ? -1 : 1) : compare_sources(a, b);
}

/* A detection with both its sites on one source line counts once there. */
static void count_sources(const struct tally *t, struct source_line *s,
			  const uint32_t *group)
{
	for (size_t i = 0; i < t->taken; i++) {
		uint32_t pair = t->by_line[i];
		const struct pair_row *p = &t->profile->pair[pair];
		uint32_t from = t->publisher_site[pair];
		uint32_t to = t->detector_site[pair];

		from = from == NO_SITE ? NO_SITE : group[from];
		to = to == NO_SITE || group[to] == from ? NO_SITE : group[to];
		if (from != NO_SITE)
			s[from].kind[p->sharing] =
				sat_add(s[from].kind[p->sharing], p->count);
		if (to != NO_SITE)
			s[to].kind[p->sharing] =
				sat_add(s[to].kind[p->sharing], p->count);
	}
}

static struct source_line *source_lines(const struct tally *t, size_t *n)
{
	struct source_line *s = xcalloc(t->sites, sizeof(*s));
	uint32_t *group = xcalloc(t->sites, sizeof(*group));
	size_t kept = 0;

	for (size_t i = 0; i < t->sites; i++) {
		s[i].first = &t->site[i];
		s[i].flags = t->site[i].flags;
	}
	if (t->sites)
		qsort(s, t->sites, sizeof(*s), compare_sources);
	for (size_t i = 0; i < t->sites; i++) {
		struct source_line one = s[i];

		if (kept && !compare_sources(&s[kept - 1], &one))
			s[kept - 1].flags |= one.flags;
		else
			s[kept++] = one;
		group[one.first - t->site] = kept - 1;
	}
	count_sources(t, s, group);
	if (kept)
		qsort(s, kept, sizeof(*s), compare_source_weights);
	free(group);
	*n = kept;
	return s;
}

static const char *access_text(uint32_t flags)
{
	static const char *const words[] = { "?", "load", "store", "both" };

	return words[flags & (ACCESS_LOAD | ACCESS_STORE)];
}

/* Say what of a library was inlined at the line and holds the instruction. */
static void print_via(struct report *r, const struct place *p)
{
	struct place inner = { .module = p->module,
			       .function = p->inner_function,
			       .file = p->inner_file,
			       .line = p->inner_line };
	const char *place = place_text(&inner);
	size_t used = strlen("via  ()") + text_columns(place);

	if (!p->inner_file || PLACE_AT + used >= LINE_COLUMNS)
		return;
	fprintf(r->out, "%*svia %s", PLACE_AT, "", place);
	if (inner.function)
		fprintf(r->out, " (%s)",
			cut_text(safe_text(inner.function),
				 LINE_COLUMNS - PLACE_AT - used));
	fputc('\n', r->out);
}

/* Say which of the user's lines calls the library that the site is in. */
static void print_caller(struct report *r, const struct site_tally *s)
{
	const char *place;
	size_t used;

	if (!s->called)
		return;
	place = cut_text(place_text(&s->caller),
			 LINE_COLUMNS - PLACE_AT - strlen("called at "));
	used = strlen("called at  ()") + text_columns(place);
	fprintf(r->out, "%*scalled at %s", PLACE_AT, "", place);
	if (s->caller.function && PLACE_AT + used < LINE_COLUMNS)
		fprintf(r->out, " (%s)",
			cut_text(safe_text(s->caller.function),
				 LINE_COLUMNS - PLACE_AT - used));
	fputc('\n', r->out);
}

static void print_source(struct report *r, const struct source_line *s)
{
	const struct place *p = &s->first->place;
	const char *function = p->jit && !p->file ? "(JIT compiler)"
			       : p->function      ? safe_text(p->function)
						  : "?";
	const char *place = place_text(p);
	bool fits = text_columns(place) <= PLACE_COLUMNS &&
		    text_columns(function) <= FUNCTION_COLUMNS;

	fprintf(r->out, "  %9s %9s  %-7s %s",
		count_text(s->kind[SHARING_FALSE]),
		count_text(s->kind[SHARING_TRUE]), access_text(s->flags),
		cut_text(place, LINE_COLUMNS - PLACE_AT));
	if (fits)
		fprintf(r->out, "%*s %s\n",
			(int)(PLACE_COLUMNS - text_columns(place)), "",
			function);
	else
		fprintf(r->out, "\n%*s%s\n", PLACE_AT, "",
			cut_text(function, LINE_COLUMNS - PLACE_AT));
	print_via(r, p);
	print_caller(r, s->first);
}

void report_sites(struct report *r)
{
	size_t n;
	struct source_line *s = source_lines(&r->tally, &n);

	if (!n) {
		free(s);
		return;
	}
	report_heading(r,
		       "Source lines (detections with an access at this line)");
	fprintf(r->out, "%s  %9s %9s  %-7s %-24s %s%s\n", paint(r, PAINT_DIM),
		"false", "true", "access", "location", "function",
		paint(r, PAINT_OFF));
	for (size_t i = 0; i < n && i < r->top; i++)
		print_source(r, &s[i]);
	if (n > r->top)
		fprintf(r->out, "  ... and %s more\n", count_text(n - r->top));
	fputs("  A detection counts at the store and at the access that found "
	      "it.\n",
	      r->out);
	free(s);
}
