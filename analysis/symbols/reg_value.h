/* SPDX-License-Identifier: MIT */
/*
 * reg_value - what a register holds, as far as the code tells: a number, or a
 * pointer into an object of a type
 *
 * Of a number that is added to a pointer it matters what it is a multiple of: a
 * multiple of the type's size leads to the same place of another object of an
 * array, and any other number leads to a place that is not known. So values are
 * congruences, as in Granger's analysis of arithmetical congruences (1989).
 * "88 * i" may be computed as "8 * (i + 2 * (i + 4 * i))", so a value also says
 * which unknown number it is a multiple of.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_REG_VALUE_H
#define COMDET_ANALYSIS_SYMBOLS_REG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "dwarf_types.h"

/*
 * @at plus @stride times an unknown number: bytes behind the start of an object
 * of @type, or, without a type, a number.
 */
struct reg_value {
	const struct data_type *type;
	int64_t at;
	int64_t stride;   /* 0: @at itself; 1: anything */
	uint32_t unknown; /* which unknown number; 0: any */
};

/* The type of the frame: @at counts from the value of rsp before the call. */
extern const struct data_type reg_value_frame;

static inline struct reg_value reg_value_any(void)
{
	return (struct reg_value){ .stride = 1 };
}

static inline struct reg_value reg_value_number(int64_t n)
{
	return (struct reg_value){ .at = n };
}

static inline struct reg_value reg_value_pointer(const struct data_type *type,
						 int64_t at)
{
	return type ? (struct reg_value){ .type = type, .at = at }
		    : reg_value_any();
}

/* @x + @y; of the sum of two pointers nothing is known. */
struct reg_value reg_value_add(struct reg_value x, struct reg_value y);
/* @x - @y; the difference of two pointers is any number. */
struct reg_value reg_value_subtract(struct reg_value x, struct reg_value y);
/* @x * @n, of a number. */
struct reg_value reg_value_multiply(struct reg_value x, int64_t n);
/* The low @bytes, 1 to 4, of a number, extended. */
struct reg_value reg_value_cut(struct reg_value x, int bytes);
/* What holds if it is one of the two; no null pointer is ever followed. */
struct reg_value reg_value_either(struct reg_value x, struct reg_value y);

/* True if it is one place of an object, or of another one in an array. */
bool reg_value_is_place(const struct reg_value *v);

bool reg_value_same(const struct reg_value *x, const struct reg_value *y);

#endif
