/* SPDX-License-Identifier: MIT */
/*
 * test_interp_vector - vector arithmetic, moves, conversions and the registers
 * of a signal frame, compared with the processor
 */
#include "tests/oracle/interp_oracle.h"
#include "tests/run_suite.h"

#define SSE(op)                                                                \
	SNIPPET(op " xmm1, xmm2");                                             \
	SNIPPET(op " xmm9, xmm9");                                             \
	SNIPPET("and rsi, -64; " op " xmm1, [rsi]")
#define AVX(op)                                                                \
	SNIPPET("v" op " xmm1, xmm2, xmm3");                                   \
	SNIPPET("v" op " ymm1, ymm2, ymm13");                                  \
	SNIPPET("v" op " ymm4, ymm4, ymm4");                                   \
	SNIPPET("v" op " ymm1, ymm2, [rdi+3]")
#define EVEX(op)                                                               \
	SNIPPET(op " zmm1, zmm17, zmm3");                                      \
	SNIPPET(op " zmm1{k1}, zmm17, zmm3");                                  \
	SNIPPET(op " ymm20{k2}{z}, ymm17, [rsi+r13]");                         \
	SNIPPET(op " xmm1{k3}, xmm17, xmm3")
#define ALL(op)                                                                \
	SSE(op);                                                               \
	AVX(op);                                                               \
	EVEX("v" op)
#define SSE_AVX(op)                                                            \
	SSE(op);                                                               \
	AVX(op)
ALL("paddb");
ALL("paddw");
ALL("paddd");
ALL("paddq");
ALL("paddsb");
ALL("paddsw");
ALL("paddusb");
ALL("paddusw");
ALL("psubb");
ALL("psubw");
ALL("psubd");
ALL("psubq");
ALL("psubsb");
ALL("psubusw");
ALL("pmullw");
ALL("pmulhw");
ALL("pmulhuw");
ALL("pmuludq");
ALL("pmuldq");
ALL("pmulld");
ALL("pmulhrsw");
ALL("pmaddwd");
ALL("pmaddubsw");
SSE_AVX("psadbw");
SSE_AVX("pand");
SSE_AVX("pandn");
SSE_AVX("por");
SSE_AVX("pxor");
EVEX("vpandd");
EVEX("vpandnq");
EVEX("vpord");
EVEX("vpxorq");
SSE_AVX("pcmpeqb");
SSE_AVX("pcmpeqw");
SSE_AVX("pcmpeqd");
SSE_AVX("pcmpeqq");
SSE_AVX("pcmpgtb");
SSE_AVX("pcmpgtq");
ALL("pminub");
ALL("pminuw");
ALL("pminud");
ALL("pminsb");
ALL("pminsw");
ALL("pminsd");
ALL("pmaxub");
ALL("pmaxsw");
ALL("pmaxud");
ALL("pavgb");
ALL("punpcklbw");
ALL("punpckhwd");
ALL("punpckldq");
ALL("punpckhqdq");
ALL("packsswb");
ALL("packuswb");
ALL("packssdw");
ALL("packusdw");
ALL("pshufb");
SSE_AVX("psignb");
SSE_AVX("psignd");
SSE_AVX("phaddw");
SSE_AVX("phaddd");
SSE_AVX("phsubsw");
SSE_AVX("aesenc");
SSE_AVX("aesdeclast");
ALL("andps");
ALL("andnpd");
ALL("orps");
ALL("xorpd");
ALL("unpcklps");
ALL("unpckhpd");
ALL("addps");
ALL("addpd");
ALL("subps");
ALL("subpd");
ALL("mulps");
ALL("mulpd");
ALL("divps");
ALL("divpd");
ALL("minps");
ALL("maxpd");
SSE_AVX("haddps");
SSE_AVX("hsubpd");
SSE_AVX("addsubps");

