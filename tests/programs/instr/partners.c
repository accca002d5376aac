/* SPDX-License-Identifier: MIT */
/*
 * partners - help_partners with hooks
 */
#include "../help_partners.c"
