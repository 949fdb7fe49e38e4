# Loops around one another, as LLVM writes them.
allowed:
	vmovaps	%ymm0, 32(%rsp)
.LBB0_1:
	vmovaps	32(%rsp), %ymm0
.LBB0_2:
	movq	40(%rsp), %rcx
	vmovaps	64(%rsp,%rcx), %ymm3
	vfmadd231ps	%ymm3, %ymm2, %ymm1
	vfmadd231ps	%ymm4, %ymm2, %ymm0
	cmpq	24(%rsp), %rcx
	jg	.LBB0_2
	jmp	.LBB0_1
few:
.LBB1_1:
	vfmadd231ps	32(%rsp), %ymm2, %ymm1
	jne	.LBB1_1
denied:
.LBB2_1:
	vfmadd231ps	%ymm3, %ymm2, %ymm1
	vfmadd231ps	32(%rsp), %ymm2, %ymm0
	vmovaps	%ymm0, 32(%rsp)
	jne	.LBB2_1
arm:
.LBB3_1:
	ldp	s16, s4, [x1, #-4]
	fmla	v1.4s, v3.4s, v16.s[0]
	fmla	v2.4s, v3.4s, v16.s[0]
	ldr	x3, [sp, #8]
	ldp	q13, q10, [sp, #608]
	cbnz	x3, .LBB3_1