#define SCALAR(op)                                                             \
	SNIPPET(op " xmm1, xmm2");                                             \
	SNIPPET(op " xmm1, [rsi]");                                            \
	SNIPPET("v" op " xmm1, xmm2, xmm3");                                   \
	SNIPPET("v" op " xmm1, xmm20, [rsi]");                                 \
	SNIPPET("v" op " xmm1{k1}, xmm2, xmm3");                               \
	SNIPPET("v" op " xmm1{k1}{z}, xmm2, [rsi]")
SCALAR("addss");
SCALAR("addsd");
SCALAR("subss");
SCALAR("subsd");
SCALAR("mulss");
SCALAR("mulsd");
SCALAR("divss");
SCALAR("divsd");
SCALAR("minss");
SCALAR("maxsd");
SCALAR("sqrtss");
SCALAR("sqrtsd");
SCALAR("cvtss2sd");
SCALAR("cvtsd2ss");
SNIPPET("rcpss xmm1, xmm2");
SNIPPET("rsqrtss xmm1, [rsi]");
NOT_MODELLED("vaddpd zmm1, zmm2, zmm3, {ru-sae}");
SNIPPET("vmulps zmm1{k1}, zmm2, dword ptr [rsi]{1to16}");
SNIPPET("vaddpd ymm1, ymm2, qword ptr [rsi]{1to4}");

#define UNARY(op)                                                              \
	SNIPPET(op " xmm1, xmm2");                                             \
	SNIPPET("v" op " xmm1, xmm2");                                         \
	SNIPPET("v" op " ymm1, [rsi+1]");                                      \
	SNIPPET("v" op " zmm1{k1}, zmm20")
UNARY("pabsb");
UNARY("pabsw");
UNARY("pabsd");
UNARY("sqrtps");
UNARY("sqrtpd");
UNARY("cvtdq2ps");
UNARY("cvtps2dq");
UNARY("cvttps2dq");
UNARY("movshdup");
UNARY("movsldup");
UNARY("movddup");
SNIPPET("movddup xmm1, [rsi+3]");
SNIPPET("rcpps xmm1, xmm2");
SNIPPET("phminposuw xmm1, xmm2");
SNIPPET("aesimc xmm1, xmm2");

#define WIDEN(op)                                                              \
	SNIPPET(op " xmm1, xmm2");                                             \
	SNIPPET(op " xmm1, [rsi]");                                            \
	SNIPPET("v" op " xmm1, [rsi]");                                        \
	SNIPPET("v" op " ymm1, xmm2");                                         \
	SNIPPET("v" op " ymm1, [rsi]");                                        \
	SNIPPET("v" op " ymm1{k1}, [rsi]");                                    \
	SNIPPET("v" op " xmm1{k2}{z}, xmm19")
WIDEN("pmovzxbw");
WIDEN("pmovzxbd");
WIDEN("pmovzxbq");
WIDEN("pmovzxwd");
WIDEN("pmovzxwq");
WIDEN("pmovzxdq");
WIDEN("pmovsxbw");
WIDEN("pmovsxwq");
WIDEN("pmovsxdq");
WIDEN("cvtdq2pd");
WIDEN("cvtps2pd");
SNIPPET("vcvtps2pd zmm1, ymm2");
SNIPPET("cvtpd2ps xmm1, xmm2");
SNIPPET("vcvtpd2ps xmm1, ymm2");
SNIPPET("vcvtpd2ps ymm1, zmm2");
SNIPPET("vcvtpd2dq xmm1, ymm2");
SNIPPET("cvttpd2dq xmm1, xmm2");
SNIPPET("vcvttpd2dq xmm1{k1}, xmm2");

#define SHIFT(op)                                                              \
	SNIPPET(op " xmm1, xmm2");                                             \
	SNIPPET("mov eax, 5; movd xmm2, eax; " op " xmm1, xmm2");              \
	SNIPPET(op " xmm1, 3");                                                \
	SNIPPET(op " xmm1, 77");                                               \
	SNIPPET("v" op " ymm1, ymm2, 7");                                      \
	SNIPPET("v" op " ymm1, ymm2, [rsi]");                                  \
	SNIPPET("v" op " zmm1{k1}, zmm2, 9");                                  \
	SNIPPET("v" op " zmm1, zmm2, xmm3")
