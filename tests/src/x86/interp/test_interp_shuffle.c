/* SPDX-License-Identifier: MIT */
/*
 * test_interp_shuffle - shuffles, masks, gathers and sequences of string
 * functions, compared with the processor
 */
#include "tests/oracle/interp_oracle.h"
#include "tests/run_suite.h"

#define IMM(op)                                                                \
	SNIPPET(op " xmm1, xmm2, 0x1b");                                       \
	SNIPPET(op " xmm1, xmm2, 0x4e");                                       \
	SNIPPET(op " xmm1, xmm2, 0xd1")
IMM("pshufd");
IMM("pshuflw");
IMM("pshufhw");
IMM("shufps");
IMM("shufpd");
IMM("palignr");
IMM("pblendw");
IMM("blendps");
IMM("blendpd");
IMM("insertps");
SNIPPET("palignr xmm1, xmm2, 5");
SNIPPET("palignr xmm1, xmm2, 16");
SNIPPET("insertps xmm1, [rsi], 0x52");
SNIPPET("vpshufd ymm1, [rsi], 0x93");
SNIPPET("vpshufd zmm1{k1}, zmm2, 0x93");
SNIPPET("vshufps ymm1, ymm2, ymm3, 0xe4");
SNIPPET("vshufpd zmm1, zmm2, zmm3, 0x9a");
SNIPPET("vpalignr ymm1, ymm2, ymm3, 7");
SNIPPET("vpblendd ymm1, ymm2, ymm3, 0xa5");
SNIPPET("vblendps ymm1, ymm2, ymm3, 0xa6");
SNIPPET("vblendpd ymm1, ymm2, ymm3, 0x9");
SNIPPET("vpblendw ymm1, ymm2, ymm3, 0x39");
SNIPPET("vpermilps ymm1, ymm2, 0x1b");
SNIPPET("vpermilpd ymm1, ymm2, 0x6");
SNIPPET("vpermilps ymm1, ymm2, ymm3");
SNIPPET("vpermilpd ymm1, ymm2, ymm3");
SNIPPET("vpermilps zmm1{k1}, zmm2, zmm3");
SNIPPET("pblendvb xmm1, xmm2, xmm0");
SNIPPET("blendvps xmm1, xmm2, xmm0");
SNIPPET("blendvpd xmm1, xmm2, xmm0");
SNIPPET("vpblendvb ymm1, ymm2, ymm3, ymm4");
SNIPPET("vblendvpd ymm1, ymm2, [rsi], ymm4");
SNIPPET("vpternlogd zmm1, zmm2, zmm3, 0x96");
SNIPPET("vpternlogq ymm1{k1}, ymm2, [rsi], 0xca");
SNIPPET("vpternlogd zmm1, zmm2, zmm3, 0xff");
SNIPPET("vpbroadcastb ymm1, xmm2");
SNIPPET("vpbroadcastb ymm16, eax");
SNIPPET("vpbroadcastb zmm1{k1}, [rsi]");
SNIPPET("vpbroadcastw xmm1, [rsi]");
SNIPPET("vpbroadcastd zmm1{k1}{z}, eax");
SNIPPET("vpbroadcastq ymm1, [rsi]");
SNIPPET("vbroadcastss ymm1, xmm2");
SNIPPET("vbroadcastsd ymm1, [rsi]");
SNIPPET("vbroadcastf128 ymm1, [rsi]");
SNIPPET("vbroadcasti32x4 zmm1{k1}, [rsi]");
SNIPPET("vbroadcasti64x4 zmm1, [rsi]");
SNIPPET("vbroadcasti32x2 ymm1, xmm2");
SNIPPET("vextracti128 xmm1, ymm2, 1");
SNIPPET("vextractf128 [rsi], ymm2, 1");
SNIPPET("vextracti32x4 xmm1, zmm2, 3");
SNIPPET("vextracti64x4 [rsi], zmm2, 1");
SNIPPET("vextracti32x4 [rsi]{k1}, zmm2, 2");
SNIPPET("vinserti128 ymm1, ymm2, xmm3, 1");
SNIPPET("vinserti128 ymm1, ymm2, [rsi], 0");
SNIPPET("vinserti32x4 zmm1, zmm2, xmm3, 2");
SNIPPET("vinserti64x4 zmm1{k1}, zmm2, [rsi], 1");
SNIPPET("vperm2i128 ymm1, ymm2, ymm3, 0x21");
SNIPPET("vperm2f128 ymm1, ymm2, [rsi], 0x83");
SNIPPET("vshufi32x4 zmm1, zmm2, zmm3, 0x4e");
SNIPPET("vshufi64x2 ymm1, ymm2, ymm3, 0x2");
SNIPPET("vpermq ymm1, ymm2, 0xd8");
SNIPPET("vpermpd zmm1, [rsi], 0x1b");
SNIPPET("vpermq zmm1, zmm2, zmm3");
SNIPPET("vpermd ymm1, ymm2, [rsi]");
SNIPPET("vpermps ymm1, ymm2, ymm3");
SNIPPET("vpermw zmm1{k1}, zmm2, zmm3");
SNIPPET("vpermb zmm1, zmm2, zmm3");
SNIPPET("vpermi2d zmm1, zmm2, zmm3");
SNIPPET("vpermt2q ymm1{k1}, ymm2, ymm3");
SNIPPET("vpermt2b zmm1, zmm2, zmm3");
SNIPPET("vpermi2ps zmm1{k1}{z}, zmm2, [rsi]");
SNIPPET("valignd zmm1, zmm2, zmm3, 5");
SNIPPET("valignq ymm1, ymm2, ymm3, 3");
SNIPPET("vpblendmb zmm1{k1}, zmm2, zmm3");
SNIPPET("vpblendmd ymm1{k1}{z}, ymm2, [rsi]");
SNIPPET("vblendmpd zmm1{k1}, zmm2, zmm3");

