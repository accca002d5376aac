/* SPDX-License-Identifier: MIT */
/*
 * test_elf_image - build-ids and code out of ELF files that may lie
 */
#include <check.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/rng.h"
#include "src/maps/elf_image.h"
#include "tests/run_suite.h"

enum {
	ID_BYTES = 20,
	ID_AT = 0x400,   /* of the notes */
	NEAR_AT = 0x300, /* where linkers put them */
};

/* A file: two notes, of which the second is the build-id, and two segments. */
struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	uint8_t gap[ID_AT - sizeof(Elf64_Ehdr) - 3 * sizeof(Elf64_Phdr)];
	struct {
		Elf64_Nhdr nh;
		char name[8]; /* "Linux", padded */
		uint8_t desc[8];
	} other;
	struct {
		Elf64_Nhdr nh;
		char name[4];
		uint8_t desc[ID_BYTES];
	} id;
};

static struct file file;
static uint32_t reads;

static int read_file(void *ctx, uint64_t at, void *buf, size_t n)
{
	const struct elf_image *elf = ctx;

	ck_assert_uint_le(n, elf->bytes);
	ck_assert_uint_le(at, elf->bytes - n);
	memcpy(buf, (const char *)&file + at, n);
	reads++;
	return 0;
}

static struct elf_image *image(uint64_t bytes)
{
	static struct elf_image elf;

	elf = (struct elf_image){ read_file, &elf, bytes };
	return &elf;
}

static void make_file(void)
{
	memset(&file, 0, sizeof(file));
	memcpy(file.eh.e_ident, ELFMAG, SELFMAG);
	file.eh.e_ident[EI_CLASS] = ELFCLASS64;
	file.eh.e_phoff = offsetof(struct file, ph);
	file.eh.e_phentsize = sizeof(Elf64_Phdr);
	file.eh.e_phnum = 3;
	file.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R,
				   .p_filesz = 0x1000 };
	file.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_offset = 0x1000,
				   .p_filesz = 0x800 };
	file.ph[2] = (Elf64_Phdr){
		.p_type = PT_NOTE,
		.p_offset = offsetof(struct file, other),
		.p_filesz = sizeof(file.other) + sizeof(file.id),
	};
	file.other.nh = (Elf64_Nhdr){ 6, 5, NT_GNU_ABI_TAG };
	memcpy(file.other.name, "Linux", 6);
	file.id.nh = (Elf64_Nhdr){ 4, ID_BYTES, NT_GNU_BUILD_ID };
	memcpy(file.id.name, "GNU", 4);
	for (int i = 0; i < ID_BYTES; i++)
		file.id.desc[i] = (uint8_t)(0xa0 + i);
}

static uint8_t build_id(uint8_t *id)
{
	memset(id, 0, BUILD_ID_MAX_BYTES);
	return elf_image_build_id(image(sizeof(file)), id);
}

START_TEST(the_build_id_is_found_behind_another_note)
{
	uint8_t id[BUILD_ID_MAX_BYTES];

	make_file();
	ck_assert_uint_eq(build_id(id), ID_BYTES);
	ck_assert_mem_eq(id, file.id.desc, ID_BYTES);
	file.id.nh.n_descsz = 8; /* as short as lld's fast one */
	ck_assert_uint_eq(build_id(id), 8);
}
END_TEST

/* In a process that starts, each read is a system call for each library. */
START_TEST(the_build_id_takes_one_read_where_linkers_put_it)
{
	uint8_t id[BUILD_ID_MAX_BYTES];

	make_file();
	file.ph[2].p_offset = NEAR_AT;
	memcpy((char *)&file + NEAR_AT, &file.other,
	       sizeof(file.other) + sizeof(file.id));
	reads = 0;
	ck_assert_uint_eq(build_id(id), ID_BYTES);
	ck_assert_uint_eq(reads, 1);
}
END_TEST

static void not_elf(void)
{
	file.eh.e_ident[1] = 'e';
}
static void of_32_bits(void)
{
	file.eh.e_ident[EI_CLASS] = ELFCLASS32;
}
static void odd_headers(void)
{
	file.eh.e_phentsize = 32;
}
static void many_segments(void)
{
	file.eh.e_phnum = 65;
}
static void no_segments(void)
{
	file.eh.e_phnum = 0;
}
static void headers_outside(void)
{
	file.eh.e_phoff = sizeof(file);
}
static void headers_wrap(void)
{
	file.eh.e_phoff = UINT64_MAX - 2 * sizeof(Elf64_Phdr);
}
static void notes_outside(void)
{
	file.ph[2].p_offset = sizeof(file) + 1;
}
static void notes_far_outside(void)
{
	file.ph[2].p_offset = UINT64_MAX - 4;
}
static void notes_empty(void)
{
	file.ph[2].p_filesz = 0;
}
static void notes_too_short(void)
{
	file.ph[2].p_filesz--;
}
static void a_huge_name(void)
{
	file.other.nh.n_namesz = UINT32_MAX;
}
static void a_long_name(void)
{
	file.other.nh.n_namesz = 200;
}
static void a_huge_value(void)
{
	file.other.nh.n_descsz = UINT32_MAX;
}
static void a_long_value(void)
{
	file.other.nh.n_descsz = 4000;
}
static void an_id_too_long(void)
{
	file.id.nh.n_descsz = ID_BYTES + 1;
	file.ph[2].p_filesz += 4; /* beyond the file */
}
static void an_empty_id(void)
{
	file.id.nh.n_descsz = 0;
}
static void a_name_not_gnus(void)
{
	file.id.name[0] = 'g';
}

