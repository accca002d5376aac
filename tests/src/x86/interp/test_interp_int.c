/* SPDX-License-Identifier: MIT */
/*
 * test_interp_int - general-register instructions, compared with the processor
 */
#include "tests/oracle/interp_oracle.h"
#include "tests/run_suite.h"

/* Register, memory and immediate forms of a two-operand instruction. */
#define TWO(op)                                                                \
	SNIPPET(op " eax, ecx");                                               \
	SNIPPET(op " rax, r10");                                               \
	SNIPPET(op " ax, dx");                                                 \
	SNIPPET(op " al, dl");                                                 \
	SNIPPET(op " ah, cl");                                                 \
	SNIPPET(op " ch, dh");                                                 \
	SNIPPET(op " r9b, r8b");                                               \
	SNIPPET(op " eax, [rsi]");                                             \
	SNIPPET(op " rax, [rsi+r13*2+8]");                                     \
	SNIPPET(op " dl, [rdi+r13]");                                          \
	SNIPPET(op " [rbx], rdx");                                             \
	SNIPPET(op " [rbx+r13*4], ax");                                        \
	SNIPPET(op " [rsi-7], ah");                                            \
	SNIPPET(op " dword ptr [r12+r13*8], -5");                              \
	SNIPPET(op " byte ptr [rbp+3], 0x7f");                                 \
	SNIPPET(op " rax, -129");                                              \
	SNIPPET(op " ecx, 0");                                                 \
	SNIPPET(op " r11, r11");                                               \
	SNIPPET(op " ebx, ebx")
TWO("add");
TWO("adc");
TWO("sub");
TWO("sbb");
TWO("and");
TWO("or");
TWO("xor");
TWO("cmp");
TWO("mov");
SNIPPET("test eax, ecx");
SNIPPET("test [rsi], r9");
SNIPPET("test byte ptr [rsi], 0x81");
SNIPPET("test ah, ch");
SNIPPET("add rax, rcx; adc rdx, r8; sbb r9, r9; adc r10, 0");
SNIPPET("lock add [rsi], ecx");
SNIPPET("lock xadd [rsi+4], rdx");

#define ONE(op)                                                                \
	SNIPPET(op " eax");                                                    \
	SNIPPET(op " rdx");                                                    \
	SNIPPET(op " r8w");                                                    \
	SNIPPET(op " ch");                                                     \
	SNIPPET(op " dword ptr [rsi+r13]");                                    \
	SNIPPET(op " qword ptr [rsi]");                                        \
	SNIPPET(op " byte ptr [rdi]")
ONE("inc");
ONE("dec");
ONE("neg");
ONE("not");

#define SHIFT(op)                                                              \
	SNIPPET(op " eax, cl");                                                \
	SNIPPET(op " rax, cl");                                                \
	SNIPPET(op " ax, cl");                                                 \
	SNIPPET(op " dl, cl");                                                 \
	SNIPPET(op " dh, cl");                                                 \
	SNIPPET(op " r8, 1");                                                  \
	SNIPPET(op " r8d, 1");                                                 \
	SNIPPET(op " r8b, 1");                                                 \
	SNIPPET(op " edx, 31");                                                \
	SNIPPET(op " rdx, 63");                                                \
	SNIPPET(op " dx, 7");                                                  \
	SNIPPET(op " edx, 0");                                                 \
	SNIPPET("and ecx, 1; " op " rdx, cl");                                 \
	SNIPPET(op " qword ptr [rsi], cl");                                    \
	SNIPPET(op " dword ptr [rsi+r13*4], 5");                               \
	SNIPPET(op " byte ptr [rsi], 1");                                      \
	SNIPPET(op " word ptr [rsi], cl")
SHIFT("shl");
SHIFT("shr");
SHIFT("sar");
SHIFT("rol");
SHIFT("ror");
SHIFT("rcl");
SHIFT("rcr");

#define DOUBLE(op)                                                             \
	SNIPPET(op " eax, edx, cl");                                           \
	SNIPPET(op " rax, rdx, cl");                                           \
	SNIPPET(op " ax, dx, cl");                                             \
	SNIPPET(op " eax, r8d, 1");                                            \
	SNIPPET(op " rax, r8, 63");                                            \
	SNIPPET(op " dx, r8w, 9");                                             \
	SNIPPET(op " [rsi], rdx, cl");                                         \
	SNIPPET(op " [rsi], edx, 12")
