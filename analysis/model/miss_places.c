/* SPDX-License-Identifier: MIT */
/*
 * miss_places - misses by source line and by object
 */
#include <stdlib.h>
#include <string.h>

#include "miss_places.h"
#include "analysis/profile/mapping.h"

enum {
	ROWS_SHOWN = 10,  /* of each table as text, at most */
	ROWS_JSON = 1000, /* of each table as JSON */
	WORDS_COLUMNS = 40,
};

/* People see rows of at least this share of the time. */
#define SHOWN 0.0005

/* Every name of the maps, whenever they were made. */
#define LATEST UINT64_MAX

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_object(const void *x, const void *y)
{
	const struct object *a = &((const struct miss_place *)x)->object;
	const struct object *b = &((const struct miss_place *)y)->object;
	int module = compare_text(a->module, b->module);
	int name = compare_text(a->name, b->name);

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return module ? module : name ? name : order_u64(a->start, b->start);
}

static int by_line(const void *x, const void *y)
{
	const struct miss_place *a = x, *b = y;
	int order = place_compare_lines(&a->place, &b->place);

	return order ? order : by_object(x, y);
}

static int by_cycles(const void *x, const void *y)
{
	const struct miss_place *a = x, *b = y;

	if (a->n.cycles != b->n.cycles)
		return order_u64(b->n.cycles, a->n.cycles);
	return by_line(x, y);
}

static void add(struct miss_place *to, const struct miss_place *from)
{
	miss_counts_add(&to->n, &from->n);
	if (from->n.cycles > to->most) {
		to->most = from->n.cycles;
		to->place = from->place;
		to->object = from->object;
	}
}

/* The @n rows, which it sorts; those that @order holds for one are one. */
static struct miss_place *merge(struct miss_place *row, size_t n,
				int (*order)(const void *, const void *),
				size_t *rows)
{
	struct miss_place *to = NULL;
	size_t room = 0;

	*rows = 0;
	qsort(row, n, sizeof(*row), order);
	for (size_t i = 0; i < n; i++) {
		if (*rows && !order(&to[*rows - 1], &row[i])) {
			add(&to[*rows - 1], &row[i]);
			continue;
		}
		to = grow(to, *rows, &room, sizeof(*to));
		to[(*rows)++] = row[i];
	}
	if (*rows)
		qsort(to, *rows, sizeof(*to), by_cycles);
	return to;
}

/* The whole object; memory without a name is its mapping, if that is known. */
static void name_whole(struct object *o, const struct process *process,
		       uint64_t addr)
{
	o->offset = 0;
	if (o->kind == OBJECT_UNNAMED) {
		const struct cdp_map *m = process_map(process, addr, LATEST);

		o->start = m ? m->start : 0;
	}
}

void miss_places_init(struct miss_places *p, const struct misses *m,
		      struct symbols *s, const struct process *process)
{
	size_t n;
	const struct miss_row *row = misses_rows(m, &n);
	struct miss_place *all = xcalloc(n + 1, sizeof(*all));

	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < n; i++) {
		struct miss_place *to = &all[i];

		symbols_site(s, process, row[i].ip, LATEST, &to->place);
		symbols_object(s, process, row[i].addr, LATEST, &to->object);
		name_whole(&to->object, process, row[i].addr);
		to->n = row[i].n;
		to->most = to->n.cycles;
		miss_counts_add(&p->all, &to->n);
	}
	p->line = merge(all, n, by_line, &p->lines);
	p->object = merge(all, n, by_object, &p->objects);
	free(all);
}

void miss_places_release(struct miss_places *p)
{
	free(p->line);
	free(p->object);
	memset(p, 0, sizeof(*p));
}

