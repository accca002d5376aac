/* SPDX-License-Identifier: MIT */
/*
 * tasks - which process, thread and maps each sample belongs to
 */
#ifndef COMDET_ANALYSIS_IMPORT_TASKS_H
#define COMDET_ANALYSIS_IMPORT_TASKS_H

#include "import.h"

/* Find the process, thread and map generation of all samples. */
void import_tasks(struct import *im);

#endif