DOUBLE("shld");
DOUBLE("shrd");

#define BIT(op)                                                                \
	SNIPPET(op " eax, ecx");                                               \
	SNIPPET(op " rax, rcx");                                               \
	SNIPPET(op " ax, cx");                                                 \
	SNIPPET(op " rdx, 63");                                                \
	SNIPPET(op " edx, 33");                                                \
	SNIPPET("movsx rcx, cl; " op " [rsi], rcx");                           \
	SNIPPET("movsx ecx, cl; " op " [rsi], ecx");                           \
	SNIPPET("movsx cx, cl; " op " [rsi], cx");                             \
	SNIPPET(op " dword ptr [rsi], 37")
BIT("bt");
BIT("bts");
BIT("btr");
BIT("btc");
SNIPPET("lock bts qword ptr [rsi], 3");

#define COUNT(op)                                                              \
	SNIPPET(op " eax, ecx");                                               \
	SNIPPET(op " rax, rcx");                                               \
	SNIPPET(op " ax, cx");                                                 \
	SNIPPET(op " edx, [rsi]");                                             \
	SNIPPET(op " rdx, [rsi]")
COUNT("bsf");
COUNT("bsr");
COUNT("tzcnt");
COUNT("lzcnt");
COUNT("popcnt");

#define BMI(op)                                                                \
	SNIPPET(op " eax, ecx, edx");                                          \
	SNIPPET(op " rax, rcx, rdx");                                          \
	SNIPPET(op " r8, r9, r10")
BMI("andn");
BMI("pdep");
BMI("pext");
BMI("shlx");
BMI("shrx");
BMI("sarx");
BMI("bextr");
BMI("bzhi");
BMI("mulx");
SNIPPET("andn rax, rcx, [rsi]");
SNIPPET("shlx eax, [rsi], ecx");
SNIPPET("bextr rax, [rsi], rcx");
SNIPPET("mov cl, 7; mov ch, 9; bextr rax, rdx, rcx");
SNIPPET("mulx rax, rcx, [rsi]");
SNIPPET("mulx rax, rax, rcx");
SNIPPET("blsr eax, ecx");
SNIPPET("blsr rax, [rsi]");
SNIPPET("blsi eax, ecx");
SNIPPET("blsi rax, rcx");
SNIPPET("blsmsk eax, ecx");
SNIPPET("blsmsk rax, rcx");
SNIPPET("rorx eax, ecx, 7");
SNIPPET("rorx rax, [rsi], 63");
SNIPPET("rorx rax, rcx, 0");
SNIPPET("adcx rax, rcx");
SNIPPET("adox eax, ecx");
SNIPPET("adcx eax, [rsi]; adox rcx, rdx; adcx rdx, r8");

SNIPPET("mul ecx");
SNIPPET("mul rcx");
SNIPPET("mul cx");
SNIPPET("mul cl");
SNIPPET("mul dh");
SNIPPET("mul qword ptr [rsi]");
SNIPPET("imul ecx");
SNIPPET("imul rcx");
SNIPPET("imul cx");
SNIPPET("imul cl");
SNIPPET("imul byte ptr [rsi]");
SNIPPET("imul eax, ecx");
SNIPPET("imul rax, rcx");
SNIPPET("imul ax, cx");
SNIPPET("imul rax, [rsi]");
SNIPPET("imul eax, [rsi], -7");
SNIPPET("imul rax, rcx, 0x12345");
SNIPPET("imul ax, cx, 100");
SNIPPET("xor edx, edx; div ecx");
SNIPPET("xor edx, edx; or rcx, 1; div rcx");
SNIPPET("div ecx");
SNIPPET("div rcx");
SNIPPET("div cx");
SNIPPET("div cl");
SNIPPET("idiv ecx");
SNIPPET("cdq; idiv ecx");
SNIPPET("cqo; idiv rcx");
SNIPPET("cwd; idiv cx");
SNIPPET("cbw; idiv cl");
SNIPPET("cqo; idiv qword ptr [rsi]");
SNIPPET("idiv rcx");
SNIPPET("idiv cl");
SNIPPET("idiv cx");

