/* SPDX-License-Identifier: MIT */
/*
 * parts - accesses to members; each line that accesses one says which
 *
 * A line with "is: TYPE|PATH" makes no other access than to that part, but for
 * the pointers that the comment before it names.
 */
#include <stdlib.h>

#define FUNCTION __attribute__((noinline))
#define STEP     __asm__ volatile("" ::: "memory")

struct stats {
	long hits, misses;
};
typedef struct {
	int id;
	struct stats stats;
	long data[4];
} worker_t;
struct node {
	struct node *next;
	char name[6];
	union {
		long number;
		double real;
	};
	worker_t worker;
};
struct packed {
	char a;
	long b;
} __attribute__((packed));
struct bits {
	unsigned first : 7;
	unsigned second : 25;
	short third;
};

worker_t workers[4];
struct node *nodes[3];
struct packed packed[5];
struct bits bits;
int matrix[3][5];
long alone;
struct {
	long x;
	struct stats deep[2][2];
} unnamed;

FUNCTION void count(worker_t *w, long n)
{
	for (long i = 0; i < n; i++) {
		w->stats.hits += i; /* is: worker_t|.stats.hits */
		STEP;
	}
}

FUNCTION void fill(worker_t *w, long n)
{
	for (long i = 0; i < n; i++) {
		w[i].id = 3; /* is: worker_t|.id */
		STEP;
	}
}

FUNCTION void inner(struct stats *s)
{
	s->misses++; /* is: struct stats|.misses */
}

/* worker_t has 56 bytes, so the index is multiplied by 8 and taken away. */
FUNCTION void pick(worker_t *w, const int *index)
{
	long i = index[1];

	STEP;
	w[i].stats.hits += 2; /* is: worker_t|.stats.hits */
}

/* Counters before an object, at offsets that a table has (as in haproxy). */
FUNCTION void before(struct node *n, const int *offset)
{
	long at = offset[2];

	STEP;
	*(long *)((char *)n + at) += 1; /* is: ?| */
}

FUNCTION void nothing(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

/* The pointer waits in the frame while all registers have other contents. */
FUNCTION void spilled(worker_t *w, long n)
{
	w->id = 1; /* is: worker_t|.id */
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15", "memory");
	nothing(&n);
	w->stats.misses = n; /* is: worker_t|.stats.misses */
}

FUNCTION void follow(struct node *n)
{
	STEP;
	n = n->next;      /* is: struct node|.next */
	n->worker.id = 7; /* is: struct node|.worker.id */
	n->number++;      /* is: struct node|.number */
	n->name[2] = 'x'; /* is: struct node|.name[2] */
	inner(&n->worker.stats);
}

FUNCTION struct node *first(void)
{
	STEP;
	return nodes[1]; /* is: nodes|[1] */
}

FUNCTION void through_a_call(void)
{
	struct node *n = first();

	n->worker.stats.misses = 5; /* is: struct node|.worker.stats.misses */
}

FUNCTION void fixed(int i)
{
	alone++;                   /* is: alone| */
	workers[2].stats.misses++; /* is: workers|[2].stats.misses */
	unnamed.deep[1][0].hits++; /* is: unnamed|.deep[1][0].hits */
	packed[3].b++;             /* is: packed|[3].b */
	bits.third++;              /* is: bits|.third */
	matrix[2][1] = i;          /* is: matrix|[2][1] */
}

int main(int argc, char **argv)
{
	struct node *n = calloc(2, sizeof(*n));

	n->next = n + 1;
	nodes[1] = n;
	count(&workers[argc], 10);
	fill(workers, argc);
	pick(workers, (const int[]){ 0, argc });
	before(n + 1, (const int[]){ 0, 0, -8 * argc });
	spilled(workers, argc);
	follow(n);
	through_a_call();
	fixed(argc);
	free(n);
	return 0;
}
