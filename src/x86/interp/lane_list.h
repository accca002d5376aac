/* SPDX-License-Identifier: MIT */
/*
 * lane_list - instructions that work on each 16-byte lane alone
 *
 * Executed on a lane, the SSE instruction named here gives that lane's result
 * of the SSE, VEX and EVEX forms.
 */
#ifndef COMDET_X86_INTERP_LANE_LIST_H
#define COMDET_X86_INTERP_LANE_LIST_H

/* clang-format off */
#define LANE_INTEGER(X) \
	X(PADDB, paddb) X(PADDW, paddw) X(PADDD, paddd) X(PADDQ, paddq) \
	X(PADDSB, paddsb) X(PADDSW, paddsw) X(PADDUSB, paddusb) \
	X(PADDUSW, paddusw) X(PSUBB, psubb) X(PSUBW, psubw) \
	X(PSUBD, psubd) X(PSUBQ, psubq) X(PSUBSB, psubsb) \
	X(PSUBSW, psubsw) X(PSUBUSB, psubusb) X(PSUBUSW, psubusw) \
	X(PMULLW, pmullw) X(PMULHW, pmulhw) X(PMULHUW, pmulhuw) \
	X(PMULUDQ, pmuludq) X(PMULDQ, pmuldq) X(PMULLD, pmulld) \
	X(PMULHRSW, pmulhrsw) X(PMADDWD, pmaddwd) \
	X(PMADDUBSW, pmaddubsw) X(PSADBW, psadbw) \
	X(PAND, pand) X(PANDN, pandn) X(POR, por) X(PXOR, pxor) \
	X(PCMPEQB, pcmpeqb) X(PCMPEQW, pcmpeqw) X(PCMPEQD, pcmpeqd) \
	X(PCMPEQQ, pcmpeqq) X(PCMPGTB, pcmpgtb) X(PCMPGTW, pcmpgtw) \
	X(PCMPGTD, pcmpgtd) X(PCMPGTQ, pcmpgtq) \
	X(PMINUB, pminub) X(PMINUW, pminuw) X(PMINUD, pminud) \
	X(PMINSB, pminsb) X(PMINSW, pminsw) X(PMINSD, pminsd) \
	X(PMAXUB, pmaxub) X(PMAXUW, pmaxuw) X(PMAXUD, pmaxud) \
	X(PMAXSB, pmaxsb) X(PMAXSW, pmaxsw) X(PMAXSD, pmaxsd) \
	X(PAVGB, pavgb) X(PAVGW, pavgw) \
	X(PUNPCKLBW, punpcklbw) X(PUNPCKLWD, punpcklwd) \
	X(PUNPCKLDQ, punpckldq) X(PUNPCKLQDQ, punpcklqdq) \
	X(PUNPCKHBW, punpckhbw) X(PUNPCKHWD, punpckhwd) \
	X(PUNPCKHDQ, punpckhdq) X(PUNPCKHQDQ, punpckhqdq) \
	X(PACKSSWB, packsswb) X(PACKSSDW, packssdw) \
	X(PACKUSWB, packuswb) X(PACKUSDW, packusdw) X(PSHUFB, pshufb) \
	X(PSIGNB, psignb) X(PSIGNW, psignw) X(PSIGND, psignd) \
	X(PHADDW, phaddw) X(PHADDD, phaddd) X(PHADDSW, phaddsw) \
	X(PHSUBW, phsubw) X(PHSUBD, phsubd) X(PHSUBSW, phsubsw) \
	X(ANDPS, andps) X(ANDPD, andpd) X(ANDNPS, andnps) \
	X(ANDNPD, andnpd) X(ORPS, orps) X(ORPD, orpd) X(XORPS, xorps) \
	X(XORPD, xorpd) X(UNPCKLPS, unpcklps) X(UNPCKHPS, unpckhps) \
	X(UNPCKLPD, unpcklpd) X(UNPCKHPD, unpckhpd) \
	X(MOVHLPS, movhlps) X(MOVLHPS, movlhps) \
	X(AESENC, aesenc) X(AESENCLAST, aesenclast) X(AESDEC, aesdec) \
	X(AESDECLAST, aesdeclast)

