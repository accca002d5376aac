/* SPDX-License-Identifier: MIT */
/*
 * read - what a recording says of its trial
 */
#ifndef COMDET_ANALYSIS_ACCURACY_READ_H
#define COMDET_ANALYSIS_ACCURACY_READ_H

#include "accuracy.h"

/* Read the recording @dir of @t; sets t->failed or t->outcome. */
void accuracy_read(struct accuracy_trial *t, const char *dir);

void accuracy_outcome_release(struct accuracy_outcome *o);

#endif