static void (*const lies[])(void) = {
	not_elf,           of_32_bits,      odd_headers,     many_segments,
	no_segments,       headers_outside, headers_wrap,    notes_outside,
	notes_far_outside, notes_empty,     notes_too_short, a_huge_name,
	a_long_name,       a_huge_value,    a_long_value,    an_id_too_long,
	an_empty_id,       a_name_not_gnus,
};

START_TEST(a_file_that_lies_has_no_build_id)
{
	uint8_t id[BUILD_ID_MAX_BYTES];

	make_file();
	lies[_i]();
	ck_assert_uint_eq(build_id(id), 0);
}
END_TEST

START_TEST(a_segment_of_notes_that_claims_too_much_is_read_up_to_the_end)
{
	uint8_t id[BUILD_ID_MAX_BYTES];

	make_file();
	file.ph[2].p_filesz = UINT64_MAX;
	ck_assert_uint_eq(build_id(id), ID_BYTES);
}
END_TEST

START_TEST(a_file_that_is_cut_anywhere_is_not_read_behind_its_end)
{
	uint8_t id[BUILD_ID_MAX_BYTES];

	make_file();
	for (uint64_t n = 0; n < sizeof(file); n++) {
		ck_assert_uint_eq(elf_image_build_id(image(n), id), 0);
		elf_image_has_code(image(n), 0, 0x1000);
	}
}
END_TEST

START_TEST(random_damage_does_no_harm)
{
	uint8_t id[BUILD_ID_MAX_BYTES], *bytes = (uint8_t *)&file;
	struct rng rng;

	rng_seed(&rng, (uint64_t)_i, 0);
	for (int round = 0; round < 20000; round++) {
		make_file();
		for (uint64_t k = 1 + rng_below(&rng, 8); k > 0; k--) {
			uint64_t at = rng_below(&rng, sizeof(file));

			if (at >= sizeof(file.eh) + sizeof(file.ph) &&
			    at < ID_AT)
				at = rng_below(&rng, 8) +
				     offsetof(struct file, id);
			bytes[at] = (uint8_t)rng_below(&rng, 256);
		}
		ck_assert_uint_le(build_id(id), BUILD_ID_MAX_BYTES);
		elf_image_has_code(image(sizeof(file)), 0x1000, 0x2000);
	}
}
END_TEST

START_TEST(code_is_where_an_executable_segment_has_bytes)
{
	const struct elf_image *elf = image(sizeof(file));

	make_file();
	ck_assert(!elf_image_has_code(elf, 0, 0x1000));
	ck_assert(elf_image_has_code(elf, 0, 0x1001));
	ck_assert(elf_image_has_code(elf, 0x1000, 0x2000));
	ck_assert(elf_image_has_code(elf, 0x17ff, 0x2000));
	ck_assert(!elf_image_has_code(elf, 0x1800, 0x2000));
	file.ph[1].p_filesz = UINT64_MAX;
	ck_assert(elf_image_has_code(elf, 0x1800, 0x2000));
	ck_assert(!elf_image_has_code(elf, 0, 0x1000));
	file.ph[1].p_flags = PF_R;
	ck_assert(!elf_image_has_code(elf, 0x1000, 0x2000));
}
END_TEST

static int note_in_memory(struct dl_phdr_info *info, size_t size, void *to)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + ph->p_vaddr);
		const char *end = at + ph->p_memsz;

		while (ph->p_type == PT_NOTE && at < end) {
			const ElfW(Nhdr) *nh = (const void *)at;

			at += sizeof(*nh) + ((nh->n_namesz + 3) & ~3u);
			if (nh->n_type == NT_GNU_BUILD_ID) {
				memcpy(to, at, nh->n_descsz);
				return (int)nh->n_descsz;
			}
			at += (nh->n_descsz + 3) & ~3u;
		}
	}
	return -1; /* the first is this program */
}

START_TEST(our_own_file_has_the_build_id_that_the_linker_mapped)
{
	uint8_t id[BUILD_ID_MAX_BYTES], mapped[BUILD_ID_MAX_BYTES];
	int fd = open("/proc/self/exe", O_RDONLY);
	const struct elf_image elf = { elf_image_pread, &fd, UINT64_MAX };
	int n = dl_iterate_phdr(note_in_memory, mapped);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(elf_image_build_id(&elf, id), n > 0 ? n : 0);
	ck_assert(n <= 0 || !memcmp(id, mapped, (size_t)n));
	ck_assert(elf_image_has_code(&elf, 0, UINT64_MAX));
	close(fd);
	ck_assert_uint_eq(elf_image_build_id(&elf, id), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_image");
	TCase *c = tcase_create("files");

	tcase_add_test(c, the_build_id_is_found_behind_another_note);
	tcase_add_test(c, the_build_id_takes_one_read_where_linkers_put_it);
	tcase_add_loop_test(c, a_file_that_lies_has_no_build_id, 0,
			    (int)(sizeof(lies) / sizeof(lies[0])));
	tcase_add_test(
		c,
		a_segment_of_notes_that_claims_too_much_is_read_up_to_the_end);
	tcase_add_test(c,
		       a_file_that_is_cut_anywhere_is_not_read_behind_its_end);
	tcase_add_loop_test(c, random_damage_does_no_harm, 0, 4);
	tcase_add_test(c, code_is_where_an_executable_segment_has_bytes);
	tcase_add_test(c, our_own_file_has_the_build_id_that_the_linker_mapped);
	suite_add_tcase(s, c);
	return run_suite(s);
}
