/* SPDX-License-Identifier: MIT */
/*
 * uop_class - the class of what an instruction computes
 */
#ifndef COMDET_ANALYSIS_MODEL_UOP_CLASS_H
#define COMDET_ANALYSIS_MODEL_UOP_CLASS_H

#include <Zydis/Zydis.h>

#include "uop.h"

/* UOP_UNKNOWN if there is no class for it. */
enum uop_class uop_class_of(const ZydisDecodedInstruction *insn);

#endif
