/* SPDX-License-Identifier: MIT */
/*
 * steps - one function for each kind of instruction
 */
#ifndef COMDET_X86_INTERP_STEPS_H
#define COMDET_X86_INTERP_STEPS_H

#include "state.h"

/* bits.c */
step_fn step_shift;
step_fn step_rotate;
step_fn step_rotate_carry;
step_fn step_shift_double;
step_fn step_bit_test;
step_fn step_bit_scan;
step_fn step_zero_count;
step_fn step_popcnt;
step_fn step_bmi_quiet;
step_fn step_bmi_three;
step_fn step_bmi_lowest;

/* convert.c */
step_fn step_from_integer;
step_fn step_to_integer;
step_fn step_float_compare;
step_fn step_float_predicate;
step_fn step_round;
step_fn step_x87;
step_fn step_restore;

/* flow.c */
step_fn step_jump;
step_fn step_jcc;
step_fn step_loop;
step_fn step_call;
step_fn step_ret;
step_fn step_push;
step_fn step_pop;
step_fn step_pushf;
step_fn step_popf;
step_fn step_enter;
step_fn step_leave;
step_fn step_lahf;
step_fn step_sahf;
step_fn step_flag;

/* fma.c */
step_fn step_fma;

/* gather.c */
step_fn step_gather;
step_fn step_scatter;

/* int.c */
step_fn step_nop;
step_fn step_mov;
step_fn step_movsx;
step_fn step_lea;
step_fn step_movbe;
step_fn step_bswap;
step_fn step_add;
step_fn step_sub;
step_fn step_logic;
step_fn step_incdec;
step_fn step_neg;
step_fn step_not;
step_fn step_xchg;
step_fn step_cmpxchg;
step_fn step_cmpxchg_pair;
step_fn step_cmov;
step_fn step_setcc;
step_fn step_widen;
step_fn step_spread;
step_fn step_xlat;
step_fn step_adx;
step_fn step_rdbase;

/* lane.c */
step_fn step_lane;
step_fn step_lane_float;
step_fn step_scalar;
step_fn step_unary;
step_fn step_unary_float;
step_fn step_lane_shift;
step_fn step_lane_widen;
step_fn step_lane_narrow;
step_fn step_lane_shift_each;

/* mask.c */
step_fn step_kmov;
step_fn step_klogic;
step_fn step_kshift;
step_fn step_kunpck;
step_fn step_kortest;
step_fn step_ktest;
step_fn step_mask_compare;
step_fn step_vec_to_mask;
step_fn step_mask_to_vec;

/* move.c */
step_fn step_vec_move;
step_fn step_vec_low;
step_fn step_vec_scalar_move;
step_fn step_vec_half;
step_fn step_vec_extract;
step_fn step_vec_insert;
step_fn step_vec_signs;
step_fn step_vec_test;
step_fn step_vec_zero;
step_fn step_vec_masked;
step_fn step_vec_maskmov_bytes;
step_fn step_ldmxcsr;

/* mul.c */
step_fn step_mul;
step_fn step_imul;
step_fn step_mulx;
step_fn step_div;
step_fn step_crc32;

/* permute.c */
step_fn step_broadcast;
step_fn step_extract_lanes;
step_fn step_insert_lanes;
step_fn step_permute_halves;
step_fn step_shuffle_lanes;
step_fn step_permute;
step_fn step_permute_two;
step_fn step_align_elements;
step_fn step_blend_mask;

/* shuffle.c */
step_fn step_shuffle_one;
step_fn step_shuffle_two;
step_fn step_shift_bytes;
step_fn step_blend_variable;
step_fn step_ternary;

/* string.c */
step_fn step_string_move;
step_fn step_string_compare;

#endif