#define KLOGIC(op)                                                             \
	SNIPPET(op "b k1, k2, k3");                                            \
	SNIPPET(op "w k1, k2, k3");                                            \
	SNIPPET(op "d k1, k2, k3");                                            \
	SNIPPET(op "q k1, k3, k3")
KLOGIC("kand");
KLOGIC("kandn");
KLOGIC("kor");
KLOGIC("kxor");
KLOGIC("kxnor");
KLOGIC("kadd");
SNIPPET("knotd k1, k2");
SNIPPET("knotq k1, k2");
SNIPPET("kmovd eax, k1");
SNIPPET("kmovq rax, k1");
SNIPPET("kmovb eax, k1");
SNIPPET("kmovw k1, eax");
SNIPPET("kmovq k1, rax");
SNIPPET("kmovd k1, [rsi]");
SNIPPET("kmovq [rsi], k1");
SNIPPET("kmovd k1, k2");
SNIPPET("kshiftrq k1, k2, 32");
SNIPPET("kshiftlw k1, k2, 5");
SNIPPET("kshiftrd k1, k2, 40");
SNIPPET("kunpckbw k1, k2, k3");
SNIPPET("kunpckwd k1, k2, k3");
SNIPPET("kunpckdq k1, k2, k3");
SNIPPET("kortestd k1, k2");
SNIPPET("kortestq k1, k1");
SNIPPET("kxnord k1, k1, k1; kortestd k1, k1");
SNIPPET("ktestd k1, k2");
SNIPPET("ktestb k1, k1");

#define COMPARE(op)                                                            \
	SNIPPET(op " k1, zmm2, zmm3");                                         \
	SNIPPET(op " k1{k5}, ymm2, [rsi]");                                    \
	SNIPPET(op " k1{k5}, zmm2, zmm9");                                     \
	SNIPPET(op " k1, xmm2, xmm20")
COMPARE("vpcmpeqb");
COMPARE("vpcmpeqw");
COMPARE("vpcmpeqd");
COMPARE("vpcmpgtq");
COMPARE("vpcmpneqb");
COMPARE("vpcmpltub");
COMPARE("vpcmpleud");
COMPARE("vpcmpnltw");
COMPARE("vpcmpnleuq");
COMPARE("vptestmb");
COMPARE("vptestnmb");
COMPARE("vptestmd");
COMPARE("vptestnmq");
SNIPPET("vpcmpeqd k1, zmm2, dword ptr [rsi]{1to16}");
SNIPPET("vpmovb2m k1, zmm2");
SNIPPET("vpmovq2m k1, ymm2");
SNIPPET("vpmovm2b zmm1, k1");
SNIPPET("vpmovm2d ymm1, k1");

/* Sequences from string functions of a C library. */
SNIPPET("pxor xmm0, xmm0; movdqu xmm1, [rsi]; pcmpeqb xmm1, xmm0; "
	"pmovmskb eax, xmm1; test eax, eax; je 9f; bsf eax, eax; 9: nop");
SNIPPET("vpxor xmm0, xmm0, xmm0; vpcmpeqb ymm1, ymm0, [rsi]; "
	"vpminub ymm2, ymm1, [rdi]; vpor ymm3, ymm2, ymm1; "
	"vpmovmskb eax, ymm3; vzeroupper; test eax, eax; jne 9f; inc r8; 9:");
SNIPPET("vpxorq xmm16, xmm16, xmm16; vpcmpeqb k0, ymm16, [rsi]; "
	"kmovd eax, k0; test eax, eax; je 9f; tzcnt eax, eax; 9: nop");
