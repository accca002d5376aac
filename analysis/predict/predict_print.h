/* SPDX-License-Identifier: MIT */
/*
 * predict_print - a prediction as text and as JSON
 */
#ifndef COMDET_ANALYSIS_PREDICT_PREDICT_PRINT_H
#define COMDET_ANALYSIS_PREDICT_PREDICT_PRINT_H

#include "predict.h"

/* Below the time, of a quick profile. */
#define PREDICT_QUICK_TEXT                                                     \
	"The profile is quick: much of it is estimated from parts "            \
	"(docs/profile.md)."

void predict_print_text(const struct predicted *p, const struct machine *m);
void predict_print_json(const struct predicted *p, const struct machine *m);

#endif
