/* SPDX-License-Identifier: MIT */
/*
 * reg_value - numbers and pointers as congruences
 */
#include <stdlib.h>

#include "reg_value.h"

static const int64_t stride_max = INT64_C(1) << 40;

const struct data_type reg_value_frame = { .name = "frame" };

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return llabs(a);
}

/* One form for each value. */
static struct reg_value tidy(struct reg_value v)
{
	if (llabs(v.stride) > stride_max || llabs(v.at) > INT64_MAX / 2)
		return reg_value_any();
	if (!v.stride)
		v.unknown = 0;
	if (!v.type && v.stride && !v.unknown)
		v.at = (v.at % v.stride + v.stride) % v.stride;
	return v;
}

struct reg_value reg_value_add(struct reg_value x, struct reg_value y)
{
	struct reg_value sum = { .type = x.type ? x.type : y.type };

	if ((x.type && y.type) || __builtin_add_overflow(x.at, y.at, &sum.at))
		return reg_value_any();
	if (!x.stride || !y.stride || (x.unknown && x.unknown == y.unknown)) {
		sum.stride = x.stride + y.stride;
		sum.unknown = x.stride ? x.unknown : y.unknown;
	} else {
		sum.stride = gcd(x.stride, y.stride);
	}
	return tidy(sum);
}

struct reg_value reg_value_subtract(struct reg_value x, struct reg_value y)
{
	if (y.type)
		return reg_value_any();
	return reg_value_add(x, reg_value_multiply(y, -1));
}

struct reg_value reg_value_multiply(struct reg_value x, int64_t n)
{
	struct reg_value v = { .unknown = x.unknown };

	if (x.type || __builtin_mul_overflow(x.at, n, &v.at) ||
	    __builtin_mul_overflow(x.stride, n, &v.stride))
		return reg_value_any();
	if (!v.unknown)
		v.stride = llabs(v.stride);
	return tidy(v);
}

struct reg_value reg_value_cut(struct reg_value x, int bytes)
{
	int64_t wrap = INT64_C(1) << (8 * bytes);

	if (x.type)
		return reg_value_any();
	if (!x.stride && x.at >= 0 && x.at < wrap / 2)
		return x;
	x.stride = gcd(x.stride, wrap);
	x.unknown = 0;
	return tidy(x);
}

static bool is_null(const struct reg_value *v)
{
	return !v->type && !v->at && !v->stride;
}

struct reg_value reg_value_either(struct reg_value x, struct reg_value y)
{
	if (reg_value_same(&x, &y) || (x.type && is_null(&y)))
		return x;
	if (y.type && is_null(&x))
		return y;
	if (x.type != y.type)
		return reg_value_any();
	if (x.unknown != y.unknown || x.stride != y.stride || x.at != y.at)
		x.unknown = 0;
	x.stride = gcd(gcd(x.stride, y.stride), x.at - y.at);
	return tidy(x);
}

bool reg_value_is_place(const struct reg_value *v)
{
	return v->type &&
	       (!v->stride ||
		(v->type->size && !(v->stride % (int64_t)v->type->size)));
}

bool reg_value_same(const struct reg_value *x, const struct reg_value *y)
{
	return x->type == y->type && x->at == y->at && x->stride == y->stride &&
	       x->unknown == y->unknown;
}