SNIPPET("movzx eax, cl");
SNIPPET("movzx eax, dh");
SNIPPET("movzx rax, word ptr [rsi]");
SNIPPET("movsx eax, cl");
SNIPPET("movsx ax, dh");
SNIPPET("movsx rax, byte ptr [rsi]");
SNIPPET("movsxd rax, ecx");
SNIPPET("movsxd rax, dword ptr [rsi+r13*4]");
SNIPPET("lea rax, [rcx+rdx*8-77]");
SNIPPET("lea eax, [rcx+rdx*4+1]");
SNIPPET("lea ax, [rcx+rdx]");
SNIPPET("lea rax, [ecx+edx*2]");
SNIPPET("movabs rax, 0x123456789abcdef0");
SNIPPET("mov eax, 0xfffffff0");
SNIPPET("movabs al, [0x10000123]");
SNIPPET("movabs [0x10000123], rax");
SNIPPET("mov eax, [rip-6]");
SNIPPET("mov eax, [esi]");
SNIPPET("mov r8, [esi+r13d*4]");
SNIPPET("movnti [rsi], rax");
SNIPPET("movbe eax, [rsi]");
SNIPPET("movbe [rsi], rcx");
SNIPPET("movbe ax, [rsi]");
SNIPPET("bswap eax");
SNIPPET("bswap r9");
SNIPPET("xchg eax, ecx");
SNIPPET("xchg al, ah");
SNIPPET("xchg [rsi], rdx");
SNIPPET("xchg [rsi], ch");
SNIPPET("xadd eax, ecx");
SNIPPET("xadd eax, eax");
SNIPPET("xadd [rsi], dl");
SNIPPET("cmpxchg [rsi], ecx");
SNIPPET("mov rax, [rsi]; lock cmpxchg [rsi], rcx");
SNIPPET("cmpxchg edx, ecx");
SNIPPET("mov eax, edx; cmpxchg edx, ecx");
SNIPPET("cmpxchg dl, cl");
SNIPPET("cmpxchg [rsi], cl");
SNIPPET("mov eax, [rsi]; cmpxchg [rsi], r8d");
SNIPPET("cmpxchg8b [rsi]");
SNIPPET("mov eax, [rsi]; mov edx, [rsi+4]; lock cmpxchg8b [rsi]");
SNIPPET("and rsi, -16; cmpxchg16b [rsi]");
SNIPPET("and rsi, -16; mov rax, [rsi]; mov rdx, [rsi+8]; "
	"lock cmpxchg16b [rsi]");
SNIPPET("cbw");
SNIPPET("cwde");
SNIPPET("cdqe");
SNIPPET("cwd");
SNIPPET("cdq");
SNIPPET("cqo");
SNIPPET("crc32 eax, cl");
SNIPPET("crc32 eax, ecx");
SNIPPET("crc32 rax, rcx");
SNIPPET("crc32 eax, word ptr [rsi]");
SNIPPET("xlatb");

#define CONDITION(cc)                                                          \
	SNIPPET("set" cc " al");                                               \
	SNIPPET("set" cc " byte ptr [rsi]");                                   \
	SNIPPET("cmov" cc " eax, ecx");                                        \
	SNIPPET("cmov" cc " rax, [rsi]");                                      \
	SNIPPET("cmp rax, rcx; cmov" cc " dx, r8w");                           \
	SNIPPET("cmp eax, ecx; j" cc " 9f; mov r8d, 1; 9: inc r9");            \
	SNIPPET("add al, cl; set" cc " dh; j" cc " 9f; mov r8d, 1; 9: nop")
CONDITION("o");
CONDITION("no");
CONDITION("b");
CONDITION("ae");
CONDITION("e");
CONDITION("ne");
CONDITION("be");
CONDITION("a");
CONDITION("s");
CONDITION("ns");
CONDITION("p");
CONDITION("np");
CONDITION("l");
CONDITION("ge");
CONDITION("le");
CONDITION("g");