SNIPPET("vmovdqu64 ymm16, [rsi]; vpminub ymm17, ymm16, [rdi]; "
	"vptestnmb k1, ymm17, ymm17; kmovd ecx, k1; kortestd k1, k1; jne 9f; "
	"dec r9; 9: nop");
SNIPPET("vpbroadcastb ymm16, esi; vpxorq ymm1, ymm16, [rsi]; "
	"vpminub ymm2{k3}{z}, ymm1, ymm1; vptestnmb k0, ymm2, ymm2");

/* Indices within the arena: small numbers in ymm2, a copy in zmm18. */
#define SMALL                                                                  \
	"vpsrld zmm2, zmm2, 24; vmovdqa64 zmm18, zmm2; vpsrlq zmm19, zmm2, "   \
	"32; "
#define GATHER(op, dword)                                                      \
	SNIPPET(SMALL op " ymm1, [rsi+ymm2*4], ymm3");                         \
	SNIPPET(SMALL op " xmm1, [rsi+xmm2*2+1], xmm3");                       \
	SNIPPET(SMALL op " zmm1{k1}, [rsi+" dword "18*4]");                    \
	SNIPPET(SMALL op " xmm21{k3}, [rsi+xmm18*1]; vpaddd zmm1, zmm1, "      \
			 "zmm21")
GATHER("vpgatherdd", "zmm");
GATHER("vgatherdps", "zmm");
SNIPPET(SMALL "vpgatherdq zmm1{k1}, [rsi+ymm18*8]");
SNIPPET(SMALL "vpgatherdq ymm1, [rsi+xmm2*8], ymm3");
SNIPPET(SMALL "vgatherqps ymm1{k1}, [rsi+zmm19*4]");
SNIPPET(SMALL "vpgatherqq zmm1{k3}, [rsi+zmm19*8]");
SNIPPET("vpsrlq ymm2, ymm2, 57; vgatherqpd ymm1, [rsi+ymm2*8], ymm3");
SNIPPET("vpsrlq xmm2, xmm2, 57; vpgatherqd xmm1, [rsi+xmm2*8], xmm3");
SNIPPET("vpsrlq ymm2, ymm2, 57; vgatherqps xmm1, [rsi+ymm2*8], xmm3");
SNIPPET(SMALL "vpscatterdd [rsi+zmm18*4]{k1}, zmm3; mov rax, [rsi+40]");
SNIPPET(SMALL "vscatterdpd [rsi+ymm18*4]{k1}, zmm3; kmovq rax, k1");
SNIPPET(SMALL "vpscatterqq [rsi+zmm19*8]{k3}, zmm3");
SNIPPET(SMALL "vscatterqps [rsi+zmm19*1]{k3}, ymm3");

NOT_MODELLED("pcmpistri xmm1, xmm2, 0x1a");
NOT_MODELLED("vpcompressd zmm1{k1}, zmm2");
NOT_MODELLED("vpcompressd [rsi]{k1}, zmm2");
NOT_MODELLED("vpmovdb [rsi]{k1}, zmm2");
NOT_MODELLED("vpabsq zmm1, zmm2");
NOT_MODELLED("vfixupimmps zmm1, zmm2, zmm3, 5");
NOT_MODELLED("vgetexppd zmm1, zmm2");
NOT_MODELLED("pclmulqdq xmm1, xmm2, 0x11");
NOT_MODELLED("vpopcntq zmm1, zmm2");
NOT_MODELLED("sha256rnds2 xmm1, xmm2, xmm0");
NOT_MODELLED("dppd xmm1, xmm2, 0x31");
NOT_MODELLED("movq2dq xmm1, mm2; emms");
NOT_MODELLED("vp2intersectd k2, zmm1, zmm2");
NOT_MODELLED("and rsi, -64; fxsave [rsi]; addps xmm1, xmm2; fxrstor [rsi]");
NOT_MODELLED(
	"and rsi, -64; lea rdi, [rsi+512]; xor eax, eax; mov ecx, 8; "
	"rep stosq; mov eax, 3; xor edx, edx; xsave [rsi]; addps xmm1, xmm2; "
	"xrstor [rsi]; paddb xmm1, xmm2");
SNIPPET("fnstcw [rsi]; mov eax, [rsi]; or ax, 0xc00; mov [rdi], ax; "
	"fldcw [rdi]; fnstcw [rdi+2]; fldcw [rsi]");
SNIPPET("fninit; fnstcw [rsi]");

START_TEST(whatever_is_claimed_known_is_what_the_processor_makes)
{
	oracle_all(60, 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interp_shuffle");
	TCase *c = tcase_create("processor");

	tcase_add_test(c,
		       whatever_is_claimed_known_is_what_the_processor_makes);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return run_suite(s);
}
