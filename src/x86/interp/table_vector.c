/* SPDX-License-Identifier: MIT */
/*
 * table_vector - the function that executes each vector instruction
 */
#include "table_vector.h"
#include "convert.h"
#include "fma.h"
#include "gather.h"
#include "lane.h"
#include "lane_list.h"
#include "mask.h"
#include "move.h"
#include "operand.h"
#include "permute.h"
#include "shuffle.h"

#include "src/base/signal_safe.h"

/* clang-format off */
#define STEPS(X) \
	X(lane) X(lane_float) X(scalar) X(unary) X(unary_float) \
	X(lane_shift) X(lane_shift_each) X(lane_widen) X(lane_narrow) \
	X(vec_move) X(vec_low) X(vec_scalar_move) X(vec_half) \
	X(vec_extract) X(vec_insert) X(vec_signs) X(vec_test) X(vec_zero) \
	X(vec_masked) X(vec_maskmov_bytes) X(ldmxcsr) X(from_integer) \
	X(to_integer) X(float_compare) X(float_predicate) X(round) \
	X(shuffle_one) X(shuffle_two) X(shift_bytes) X(blend_variable) \
	X(ternary) X(broadcast) X(extract_lanes) X(insert_lanes) \
	X(permute_halves) X(shuffle_lanes) X(permute) X(permute_two) \
	X(align_elements) X(blend_mask) X(kmov) X(klogic) X(kshift) \
	X(kunpck) X(kortest) X(ktest) X(mask_compare) X(vec_to_mask) \
	X(mask_to_vec) X(restore) X(gather) X(scatter)

#define NUMBER(name)  DO_##name,
#define POINTER(name) [DO_##name] = step_##name,

enum { DO_unknown, STEPS(NUMBER) };

static step_fn *const steps[] = { [DO_unknown] = step_unknown, STEPS(POINTER) };