/* The name of a whole object; valid as long as safe_text's. */
static const char *object_words(const struct object *o)
{
	const char *safe;
	char *s;

	if (o->kind == OBJECT_MODULE || o->kind == OBJECT_MAPPED)
		s = xasprintf("data of %s", base_name(o->module));
	else if (o->kind == OBJECT_UNNAMED)
		s = o->start ? xasprintf("memory at 0x%llx",
					 (unsigned long long)o->start)
			     : xstrdup("memory");
	else
		return object_text(o);
	safe = safe_text(s);
	free(s);
	return safe;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static void print_counts(const struct miss_counts *n,
			 const struct miss_counts *all)
{
	uint64_t misses = miss_counts_all(n), each = misses + n->upgrades;

	printf("%6.1f %11s %6.0f ", share(n->cycles, all->cycles),
	       count_text(misses), each ? (double)n->cycles / (double)each : 0);
	for (int i = 0; i < MISS_SOURCES; i++)
		printf(" %4.0f", share(n->from[i], misses));
	putchar(' ');
	for (int i = 0; i < MISS_REASONS; i++)
		printf(" %4.0f", share(n->why[i], misses));
	printf(" %9s", count_text(n->upgrades));
}

static bool is_shown(const struct miss_places *p, const struct miss_place *row,
		     size_t i)
{
	return i < ROWS_SHOWN &&
	       (double)row->n.cycles >= SHOWN * (double)p->all.cycles;
}

static void print_heading(const char *what)
{
	printf("\n%6s %11s %6s  %4s %4s %4s %4s  %4s %4s %4s %4s %9s  %s\n",
	       "time%", "misses", "cycles", "l2", "llc", "core", "mem", "cold",
	       "cap.", "conf", "coh.", "upgrades", what);
}

void miss_places_print_text(const struct miss_places *p)
{
	uint64_t misses = miss_counts_all(&p->all);

	if (!misses && !p->all.upgrades)
		return;
	printf("\nLoads and stores that miss the first data cache: %s. %% of "
	       "the time that all\nof them take, how many, cycles of each; %% "
	       "whose data come from l2, llc, another\ncore, memory; %% by the "
	       "reason why the cache before that lacks the line; stores\nto "
	       "lines that other cores have too.\n",
	       count_text(misses));
	print_heading("source line, function: object");
	for (size_t i = 0; i < p->lines && is_shown(p, &p->line[i], i); i++) {
		const struct miss_place *l = &p->line[i];

		print_counts(&l->n, &p->all);
		printf("  %s", place_text(&l->place));
		if (l->place.function && l->place.file)
			printf(", %s", cut_text(safe_text(l->place.function),
						WORDS_COLUMNS));
		printf(": %s\n", object_words(&l->object));
	}
	print_heading("object");
	for (size_t i = 0; i < p->objects && is_shown(p, &p->object[i], i);
	     i++) {
		print_counts(&p->object[i].n, &p->all);
		printf("  %s\n", object_words(&p->object[i].object));
	}
}

static json_t *json_row(const struct miss_place *r, bool line)
{
	json_t *o = json_object(), *from = json_object(), *why = json_object();

	if (line) {
		put_location(o, r->place.function, r->place.file,
			     r->place.line);
		put_text(o, "module", r->place.module);
		put(o, "offset", hex(r->place.offset));
	}
	put(o, "object", text(object_words(&r->object)));
	put_text(o, "object_kind", object_kind_text(r->object.kind));
	put_count(o, "misses", miss_counts_all(&r->n));
	put_count(o, "cycles", r->n.cycles);
	for (int i = 0; i < MISS_SOURCES; i++)
		put_count(from, miss_source_names[i], r->n.from[i]);
	put(o, "from", from);
	for (int i = 0; i < MISS_REASONS; i++)
		put_count(why, miss_reason_names[i], r->n.why[i]);
	put(o, "why", why);
	put_count(o, "upgrades", r->n.upgrades);
	return o;
}

json_t *miss_places_json(const struct miss_places *p)
{
	json_t *o = json_object(), *lines = json_array();
	json_t *objects = json_array();

	put_count(o, "misses", miss_counts_all(&p->all));
	put_count(o, "cycles", p->all.cycles);
	put_count(o, "upgrades", p->all.upgrades);
	for (size_t i = 0; i < p->lines && i < ROWS_JSON; i++)
		append(lines, json_row(&p->line[i], true));
	put(o, "lines", lines);
	for (size_t i = 0; i < p->objects && i < ROWS_JSON; i++)
		append(objects, json_row(&p->object[i], false));
	put(o, "objects", objects);
	return o;
}