SHIFT("psllw");
SHIFT("pslld");
SHIFT("psllq");
SHIFT("psrlw");
SHIFT("psrld");
SHIFT("psrlq");
SHIFT("psraw");
SHIFT("psrad");
EVEX("vpsllvd");
EVEX("vpsllvq");
EVEX("vpsrlvd");
EVEX("vpsrlvq");
EVEX("vpsravd");
SNIPPET("pslldq xmm1, 5");
SNIPPET("psrldq xmm1, 11");
SNIPPET("psrldq xmm1, 16");
SNIPPET("vpslldq ymm1, ymm2, 3");
SNIPPET("vpsrldq zmm1, zmm2, 200");

#define FMA(op)                                                                \
	SNIPPET("v" op "ss xmm1, xmm2, xmm3");                                 \
	SNIPPET("v" op "sd xmm1, xmm2, [rsi]");                                \
	SNIPPET("v" op "ps ymm1, ymm2, ymm3");                                 \
	SNIPPET("v" op "pd zmm1{k1}, zmm2, zmm3");                             \
	SNIPPET("v" op "pd ymm1, ymm2, [rsi]")
FMA("fmadd132");
FMA("fmadd213");
FMA("fmadd231");
FMA("fmsub213");
FMA("fmsub231");
FMA("fnmadd132");
FMA("fnmadd231");
FMA("fnmsub213");
SNIPPET("vfmaddsub231ps ymm1, ymm2, ymm3");
SNIPPET("vfmsubadd132pd ymm1, ymm2, ymm3");