SNIPPET("push rax; push rcx; pop rdx; pop r8");
SNIPPET("push rsp; pop rax");
SNIPPET("push ax; pop cx");
SNIPPET("push -3; pop rax");
SNIPPET("push 0x12345678; pop rax");
SNIPPET("push qword ptr [rsi]; pop qword ptr [rsi+8]");
SNIPPET("push rax; pop qword ptr [rsp+8]");
SNIPPET("push rax; push rcx; pop rsp; mov rsp, r12");
SNIPPET("push qword ptr [rsp+16]");
SNIPPET("pushfq; pop rax; and eax, 0xcc1");
SNIPPET("cmp eax, ecx; pushfq; pop rax");
SNIPPET("add eax, ecx; pushf; pop ax");
SNIPPET("and rax, 0xcd5; push rax; popfq");
SNIPPET("push rcx; and qword ptr [rsp], 0xad5; popfq; adc rax, 0; cld");
SNIPPET("enter 32, 0; mov [rbp-8], rax; leave");
SNIPPET("push rbp; mov rbp, rsp; sub rsp, 64; mov [rsp], rax; leave");
SNIPPET("cmp eax, ecx; lahf");
SNIPPET("sahf; setb cl; sets dl");
SNIPPET("clc; adc eax, ecx");
SNIPPET("stc; sbb eax, ecx");
SNIPPET("cmc; rcl rax, 1");
SNIPPET("call 8f; jmp 9f; 8: inc rax; ret; 9: nop");
SNIPPET("push rbx; call 8f; jmp 9f; 8: inc rax; ret 8; 9: nop");
SNIPPET("lea rax, [rip+8f]; call rax; jmp 9f; 8: ret; 9: nop");
SNIPPET("lea rax, [rip+9f]; mov [rsi], rax; jmp [rsi]; ud2; 9: nop");
SNIPPET("lea rax, [rip+8f]; mov [rsi], rax; call [rsi]; jmp 9f; 8: ret; 9:");
SNIPPET("mov ecx, 5; 8: add rax, rcx; loop 8b");
SNIPPET("mov ecx, 9; 8: add rax, [rsi+rcx*8]; test al, 7; loopne 8b");
SNIPPET("mov ecx, 9; 8: test byte ptr [rsi+rcx], 1; loope 8b");
SNIPPET("jrcxz 9f; inc rax; 9: nop");
SNIPPET("jecxz 9f; inc rax; 9: nop");
SNIPPET("mov ecx, 20; 8: mov rax, [rsi+rcx*8]; add [rdi], rax; dec ecx; "
	"jnz 8b");

#define STRING(op)                                                             \
	SNIPPET(op "b");                                                       \
	SNIPPET(op "w");                                                       \
	SNIPPET(op "d");                                                       \
	SNIPPET(op "q");                                                       \
	SNIPPET("std; " op "d; cld");                                          \
	SNIPPET("mov ecx, 13; rep " op "b");                                   \
	SNIPPET("mov ecx, 7; std; rep " op "q; cld");                          \
	SNIPPET("xor ecx, ecx; rep " op "w")
STRING("movs");
STRING("stos");
STRING("lods");
STRING("cmps");
STRING("scas");
SNIPPET("mov rdi, rsi; mov ecx, 20; repe cmpsb");
SNIPPET("lea rdi, [rsi+8]; mov ecx, 6; rep movsq");
SNIPPET("xor eax, eax; mov ecx, 40; repne scasb");
SNIPPET("mov al, [rdi+5]; mov ecx, 40; repne scasb");
SNIPPET("mov ecx, 5; addr32 rep movsb");
SNIPPET("mov ecx, 9; rep movsb; mov rax, [rdi-8]");
SNIPPET("mov [rsi], rax; mov ecx, [rsi+2]; mov [rsi+1], dl; mov r8, [rsi]");
SNIPPET("mov [rsi], ax; mov [rsi+2], cl; mov r9d, [rsi+1]");
SNIPPET("nop; endbr64; pause; mfence; prefetcht0 [rax]; nop dword ptr "
	"[rax+rcx]");
NOT_MODELLED("fld qword ptr [rsi]; fstp tbyte ptr [rdi]; fnstsw ax");
NOT_MODELLED("fild dword ptr [rsi]; fistp qword ptr [rdi]");
NOT_MODELLED("movq mm0, [rsi]; paddb mm0, mm1; movq [rdi], mm0; emms");

START_TEST(whatever_is_claimed_known_is_what_the_processor_makes)
{
	oracle_all(120, 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interp_int");
	TCase *c = tcase_create("processor");

	tcase_add_test(c,
		       whatever_is_claimed_known_is_what_the_processor_makes);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return run_suite(s);
}
