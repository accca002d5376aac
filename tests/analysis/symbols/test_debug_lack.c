/* SPDX-License-Identifier: MIT */
/*
 * test_debug_lack - what the report says of debug information that is missing
 *
 * The files have sections, but no contents: only what is looked at.
 * check_missing_debug.sh has real ones.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/symbols/debug_lack.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

struct contents {
	bool symtab, dwarf;
	const char *link; /* NULL: no debug link */
	uint8_t id;       /* the first byte of the build-id; 0: none */
};

/* The names of sections, and where they begin. */
static const char names[] = "\0.names\0.symtab\0.debug_info\0.gnu_debuglink\0"
			    ".note.gnu.build-id";
enum {
	NAMES = 1,
	SYMTAB = 8,
	INFO = 16,
	LINK = 28,
	ID = 43
};

static Elf_Scn *add_section(Elf *elf, size_t name, unsigned type, void *bytes,
			    size_t n)
{
	Elf_Scn *s = elf_newscn(elf);
	Elf_Data *d = elf_newdata(s);
	Elf64_Shdr *h = elf64_getshdr(s);

	d->d_buf = bytes;
	d->d_size = n;
	d->d_align = 4;
	d->d_version = EV_CURRENT;
	h->sh_name = (Elf64_Word)name;
	h->sh_type = type;
	return s;
}

static void make_elf(const char *path, const struct contents *c)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct {
		Elf64_Nhdr head;
		char owner[4];
		uint8_t id[20];
	} note = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", { c->id, 1, 2, 3 } };
	char none[24] = "", link[32] = "";
	Elf64_Ehdr *head;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	ck_assert_ptr_nonnull(elf);
	head = elf64_newehdr(elf);
	head->e_ident[EI_DATA] = ELFDATA2LSB;
	head->e_machine = EM_X86_64;
	head->e_type = ET_DYN;
	head->e_shstrndx = (Elf64_Half)elf_ndxscn(add_section(
		elf, NAMES, SHT_STRTAB, (void *)names, sizeof(names)));
	if (c->symtab)
		add_section(elf, SYMTAB, SHT_SYMTAB, none, sizeof(none));
	if (c->dwarf)
		add_section(elf, INFO, SHT_PROGBITS, none, sizeof(none));
	if (c->link) {
		/* The name, and after it at a multiple of four a checksum. */
		ck_assert_uint_lt(strlen(c->link), sizeof(link) - 8);
		strcpy(link, c->link);
		add_section(elf, LINK, SHT_PROGBITS, link,
			    (strlen(link) + 4) / 4 * 4 + 4);
	}
	if (c->id)
		add_section(elf, ID, SHT_NOTE, &note, sizeof(note));
	ck_assert_int_gt(elf_update(elf, ELF_C_WRITE), 0);
	elf_end(elf);
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

/* @text, which it frees, is @wanted. */
static void says(char *text, const char *wanted)
{
	ck_assert_str_eq(text, wanted);
	free(text);
}

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(chdir(sandbox), 0);
}

#define NO_LINES "its functions are shown without source lines"
#define NO_SYMBOLS                                                             \
	"no source lines are shown, and only functions that it exports"

START_TEST(a_file_that_is_gone_cannot_be_opened_any_more)
{
	says(debug_lack_all("./prog"), "./prog cannot be opened any more (No "
				       "such file or directory)");
}
END_TEST

START_TEST(a_stripped_file_shows_what_it_exports)
{
	make_elf("prog", &(struct contents){ .id = 7 });
	says(debug_lack_all("prog"),
	     "prog is stripped: " NO_SYMBOLS "; install its debug package, or "
	     "build it with -g and do not strip it");
}
END_TEST

START_TEST(a_symbol_table_shows_functions)
{
	make_elf("prog", &(struct contents){ .symtab = true });
	says(debug_lack_all("prog"),
	     "prog has no debug information: " NO_LINES "; build it with -g");
}
END_TEST

START_TEST(debug_information_that_libdw_did_not_take_cannot_be_read)
{
	make_elf("prog", &(struct contents){ .symtab = true, .dwarf = true });
	says(debug_lack_all("prog"), "the debug information in prog cannot be "
				     "read: " NO_LINES);
}
END_TEST

START_TEST(a_debug_file_that_is_not_there_is_named)
{
	make_elf("prog", &(struct contents){ .link = "prog.debug", .id = 7 });
	says(debug_lack_all("prog"),
	     "prog is stripped, and its debug file prog.debug is not "
	     "here: " NO_SYMBOLS "; install its debug package, put that file "
	     "beside it, or build it with -g");
}
END_TEST

START_TEST(a_debug_file_of_another_build_is_told_by_both_build_ids)
{
	make_elf("prog", &(struct contents){ .symtab = true,
					     .link = "prog.debug",
					     .id = 7 });
	make_elf("prog.debug", &(struct contents){ .dwarf = true, .id = 9 });
	says(debug_lack_all("prog"),
	     "prog.debug is not used, it is the debug file of another build "
	     "than prog (build-id 09010203... instead of "
	     "07010203...): " NO_LINES "; get the debug file of this build, "
	     "or build both again");
	make_elf("prog.debug", &(struct contents){ .dwarf = true });
	says(debug_lack_all("prog"),
	     "prog.debug is not used, it is the debug file of another build "
	     "than prog (build-id none instead of 07010203...): " NO_LINES
	     "; get the debug file of this build, or build both again");
}
END_TEST

