/* SPDX-License-Identifier: MIT */
/*
 * predict_print - a prediction as text and as JSON
 */
#ifndef COMDET_ANALYSIS_PREDICT_PREDICT_PRINT_H
#define COMDET_ANALYSIS_PREDICT_PREDICT_PRINT_H

#include "predict.h"

void predict_print_text(const struct predicted *p, const struct machine *m);
void predict_print_json(const struct predicted *p, const struct machine *m);

#endif