SNIPPET("movaps xmm1, xmm12");
SNIPPET("movups xmm1, [rsi+1]");
SNIPPET("movdqu [rdi+5], xmm1; mov rax, [rdi+9]");
SNIPPET("and rsi, -64; movdqa [rsi], xmm4; movaps xmm5, [rsi]");
SNIPPET("and rsi, -64; movntps [rsi], xmm4");
SNIPPET("lddqu xmm3, [rsi+r13]");
SNIPPET("vmovups ymm1, [rsi+1]");
SNIPPET("vmovdqu [rsi+1], ymm1; vmovdqu xmm2, [rsi+9]");
SNIPPET("vmovdqu64 zmm1, [rsi+1]");
SNIPPET("vmovdqu8 zmm1{k1}, [rsi+1]");
SNIPPET("vmovdqu8 zmm1{k1}{z}, zmm2");
SNIPPET("vmovdqu16 [rsi+3]{k1}, zmm2");
SNIPPET("vmovdqu8 [rsi+3]{k2}, ymm2");
SNIPPET("vmovdqu64 [rsi+3]{k3}, zmm22");
SNIPPET("vmovups ymm17, [rsi]; vmovups [rdi], ymm17");
SNIPPET("movd xmm1, eax");
SNIPPET("movq xmm1, rax");
SNIPPET("movd eax, xmm1");
SNIPPET("movq rax, xmm9");
SNIPPET("movd xmm1, [rsi]");
SNIPPET("movq xmm1, [rsi]");
SNIPPET("movq [rsi], xmm1");
SNIPPET("movq xmm1, xmm2");
SNIPPET("vmovd xmm1, eax");
SNIPPET("vmovq xmm1, xmm2");
SNIPPET("vmovq [rsi], xmm19");
SNIPPET("movss xmm1, xmm2");
SNIPPET("movss xmm1, [rsi]");
SNIPPET("movsd [rsi], xmm2");
SNIPPET("movsd xmm1, xmm2");
SNIPPET("vmovss xmm1, xmm2, xmm3");
SNIPPET("vmovsd xmm1, [rsi]");
SNIPPET("vmovss [rsi], xmm3");
SNIPPET("vmovss [rsi]{k1}, xmm3");
SNIPPET("movlps xmm1, [rsi]");
SNIPPET("movhps xmm1, [rsi]");
SNIPPET("movlpd [rsi], xmm1");
SNIPPET("movhpd [rsi], xmm1");
SNIPPET("vmovhps xmm1, xmm2, [rsi]");
SNIPPET("vmovlpd xmm1, xmm2, [rsi]");
SNIPPET("movhlps xmm1, xmm2");
SNIPPET("vmovlhps xmm1, xmm2, xmm3");
SNIPPET("pextrb eax, xmm1, 5");
SNIPPET("pextrb [rsi], xmm1, 15");
SNIPPET("pextrw eax, xmm1, 3");
SNIPPET("pextrw [rsi], xmm1, 7");
SNIPPET("pextrd eax, xmm1, 2");
SNIPPET("pextrq rax, xmm1, 1");
SNIPPET("extractps [rsi], xmm1, 3");
SNIPPET("vpextrd eax, xmm1, 3");
SNIPPET("pinsrb xmm1, eax, 5");
SNIPPET("pinsrb xmm1, [rsi], 4");
SNIPPET("pinsrw xmm1, eax, 6");
SNIPPET("pinsrd xmm1, [rsi], 2");
SNIPPET("vpinsrq xmm1, xmm2, rax, 1");
SNIPPET("pmovmskb eax, xmm1");
SNIPPET("vpmovmskb eax, ymm1");
SNIPPET("movmskps eax, xmm1");
SNIPPET("movmskpd eax, xmm1");
SNIPPET("vmovmskps eax, ymm1");
SNIPPET("ptest xmm1, xmm2");
SNIPPET("vptest ymm1, [rsi]");
SNIPPET("ptest xmm1, xmm1");
SNIPPET("vtestps xmm1, xmm2");
SNIPPET("vtestpd ymm1, ymm2");
SNIPPET("vzeroupper");
SNIPPET("vzeroall");
SNIPPET("vmaskmovps ymm1, ymm2, [rsi+1]");
SNIPPET("vmaskmovpd [rsi+1], xmm2, xmm3");
SNIPPET("vpmaskmovd [rsi+1], ymm2, ymm3");
SNIPPET("vpmaskmovq ymm1, ymm2, [rsi+1]");
SNIPPET("maskmovdqu xmm1, xmm2");
SNIPPET("mov dword ptr [rsi], 0x7f80; ldmxcsr [rsi]; mulsd xmm1, xmm2");
NOT_MODELLED("stmxcsr [rsi]");

#define TO_INTEGER(op)                                                         \
	SNIPPET(op " eax, xmm1");                                              \
	SNIPPET(op " rax, xmm1");                                              \
	SNIPPET(op " rax, [rsi]");                                             \
	SNIPPET("v" op " eax, xmm1")
TO_INTEGER("cvtss2si");
TO_INTEGER("cvttss2si");
TO_INTEGER("cvtsd2si");
TO_INTEGER("cvttsd2si");
SNIPPET("cvtsi2sd xmm1, eax");
SNIPPET("cvtsi2sd xmm1, rax");
SNIPPET("cvtsi2ss xmm1, eax");
SNIPPET("cvtsi2ss xmm1, qword ptr [rsi]");
SNIPPET("vcvtsi2sd xmm1, xmm2, rax");
SNIPPET("vcvtsi2ss xmm1, xmm2, dword ptr [rsi]");
SNIPPET("comiss xmm1, xmm2");
SNIPPET("ucomisd xmm1, xmm2");
SNIPPET("comisd xmm1, [rsi]");
SNIPPET("vucomiss xmm1, [rsi]");
SNIPPET("ucomisd xmm1, xmm1");

