/* SPDX-License-Identifier: MIT */
/*
 * decode_rows - instructions and the accesses they make
 *
 * ROW(number, text, { address, length, flags }...). The names are those of
 * test_decode.c. If an instruction accesses an explicit operand and the stack,
 * the explicit operand comes first.
 */
#ifndef COMDET_TESTS_SRC_X86_DECODE_DECODE_ROWS_H
#define COMDET_TESTS_SRC_X86_DECODE_DECODE_ROWS_H

/* clang-format off */
#define DECODE_ROWS(ROW) \
	ROW(1, "mov rax, [rbx+rcx*8+16]", { RBX + RCX * 8 + 16, 8, L }) \
	ROW(2, "mov [rbx-4], cl", { RBX - 4, 1, S }) \
	ROW(3, "mov ax, [rsp]", { RSP, 2, L }) \
	ROW(4, "mov eax, [rip+0x10]", { IP + 6 + 0x10, 4, L }) \
	ROW(5, "mov eax, [ebx+ecx*4-8]", { RBX + RCX * 4 - 8, 4, L }) \
	ROW(6, "mov rax, fs:[0x28]", { FS + 0x28, 8, L }) \
	ROW(7, "mov rax, fs:[rbx]", { FS + RBX, 8, L }) \
	ROW(8, "mov gs:[r8], eax", { GS + R8, 4, S }) \
	ROW(9, "movabs al, [0x1122334455667788]", \
		{ 0x1122334455667788, 1, L }) \
	ROW(10, "movabs [0x1122334455667788], rax", \
		{ 0x1122334455667788, 8, S }) \
	ROW(11, "lea rax, [rbx+rcx]", { 0, 0, 0 }) \
	ROW(12, "nop dword ptr [rax]", { 0, 0, 0 }) \
	ROW(13, "endbr64", { 0, 0, 0 }) \
	ROW(14, "prefetcht0 [rax]", { 0, 0, 0 }) \
	ROW(15, "prefetchw [rax]", { 0, 0, 0 }) \
	ROW(16, "clflush [rax]", { 0, 0, 0 }) \
	ROW(17, "clflushopt [rax]", { 0, 0, 0 }) \
	ROW(18, "add [rbx], eax", { RBX, 4, LS }) \
	ROW(19, "add eax, [rbx]", { RBX, 4, L }) \
	ROW(20, "cmp [rbx], eax", { RBX, 4, L }) \
	ROW(21, "test [rbx], al", { RBX, 1, L }) \
	ROW(22, "lock add [rbx], rax", { RBX, 8, LS | K }) \
	ROW(23, "lock inc byte ptr [rbx]", { RBX, 1, LS | K }) \
	ROW(24, "xchg [rbx], eax", { RBX, 4, LS | K }) \
	ROW(25, "xchg eax, ecx", { 0, 0, 0 }) \
	ROW(26, "lock xadd [rbx], eax", { RBX, 4, LS | K }) \
	ROW(27, "cmpxchg [rbx], ecx", { RBX, 4, LS }) \
	ROW(28, "lock cmpxchg16b [rbx]", { RBX, 16, LS | K }) \
	ROW(29, "cmpxchg8b [rbx]", { RBX, 8, LS }) \
	ROW(30, "neg word ptr [rbx]", { RBX, 2, LS }) \
	ROW(31, "shl dword ptr [rbx], cl", { RBX, 4, LS }) \
	ROW(32, "shld [rbx], eax, 5", { RBX, 4, LS }) \
	ROW(33, "setne [rbx]", { RBX, 1, S }) \
	ROW(34, "cmovne eax, [rbx]", { RBX, 4, L }) \
	ROW(35, "movzx eax, word ptr [rbx]", { RBX, 2, L }) \
	ROW(36, "movbe [rbx], eax", { RBX, 4, S }) \
	ROW(37, "movnti [rbx], rax", { RBX, 8, S }) \
	ROW(38, "imul rax, [rbx], 7", { RBX, 8, L }) \
	ROW(39, "div qword ptr [rbx]", { RBX, 8, L }) \
	ROW(40, "popcnt eax, [rbx]", { RBX, 4, L }) \
	ROW(41, "mulx rax, rdx, [rbx]", { RBX, 8, L }) \
	ROW(42, "crc32 eax, byte ptr [rbx]", { RBX, 1, L }) \
	ROW(43, "bt [rbx], edx", { RBX + 0xc, 4, L }) \
	ROW(44, "bts qword ptr [rbx], rdx", { RBX + 8, 8, LS }) \
	ROW(45, "lock btr dword ptr [rbx], 77", { RBX, 4, LS | K }) \
	ROW(46, "xlatb", { RBX, 1, L }) \
	ROW(47, "push rax", { RSP - 8, 8, S | I }) \
	ROW(48, "push ax", { RSP - 2, 2, S | I }) \
	ROW(49, "push 5", { RSP - 8, 8, S | I }) \
	ROW(50, "push qword ptr [rbx]", \
		{ RBX, 8, L }, \
		{ RSP - 8, 8, S | I }) \
	ROW(51, "push qword ptr [rsp+8]", \
		{ RSP + 8, 8, L }, \
		{ RSP - 8, 8, S | I }) \
	ROW(52, "pop rax", { RSP, 8, L | I }) \
	ROW(53, "pop qword ptr [rbx]", { RBX, 8, S }, { RSP, 8, L | I }) \
	ROW(54, "pop qword ptr [rsp+8]", \
		{ RSP + 16, 8, S }, \
		{ RSP, 8, L | I }) \
	ROW(55, "pushfq", { RSP - 8, 8, S | I }) \
	ROW(56, "popfq", { RSP, 8, L | I }) \
	ROW(57, "call rax", { RSP - 8, 8, S | I }) \
	ROW(58, "call [rbx]", { RBX, 8, L }, { RSP - 8, 8, S | I }) \
	ROW(59, "jmp [rbx+8]", { RBX + 8, 8, L }) \
	ROW(60, "ret", { RSP, 8, L | I }) \
	ROW(61, "ret 16", { RSP, 8, L | I }) \
	ROW(62, "leave", { RBP, 8, L | I }) \
	ROW(63, "enter 16, 0", { RSP - 8, 8, S | I }) \
	ROW(64, "movsb", { RDI, 1, S }, { RSI, 1, L }) \
	ROW(65, "rep movsq", { RDI, 8, S }, { RSI, 8, L }) \
	ROW(66, "fs movsd", { RDI, 4, S }, { RSI + FS, 4, L }) \
	ROW(67, "stosd", { RDI, 4, S }) \
	ROW(68, "rep stosb", { RDI, 1, S }) \
	ROW(69, "lodsw", { RSI, 2, L }) \
	ROW(70, "scasb", { RDI, 1, L }) \
	ROW(71, "repne scasb", { RDI, 1, L }) \
	ROW(72, "repe cmpsb", { RSI, 1, L }, { RDI, 1, L }) \
	ROW(73, "movaps xmm1, [rbx]", { RBX, 16, L }) \
	ROW(74, "movups [rbx], xmm1", { RBX, 16, S }) \
	ROW(75, "movss xmm1, [rbx]", { RBX, 4, L }) \
	ROW(76, "movsd [rbx], xmm1", { RBX, 8, S }) \
	ROW(77, "movq xmm1, [rbx]", { RBX, 8, L }) \
	ROW(78, "movd [rbx], xmm1", { RBX, 4, S }) \
	ROW(79, "movhps xmm1, [rbx]", { RBX, 8, L }) \
	ROW(80, "movlpd [rbx], xmm1", { RBX, 8, S }) \
	ROW(81, "movntdq [rbx], xmm1", { RBX, 16, S }) \
	ROW(82, "movntdqa xmm1, [rbx]", { RBX, 16, L }) \
	ROW(83, "addsd xmm1, [rbx]", { RBX, 8, L }) \
	ROW(84, "addps xmm1, [rbx]", { RBX, 16, L }) \
	ROW(85, "cvtsi2sd xmm1, dword ptr [rbx]", { RBX, 4, L }) \
	ROW(86, "cvttss2si eax, [rbx]", { RBX, 4, L }) \
	ROW(87, "ucomisd xmm1, [rbx]", { RBX, 8, L }) \
	ROW(88, "pinsrb xmm1, [rbx], 3", { RBX, 1, L }) \
	ROW(89, "pextrw [rbx], xmm1, 2", { RBX, 2, S }) \
	ROW(90, "extractps [rbx], xmm1, 2", { RBX, 4, S }) \
	ROW(91, "insertps xmm1, [rbx], 2", { RBX, 4, L }) \
	ROW(92, "pmovzxbq xmm1, [rbx]", { RBX, 2, L }) \
	ROW(93, "pcmpistri xmm1, [rbx], 5", { RBX, 16, L }) \
	ROW(94, "ldmxcsr [rbx]", { RBX, 4, L }) \
	ROW(95, "stmxcsr [rbx]", { RBX, 4, S }) \
	ROW(96, "vmovups ymm1, [rbx]", { RBX, 32, L }) \
	ROW(97, "vmovdqu [rbx], ymm1", { RBX, 32, S }) \
	ROW(98, "vmovups zmm1, [rbx]", { RBX, 64, L }) \
	ROW(99, "vmovdqu64 [rbx+64], zmm17", { RBX + 64, 64, S }) \
	ROW(100, "vaddps ymm1, ymm2, [rbx]", { RBX, 32, L }) \
	ROW(101, "vpmovzxbw ymm1, [rbx]", { RBX, 16, L }) \
	ROW(102, "vpbroadcastb ymm1, [rbx]", { RBX, 1, L }) \
	ROW(103, "vbroadcastf128 ymm1, [rbx]", { RBX, 16, L }) \
	ROW(104, "vextracti128 [rbx], ymm1, 1", { RBX, 16, S }) \
	ROW(105, "vinserti128 ymm1, ymm2, [rbx], 1", { RBX, 16, L }) \
	ROW(106, "vcvtps2pd ymm1, [rbx]", { RBX, 16, L }) \
	ROW(107, "vcvtph2ps ymm1, [rbx]", { RBX, 16, L }) \
	ROW(108, "vfmadd231sd xmm1, xmm2, [rbx]", { RBX, 8, L }) \
	ROW(109, "vaddps zmm1, zmm2, dword ptr [rbx]{1to16}", { RBX, 4, L }) \
	ROW(110, "vaddps zmm1{k2}, zmm2, dword ptr [rbx]{1to16}", \
		{ RBX, 4, L }) \
	ROW(111, "vaddps zmm1{k3}, zmm2, dword ptr [rbx]{1to16}", \
		{ 0, 0, 0 }) \
	ROW(112, "vaddps zmm1{k1}, zmm2, [rbx]", \
		{ RBX, 8, L }, \
		{ RBX + 12, 4, L }) \
	ROW(113, "vaddss xmm1{k1}, xmm2, [rbx]", { RBX, 4, L }) \
	ROW(114, "vaddss xmm1{k3}, xmm2, [rbx]", { 0, 0, 0 }) \
	ROW(115, "vmovdqu8 [rbx]{k1}, zmm1", \
		{ RBX, 2, S }, \
		{ RBX + 3, 1, S }) \
	ROW(116, "vmovdqu32 zmm1{k1}{z}, [rbx]", \
		{ RBX, 8, L }, \
		{ RBX + 12, 4, L }) \
	ROW(117, "vmovdqu64 [rbx]{k3}, zmm1", { 0, 0, 0 }) \
	ROW(118, "vmovupd ymm1{k2}, [rbx]", { RBX, 8, L }) \
	ROW(119, "vpmovdb [rbx]{k1}, zmm1", \
		{ RBX, 2, S }, \
		{ RBX + 3, 1, S }) \
	ROW(120, "vpcompressd [rbx]{k1}, zmm1", { RBX, 12, S }) \
	ROW(121, "vpexpandd zmm1{k1}, [rbx]", { RBX, 12, L }) \
	ROW(122, "vbroadcasti32x4 zmm1{k2}, [rbx]", { RBX, 4, L }) \
	ROW(123, "vpbroadcastb ymm1{k1}, [rbx]", { RBX, 1, L }) \
	ROW(124, "vextracti32x4 [rbx]{k1}, zmm2, 1", \
		{ RBX, 8, S }, \
		{ RBX + 12, 4, S }) \
	ROW(125, "vpcmpeqb k2{k1}, ymm1, [rbx]", \
		{ RBX, 2, L }, \
		{ RBX + 3, 1, L }) \
	ROW(126, "vpermw zmm1{k1}, zmm2, [rbx]", { RBX, 64, L }) \
	ROW(127, "vmaskmovps xmm1, xmm3, [rbx]", \
		{ RBX, 4, L }, \
		{ RBX + 8, 4, L }) \
	ROW(128, "vmaskmovps [rbx], xmm3, xmm1", \
		{ RBX, 4, S }, \
		{ RBX + 8, 4, S }) \
	ROW(129, "vpmaskmovq xmm1, xmm3, [rbx]", { 0, 0, 0 }) \
	ROW(130, "maskmovdqu xmm1, xmm4", \
		{ RDI + 1, 3, S }, \
		{ RDI + 15, 1, S }) \
	ROW(131, "vpgatherdd xmm1, [rbx+xmm2*4], xmm3", \
		{ RBX + 16, 4, L }, \
		{ RBX - 4, 4, L }) \
	ROW(132, "vgatherdps xmm1, [rbx+xmm2*8+1], xmm3", \
		{ RBX + 33, 4, L }, \
		{ RBX - 7, 4, L }) \
	ROW(133, "vpgatherdq zmm1{k1}, [rbx+ymm2*8]", \
		{ RBX + 32, 8, L }, \
		{ RBX, 8, L }, \
		{ RBX + 16, 8, L }) \
	ROW(134, "vpgatherqd ymm1{k2}, [rbx+zmm2*4]", { RBX + 16, 4, L }) \
	ROW(135, "vscatterdps [rbx+zmm2*4]{k1}, zmm3", \
		{ RBX + 16, 4, S }, \
		{ RBX, 4, S }, \
		{ RBX + 8, 4, S }) \
	ROW(136, "vpgatherdd zmm1{k3}, [rbx+zmm2*4]", { 0, 0, 0 }) \
	ROW(137, "kmovq k1, [rbx]", { RBX, 8, L }) \
	ROW(138, "kmovw [rbx], k1", { RBX, 2, S }) \
	ROW(139, "vzeroupper", { 0, 0, 0 }) \
	ROW(140, "fld tbyte ptr [rbx]", { RBX, 10, L }) \
	ROW(141, "fstp qword ptr [rbx]", { RBX, 8, S }) \
	ROW(142, "fild word ptr [rbx]", { RBX, 2, L }) \
	ROW(143, "fadd dword ptr [rbx]", { RBX, 4, L }) \
	ROW(144, "fldcw [rbx]", { RBX, 2, L }) \
	ROW(145, "fnstcw [rbx]", { RBX, 2, S }) \
	ROW(146, "fnstsw ax", { 0, 0, 0 }) \
	ROW(147, "fnstenv [rbx]", { RBX, 28, S }) \
	ROW(148, "fldenv [rbx]", { RBX, 28, L }) \
	ROW(149, "fnsave [rbx]", { RBX, 108, S }) \
	ROW(150, "frstor [rbx]", { RBX, 108, L }) \
	ROW(151, "fbstp [rbx]", { RBX, 10, S }) \
	ROW(152, "fxsave [rbx]", { RBX, 512, S }) \
	ROW(153, "fxrstor [rbx]", { RBX, 512, L }) \
	ROW(154, "xsave [rbx]", { RBX, ANY_LEN, S }) \
	ROW(155, "xsavec [rbx]", { RBX, ANY_LEN, S }) \
	ROW(156, "xrstor [rbx]", { RBX, ANY_LEN, L }) \
	ROW(157, "movq mm1, [rbx]", { RBX, 8, L }) \
	ROW(158, "paddb mm1, [rbx]", { RBX, 8, L }) \
	ROW(159, "movntq [rbx], mm1", { RBX, 8, S }) \
	ROW(160, "movdir64b rax, [rbx]", { RBX, 64, L }, { RAX, 64, S }) \
	ROW(161, "movdiri [rbx], eax", { RBX, 4, S }) \
	ROW(162, "clzero", { RAX, 64, S }) \
	ROW(163, "mov [rbx], ds", { RBX, 2, S })
/* clang-format on */

#endif