/* One mnemonic; the same with its VEX form; the four widths of EVEX. */
#define M(mnemonic, step)  [ZYDIS_MNEMONIC_##mnemonic] = DO_##step
#define MV(mnemonic, step) M(mnemonic, step), M(V##mnemonic, step)
#define M4(mnemonic, step) \
	M(mnemonic##B, step), M(mnemonic##W, step), M(mnemonic##D, step), \
	M(mnemonic##Q, step)

#define AS_LANE(mnemonic, name)		MV(mnemonic, lane),
#define AS_LANE_ALONE(mnemonic, name)	M(mnemonic, lane),
#define AS_FLOAT(mnemonic, name)	MV(mnemonic, lane_float),
#define AS_SCALAR(mnemonic, name)	MV(mnemonic, scalar),
#define AS_UNARY(mnemonic, name)	MV(mnemonic, unary),
#define AS_UNARY_FLOAT(mnemonic, name)	MV(mnemonic, unary_float),
#define AS_SHIFT(mnemonic, name)	MV(mnemonic, lane_shift),
#define AS_WIDEN(mnemonic, name, f)	MV(mnemonic, lane_widen),
#define AS_NARROW(mnemonic, name)	MV(mnemonic, lane_narrow),

static const uint8_t step_of[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	LANE_INTEGER(AS_LANE) LANE_INTEGER_EVEX(AS_LANE_ALONE)
	LANE_FLOAT(AS_FLOAT) LANE_SCALAR(AS_SCALAR) LANE_UNARY(AS_UNARY)
	LANE_UNARY_FLOAT(AS_UNARY_FLOAT) LANE_SHIFT(AS_SHIFT)
	LANE_WIDEN(AS_WIDEN) LANE_NARROW(AS_NARROW)
	M(VPSLLVD, lane_shift_each), M(VPSLLVQ, lane_shift_each),
	M(VPSRLVD, lane_shift_each), M(VPSRLVQ, lane_shift_each),
	M(VPSRAVD, lane_shift_each),

	MV(MOVAPS, vec_move), MV(MOVAPD, vec_move), MV(MOVUPS, vec_move),
	MV(MOVUPD, vec_move), MV(MOVDQA, vec_move), MV(MOVDQU, vec_move),
	MV(LDDQU, vec_move), MV(MOVNTDQ, vec_move), MV(MOVNTDQA, vec_move),
	MV(MOVNTPS, vec_move), MV(MOVNTPD, vec_move),
	M(VMOVDQA32, vec_move), M(VMOVDQA64, vec_move),
	M(VMOVDQU8, vec_move), M(VMOVDQU16, vec_move),
	M(VMOVDQU32, vec_move), M(VMOVDQU64, vec_move),
	MV(MOVD, vec_low), MV(MOVQ, vec_low),
	MV(MOVSS, vec_scalar_move), MV(MOVSD, vec_scalar_move),
	MV(MOVLPS, vec_half), MV(MOVLPD, vec_half), MV(MOVHPS, vec_half),
	MV(MOVHPD, vec_half),
	MV(PEXTRB, vec_extract), MV(PEXTRW, vec_extract),
	MV(PEXTRD, vec_extract), MV(PEXTRQ, vec_extract),
	MV(EXTRACTPS, vec_extract),
	MV(PINSRB, vec_insert), MV(PINSRW, vec_insert),
	MV(PINSRD, vec_insert), MV(PINSRQ, vec_insert),
	MV(PMOVMSKB, vec_signs), MV(MOVMSKPS, vec_signs),
	MV(MOVMSKPD, vec_signs),
	MV(PTEST, vec_test), M(VTESTPS, vec_test), M(VTESTPD, vec_test),
	M(VZEROUPPER, vec_zero), M(VZEROALL, vec_zero),
	M(VMASKMOVPS, vec_masked), M(VMASKMOVPD, vec_masked),
	M(VPMASKMOVD, vec_masked), M(VPMASKMOVQ, vec_masked),
	MV(MASKMOVDQU, vec_maskmov_bytes), MV(LDMXCSR, ldmxcsr),
	M(FXRSTOR, restore), M(FXRSTOR64, restore), M(XRSTOR, restore),
	M(XRSTOR64, restore),

	MV(CVTSI2SS, from_integer), MV(CVTSI2SD, from_integer),
	MV(CVTSS2SI, to_integer), MV(CVTTSS2SI, to_integer),
	MV(CVTSD2SI, to_integer), MV(CVTTSD2SI, to_integer),
	MV(COMISS, float_compare), MV(COMISD, float_compare),
	MV(UCOMISS, float_compare), MV(UCOMISD, float_compare),
	MV(CMPPS, float_predicate), MV(CMPPD, float_predicate),
	MV(CMPSS, float_predicate), MV(CMPSD, float_predicate),
	MV(ROUNDPS, round), MV(ROUNDPD, round), MV(ROUNDSS, round),
	MV(ROUNDSD, round),

	MV(PSHUFD, shuffle_one), MV(PSHUFLW, shuffle_one),
	MV(PSHUFHW, shuffle_one), M(VPERMILPS, shuffle_one),
	M(VPERMILPD, shuffle_one),
	MV(SHUFPS, shuffle_two), MV(SHUFPD, shuffle_two),
	MV(PALIGNR, shuffle_two), MV(PBLENDW, shuffle_two),
	MV(BLENDPS, shuffle_two), MV(BLENDPD, shuffle_two),
	M(VPBLENDD, shuffle_two), MV(INSERTPS, shuffle_two),
	MV(PSLLDQ, shift_bytes), MV(PSRLDQ, shift_bytes),
	MV(PBLENDVB, blend_variable), MV(BLENDVPS, blend_variable),
	MV(BLENDVPD, blend_variable),
	M(VPTERNLOGD, ternary), M(VPTERNLOGQ, ternary),

	M4(VPBROADCAST, broadcast), M(VBROADCASTSS, broadcast),
	M(VBROADCASTSD, broadcast), M(VBROADCASTF128, broadcast),
	M(VBROADCASTI128, broadcast), M(VBROADCASTF32X2, broadcast),
	M(VBROADCASTF32X4, broadcast), M(VBROADCASTF32X8, broadcast),
	M(VBROADCASTF64X2, broadcast), M(VBROADCASTF64X4, broadcast),
	M(VBROADCASTI32X2, broadcast), M(VBROADCASTI32X4, broadcast),
	M(VBROADCASTI32X8, broadcast), M(VBROADCASTI64X2, broadcast),
	M(VBROADCASTI64X4, broadcast),
	M(VEXTRACTF128, extract_lanes), M(VEXTRACTI128, extract_lanes),
	M(VEXTRACTF32X4, extract_lanes), M(VEXTRACTF32X8, extract_lanes),
	M(VEXTRACTF64X2, extract_lanes), M(VEXTRACTF64X4, extract_lanes),
	M(VEXTRACTI32X4, extract_lanes), M(VEXTRACTI32X8, extract_lanes),
	M(VEXTRACTI64X2, extract_lanes), M(VEXTRACTI64X4, extract_lanes),
	M(VINSERTF128, insert_lanes), M(VINSERTI128, insert_lanes),
	M(VINSERTF32X4, insert_lanes), M(VINSERTF32X8, insert_lanes),
	M(VINSERTF64X2, insert_lanes), M(VINSERTF64X4, insert_lanes),
	M(VINSERTI32X4, insert_lanes), M(VINSERTI32X8, insert_lanes),
	M(VINSERTI64X2, insert_lanes), M(VINSERTI64X4, insert_lanes),
	M(VPERM2F128, permute_halves), M(VPERM2I128, permute_halves),
	M(VSHUFF32X4, shuffle_lanes), M(VSHUFF64X2, shuffle_lanes),
	M(VSHUFI32X4, shuffle_lanes), M(VSHUFI64X2, shuffle_lanes),
	M4(VPERM, permute), M(VPERMPS, permute), M(VPERMPD, permute),
	M4(VPERMI2, permute_two), M4(VPERMT2, permute_two),
	M(VPERMI2PS, permute_two), M(VPERMI2PD, permute_two),
	M(VPERMT2PS, permute_two), M(VPERMT2PD, permute_two),
	M(VALIGND, align_elements), M(VALIGNQ, align_elements),
	M4(VPBLENDM, blend_mask), M(VBLENDMPS, blend_mask),
	M(VBLENDMPD, blend_mask),

	M(VGATHERDPS, gather), M(VGATHERDPD, gather), M(VGATHERQPS, gather),
	M(VGATHERQPD, gather), M(VPGATHERDD, gather), M(VPGATHERDQ, gather),
	M(VPGATHERQD, gather), M(VPGATHERQQ, gather),
	M(VSCATTERDPS, scatter), M(VSCATTERDPD, scatter),
	M(VSCATTERQPS, scatter), M(VSCATTERQPD, scatter),
	M(VPSCATTERDD, scatter), M(VPSCATTERDQ, scatter),
	M(VPSCATTERQD, scatter), M(VPSCATTERQQ, scatter),

	M4(KMOV, kmov), M4(KAND, klogic), M4(KANDN, klogic),
	M4(KOR, klogic), M4(KXOR, klogic), M4(KXNOR, klogic),
	M4(KNOT, klogic), M4(KADD, klogic), M4(KSHIFTL, kshift),
	M4(KSHIFTR, kshift), M(KUNPCKBW, kunpck), M(KUNPCKWD, kunpck),
	M(KUNPCKDQ, kunpck), M4(KORTEST, kortest), M4(KTEST, ktest),
	M4(VPCMP, mask_compare), M4(VPCMPU, mask_compare),
	M4(VPTESTM, mask_compare), M4(VPTESTNM, mask_compare),
	M(VPMOVB2M, vec_to_mask), M(VPMOVW2M, vec_to_mask),
	M(VPMOVD2M, vec_to_mask), M(VPMOVQ2M, vec_to_mask),
	M(VPMOVM2B, mask_to_vec), M(VPMOVM2W, mask_to_vec),
	M(VPMOVM2D, mask_to_vec), M(VPMOVM2Q, mask_to_vec),
};
/* clang-format on */

step_fn *interp_vector_handler(const struct insn *insn)
{
	uint8_t i = step_of[insn->mnemonic];

	if (!i && is_fma(insn))
		return step_fma;
	return steps[i];
}