START_TEST(without_build_ids_the_checksum_differs)
{
	make_elf("prog", &(struct contents){ .link = "prog.debug" });
	make_elf("prog.debug", &(struct contents){ .dwarf = true });
	says(debug_lack_all("prog"),
	     "prog.debug is not used, it is the debug file of another build "
	     "than prog (its checksum is another one): " NO_SYMBOLS
	     "; get the debug file of this build, or build both again");
}
END_TEST

START_TEST(a_debug_file_without_debug_information_is_no_use)
{
	make_elf("prog", &(struct contents){ .link = "prog.debug" });
	make_elf("prog.debug", &(struct contents){ .symtab = true });
	says(debug_lack_all("prog"),
	     "prog.debug, the debug file of prog, has no debug "
	     "information: " NO_SYMBOLS "; get the debug file of this build, "
	     "or build it with -g");
	write_text("prog.debug", "nothing");
	says(debug_lack_all("prog"),
	     "prog.debug, the debug file of prog, is not an ELF "
	     "file: " NO_SYMBOLS "; get the debug file of this build, or build "
	     "it with -g");
}
END_TEST

START_TEST(a_debug_file_is_found_in_the_folder_debug_too)
{
	make_elf("prog", &(struct contents){ .link = "prog.debug" });
	ck_assert_int_eq(mkdir(".debug", 0700), 0);
	write_text(".debug/prog.debug", "nothing");
	says(debug_lack_all("./prog"),
	     "./.debug/prog.debug, the debug file of ./prog, is not an ELF "
	     "file: " NO_SYMBOLS "; get the debug file of this build, or build "
	     "it with -g");
}
END_TEST

START_TEST(a_part_without_debug_information_has_no_lines)
{
	says(debug_lack_part("prog"),
	     "prog has no debug information about a part of its code: that "
	     "part is shown without source lines; build all of it with -g");
}
END_TEST

#define SHOWN                                                                  \
	"functions and source lines are shown, but no types, members and "     \
	"inlined functions"

START_TEST(split_files_that_are_not_there_are_counted)
{
	static const struct {
		size_t n;
		const char *files, *whose;
	} cases[] = { { 1, "a.dwo", "its" },
		      { 2, "a.dwo and 1 other", "their" },
		      { 3, "a.dwo and 2 others", "their" } };
	char wanted[512];

	snprintf(wanted, sizeof(wanted),
		 "%s, split debug information of prog, not here: of %s code "
		 "%s; keep the .dwo files where the compiler put them",
		 cases[_i].files, cases[_i].whose, SHOWN);
	says(debug_lack_split("prog", "a.dwo", "obj", cases[_i].n), wanted);
}
END_TEST

START_TEST(a_split_file_that_is_there_is_of_another_build)
{
	ck_assert_int_eq(mkdir("obj", 0700), 0);
	write_text("obj/a.dwo", "");
	says(debug_lack_split("prog", "a.dwo", "obj", 1),
	     "obj/a.dwo: not used, of another build than prog: of its "
	     "code " SHOWN "; build it again");
	/* The one beside the program comes first. */
	write_text("a.dwo", "");
	says(debug_lack_split("./prog", "a.dwo", "obj", 3),
	     "./a.dwo and 2 others: not used, of another build than ./prog: of "
	     "their code " SHOWN "; build it again");
}
END_TEST

START_TEST(a_package_of_split_files_is_not_read_or_lacks_them)
{
	static const char unread[] = "prog.dwp is not used, elfutils reads "
				     "such packages from version 0.191 on, "
				     "and this is ",
			  lacks[] = "prog.dwp has no part for a.dwo, it is of "
				    "another build than prog: of its code ";
	bool reads = strverscmp(dwfl_version(NULL), "0.191") >= 0;
	char *text;

	write_text("prog.dwp", "");
	text = debug_lack_split("prog", "a.dwo", "obj", 1);
	ck_assert_msg(strstr(text, reads ? lacks : unread) == text, "%s", text);
	free(text);
}
END_TEST

START_TEST(control_characters_of_a_path_are_not_printed)
{
	says(debug_lack_part("pr\033og"),
	     "pr\\x1bog has no debug information about a part of its code: "
	     "that "
	     "part is shown without source lines; build all of it with -g");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("debug_lack");
	TCase *tcase = tcase_create("texts");

	tcase_add_checked_fixture(tcase, setup, sandbox_teardown);
	tcase_add_test(tcase, a_file_that_is_gone_cannot_be_opened_any_more);
	tcase_add_test(tcase, a_stripped_file_shows_what_it_exports);
	tcase_add_test(tcase, a_symbol_table_shows_functions);
	tcase_add_test(
		tcase,
		debug_information_that_libdw_did_not_take_cannot_be_read);
	tcase_add_test(tcase, a_debug_file_that_is_not_there_is_named);
	tcase_add_test(tcase,
		       a_debug_file_of_another_build_is_told_by_both_build_ids);
	tcase_add_test(tcase, without_build_ids_the_checksum_differs);
	tcase_add_test(tcase, a_debug_file_without_debug_information_is_no_use);
	tcase_add_test(tcase, a_debug_file_is_found_in_the_folder_debug_too);
	tcase_add_test(tcase, a_part_without_debug_information_has_no_lines);
	tcase_add_loop_test(tcase, split_files_that_are_not_there_are_counted,
			    0, 3);
	tcase_add_test(tcase, a_split_file_that_is_there_is_of_another_build);
	tcase_add_test(tcase,
		       a_package_of_split_files_is_not_read_or_lacks_them);
	tcase_add_test(tcase, control_characters_of_a_path_are_not_printed);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