#define PREDICATE(n)                                                           \
	SNIPPET("cmpps xmm1, xmm2, " #n);                                      \
	SNIPPET("cmpsd xmm1, xmm2, " #n)
PREDICATE(0);
PREDICATE(1);
PREDICATE(2);
PREDICATE(3);
PREDICATE(4);
PREDICATE(5);
PREDICATE(6);
PREDICATE(7);
#define PREDICATE_VEX(n)                                                       \
	SNIPPET("vcmpps ymm1, ymm2, ymm3, " #n);                               \
	SNIPPET("vcmpsd xmm1, xmm2, [rsi], " #n);                              \
	SNIPPET("vcmppd k1{k3}, zmm2, zmm3, " #n)
PREDICATE_VEX(0);
PREDICATE_VEX(8);
PREDICATE_VEX(9);
PREDICATE_VEX(10);
PREDICATE_VEX(11);
PREDICATE_VEX(12);
PREDICATE_VEX(13);
PREDICATE_VEX(14);
PREDICATE_VEX(15);
PREDICATE_VEX(17);
PREDICATE_VEX(24);
PREDICATE_VEX(30);

#define ROUND(op)                                                              \
	SNIPPET(op " xmm1, xmm2, 0");                                          \
	SNIPPET(op " xmm1, xmm2, 1");                                          \
	SNIPPET(op " xmm1, xmm2, 10");                                         \
	SNIPPET(op " xmm1, xmm2, 3");                                          \
	SNIPPET(op " xmm1, xmm2, 4")
ROUND("roundps");
ROUND("roundpd");
ROUND("roundss");
ROUND("roundsd");
SNIPPET("vroundpd ymm1, ymm2, 2");
SNIPPET("vroundss xmm1, xmm2, [rsi], 1");

START_TEST(whatever_is_claimed_known_is_what_the_processor_makes)
{
	oracle_all(60, 200);
}
END_TEST

static unsigned frame_wrong, frame_looked;

/* In the handler: compare the frame with the registers when int3 trapped. */
static void look_at_frame(const ucontext_t *uc)
{
	struct memory mem = { .read = NULL };
	struct interp *in = &oracle_interp;
	bool zmm = oracle_vectors == ORACLE_ZMM;
	unsigned lanes = 1u << oracle_vectors;
	struct cpu_state cpu = { .rip = 1 };

	cpu_state_vectors(&cpu, uc->uc_mcontext.fpregs);
	interp_begin(in, &cpu, &mem);
	for (unsigned i = 0; i < (zmm ? 32 : 16); i++)
		for (unsigned l = 0; l < lanes; l++)
			if (memcmp(&vec_lanes(in, i)[l], oracle.vec[i] + 16 * l,
				   16) ||
			    in->vec_taint[i][l])
				frame_wrong++;
	for (unsigned i = 0; zmm && i < 8; i++)
		if (*mask_value(in, i) != oracle.mask[i] || in->mask_taint[i])
			frame_wrong++;
	if (in->mxcsr != oracle.mxcsr || !in->fp_exact)
		frame_wrong++;
	frame_looked++;
}

START_TEST(signal_frame_gives_all_vectors_even_in_their_initial_state)
{
	oracle_set_up();
	oracle_look = look_at_frame;
	memset(oracle_code, 0xcc, 16);
	for (int i = 0; i < 100; i++) {
		random_state();
		if (i % 4 == 1) /* components in their initial state */
			memset(oracle.vec[16], 0, sizeof(oracle.vec) / 2);
		if (i % 4 == 2)
			memset(oracle.mask, 0, sizeof(oracle.mask));
		for (int v = 0; i % 4 == 3 && v < 32; v++)
			memset(oracle.vec[v] + 16, 0, 48);
		oracle.target = (uint64_t)oracle_code;
		oracle_call();
	}
	ck_assert_uint_eq(frame_looked, 100);
	ck_assert_uint_eq(frame_wrong, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interp_vector");
	TCase *c = tcase_create("processor");

	tcase_add_test(c,
		       whatever_is_claimed_known_is_what_the_processor_makes);
	tcase_add_test(
		c, signal_frame_gives_all_vectors_even_in_their_initial_state);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return run_suite(s);
}