/* Names of EVEX forms, which end in the width of the mask's elements. */
#define LANE_INTEGER_EVEX(X) \
	X(VPANDD, pand) X(VPANDQ, pand) X(VPANDND, pandn) \
	X(VPANDNQ, pandn) X(VPORD, por) X(VPORQ, por) X(VPXORD, pxor) \
	X(VPXORQ, pxor)

#define LANE_FLOAT(X) \
	X(ADDPS, addps) X(ADDPD, addpd) X(SUBPS, subps) X(SUBPD, subpd) \
	X(MULPS, mulps) X(MULPD, mulpd) X(DIVPS, divps) X(DIVPD, divpd) \
	X(MINPS, minps) X(MINPD, minpd) X(MAXPS, maxps) X(MAXPD, maxpd) \
	X(HADDPS, haddps) X(HADDPD, haddpd) X(HSUBPS, hsubps) \
	X(HSUBPD, hsubpd) X(ADDSUBPS, addsubps) X(ADDSUBPD, addsubpd)

/* These compute one element; the rest of the lane is the first source's. */
#define LANE_SCALAR(X) \
	X(ADDSS, addss) X(ADDSD, addsd) X(SUBSS, subss) X(SUBSD, subsd) \
	X(MULSS, mulss) X(MULSD, mulsd) X(DIVSS, divss) X(DIVSD, divsd) \
	X(MINSS, minss) X(MINSD, minsd) X(MAXSS, maxss) X(MAXSD, maxsd) \
	X(SQRTSS, sqrtss) X(SQRTSD, sqrtsd) X(RCPSS, rcpss) \
	X(RSQRTSS, rsqrtss) X(CVTSS2SD, cvtss2sd) X(CVTSD2SS, cvtsd2ss)

/* One source. */
#define LANE_UNARY(X) \
	X(PABSB, pabsb) X(PABSW, pabsw) X(PABSD, pabsd) \
	X(MOVSHDUP, movshdup) X(MOVSLDUP, movsldup) X(MOVDDUP, movddup) \
	X(PHMINPOSUW, phminposuw) X(AESIMC, aesimc)

#define LANE_UNARY_FLOAT(X) \
	X(SQRTPS, sqrtps) X(SQRTPD, sqrtpd) X(RCPPS, rcpps) \
	X(RSQRTPS, rsqrtps) X(CVTDQ2PS, cvtdq2ps) X(CVTPS2DQ, cvtps2dq) \
	X(CVTTPS2DQ, cvttps2dq)

/* The count is an immediate or the low half of a register. */
#define LANE_SHIFT(X) \
	X(PSLLW, psllw) X(PSLLD, pslld) X(PSLLQ, psllq) X(PSRLW, psrlw) \
	X(PSRLD, psrld) X(PSRLQ, psrlq) X(PSRAW, psraw) X(PSRAD, psrad)

/* A lane of result needs 1/2, 1/4 or 1/8 of a lane: the last argument. */
#define LANE_WIDEN(X) \
	X(PMOVZXBW, pmovzxbw, 2) X(PMOVZXBD, pmovzxbd, 4) \
	X(PMOVZXBQ, pmovzxbq, 8) X(PMOVZXWD, pmovzxwd, 2) \
	X(PMOVZXWQ, pmovzxwq, 4) X(PMOVZXDQ, pmovzxdq, 2) \
	X(PMOVSXBW, pmovsxbw, 2) X(PMOVSXBD, pmovsxbd, 4) \
	X(PMOVSXBQ, pmovsxbq, 8) X(PMOVSXWD, pmovsxwd, 2) \
	X(PMOVSXWQ, pmovsxwq, 4) X(PMOVSXDQ, pmovsxdq, 2) \
	X(CVTDQ2PD, cvtdq2pd, 2) X(CVTPS2PD, cvtps2pd, 2)

/* A lane of the source gives half a lane of result. */
#define LANE_NARROW(X) \
	X(CVTPD2PS, cvtpd2ps) X(CVTPD2DQ, cvtpd2dq) \
	X(CVTTPD2DQ, cvttpd2dq)
/* clang-format on */

#endif
