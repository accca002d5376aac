/* SPDX-License-Identifier: MIT */
/*
 * test_record - which programs record accepts, and which options
 *
 * ELF files are written by hand, with one property wrong at a time.
 */
#include <elf.h>

#include "analysis/symbols/elf_inspect.h"
#include "analysis/record/options.h"
#include "tests/run_verb.h"
#include "src/pmu/plan.h"
#include "src/pmu/machine.h"
#include "tests/run_suite.h"

static char path[128];

struct elf_file {
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	char interp[128];
};

/* The first headers of a dynamic x86-64 program of glibc. */
static struct elf_file good_elf(void)
{
	struct elf_file f = {
		.eh = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				     ELFDATA2LSB, EV_CURRENT },
			.e_type = ET_DYN,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(Elf64_Ehdr),
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_phentsize = sizeof(Elf64_Phdr),
			.e_phnum = 1,
		},
		.ph = {
			.p_type = PT_INTERP,
			.p_offset = offsetof(struct elf_file, interp),
		},
		.interp = "/lib64/ld-linux-x86-64.so.2",
	};

	f.ph.p_filesz = strlen(f.interp) + 1;
	return f;
}

static void write_file(const void *content, size_t bytes, int mode)
{
	int fd;

	snprintf(path, sizeof(path), "%s/program", sandbox);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, content, bytes), bytes);
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
}

static void expect(const char *name, enum program_kind kind, const char *words)
{
	static struct program p;

	program_inspect(&p, name);
	ck_assert_msg(p.kind == kind, "%s: kind %d, '%s'", name, p.kind, p.why);
	ck_assert_msg(strstr(p.why, words) != NULL, "'%s' not in '%s'", words,
		      p.why);
	ck_assert_ptr_null(strchr(p.why, '\n'));
}

START_TEST(a_dynamic_program_fits)
{
	struct elf_file f = good_elf();

	write_file(&f, sizeof(f), 0755);
	expect(path, PROGRAM_FITS, "");
	expect("/bin/sh", PROGRAM_FITS, "");
	expect("sh", PROGRAM_FITS, "");
	expect("/proc/self/exe", PROGRAM_FITS, "");
	/* A loader that is started by hand loads the preload library too. */
	expect("/lib64/ld-linux-x86-64.so.2", PROGRAM_FITS, "");
}
END_TEST

enum flaw {
	STATIC,
	STATIC_PIE,
	BITS_32,
	ARM,
	BIG_ENDIAN_FILE,
	OBJECT_FILE,
	CUT,
	NO_HEADERS,
	MUSL,
	LOADER_ABSENT,
	INTERP_UNENDED,
	NOT_EXECUTABLE,
	FLAWS
};

static const struct {
	enum program_kind kind;
	const char *words;
} flaws[FLAWS] = {
	[STATIC] = { PROGRAM_NO_PRELOAD, "statically linked" },
	[STATIC_PIE] = { PROGRAM_NO_PRELOAD, "statically linked" },
	[BITS_32] = { PROGRAM_CANNOT_RUN, "32-bit x86" },
	[ARM] = { PROGRAM_CANNOT_RUN, "64-bit ARM" },
	[BIG_ENDIAN_FILE] = { PROGRAM_CANNOT_RUN, "another machine" },
	[OBJECT_FILE] = { PROGRAM_CANNOT_RUN, "link it first" },
	[CUT] = { PROGRAM_CANNOT_RUN, "cut short" },
	[NO_HEADERS] = { PROGRAM_CANNOT_RUN, "damaged" },
	[MUSL] = { PROGRAM_NO_PRELOAD, "musl" },
	[LOADER_ABSENT] = { PROGRAM_CANNOT_RUN, "does not exist" },
	[INTERP_UNENDED] = { PROGRAM_CANNOT_RUN, "damaged" },
	[NOT_EXECUTABLE] = { PROGRAM_CANNOT_RUN, "not executable" },
};

START_TEST(one_flaw_is_named_and_decides)
{
	struct elf_file f = good_elf();
	size_t bytes = sizeof(f);
	int mode = 0755;

	switch ((enum flaw)_i) {
	case STATIC:
		f.eh.e_type = ET_EXEC;
		f.ph.p_type = PT_LOAD;
		break;
	case STATIC_PIE:
		f.ph.p_type = PT_DYNAMIC;
		break;
	case BITS_32:
		f.eh.e_ident[EI_CLASS] = ELFCLASS32;
		f.eh.e_machine = EM_386;
		break;
	case ARM:
		f.eh.e_machine = EM_AARCH64;
		break;
	case BIG_ENDIAN_FILE:
		f.eh.e_ident[EI_DATA] = ELFDATA2MSB;
		break;
	case OBJECT_FILE:
		f.eh.e_type = ET_REL;
		break;
	case CUT:
		bytes = 40;
		break;
	case NO_HEADERS:
		f.eh.e_phoff = 1 << 20;
		break;
	case MUSL:
		strcpy(f.interp, "/lib/ld-musl-x86_64.so.1");
		break;
	case LOADER_ABSENT:
		strcpy(f.interp, "/lib64/ld-linux-x86-64.so.9");
		break;
	case INTERP_UNENDED:
		f.ph.p_filesz--;
		break;
	case NOT_EXECUTABLE:
		mode = 0644;
		break;
	default:
		break;
	}
	if (_i == MUSL || _i == LOADER_ABSENT)
		f.ph.p_filesz = strlen(f.interp) + 1;
	write_file(&f, bytes, mode);
	expect(path, flaws[_i].kind, flaws[_i].words);
}
END_TEST

/* The loader's name is the last part of the path, whatever the folder. */
START_TEST(a_loader_in_a_folder_of_glibcs_name_is_not_glibcs)
{
	struct elf_file f = good_elf();
	char dir[96];
	int n;

	snprintf(dir, sizeof(dir), "%s/ld-linux-x86-64.so.2", sandbox);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	n = snprintf(f.interp, sizeof(f.interp), "%s/ld", dir);
	ck_assert_int_lt(n, sizeof(f.interp));
	ck_assert_int_eq(symlink("/bin/true", f.interp), 0);
	f.ph.p_filesz = n + 1;
	write_file(&f, sizeof(f), 0755);
	expect(path, PROGRAM_NO_PRELOAD, "not glibc's");
}
END_TEST

START_TEST(privilege_is_named)
{
	struct elf_file f = good_elf();

	if (getuid())
		return; /* not allowed to change a file's owner */
	write_file(&f, sizeof(f), 0755);
	ck_assert_int_eq(chown(path, 1, 1), 0);
	ck_assert_int_eq(chmod(path, _i ? 02755 : 04755), 0);
	expect(path, PROGRAM_NO_PRELOAD, _i ? "setgid" : "setuid");
	/* If exec changes no identity, nothing is ignored. */
	ck_assert_int_eq(chown(path, 0, 0), 0);
	ck_assert_int_eq(chmod(path, _i ? 02755 : 04755), 0);
	expect(path, PROGRAM_FITS, "");
}
END_TEST

START_TEST(a_script_is_as_good_as_its_interpreter)
{
	static const struct {
		const char *text;
		enum program_kind kind;
		const char *words;
	} scripts[] = {
		{ "#!/bin/sh\nexit 0\n", PROGRAM_FITS, "" },
		{ "#! /bin/sh -e", PROGRAM_FITS, "" },
		{ "#!/usr/bin/env sh\n", PROGRAM_FITS, "" },
		{ "#!/no/such/interpreter\n", PROGRAM_CANNOT_RUN,
		  "its interpreter /no/such/interpreter" },
		{ "#!\n", PROGRAM_CANNOT_RUN, "names no interpreter" },
		{ "#!/\n", PROGRAM_CANNOT_RUN, "a directory" },
		{ "exit 0\n", PROGRAM_FITS, "" },
	};
	static struct program p;

	write_file(scripts[_i].text, strlen(scripts[_i].text), 0755);
	expect(path, scripts[_i].kind, scripts[_i].words);
	program_inspect(&p, path);
	ck_assert_int_eq(p.shell, scripts[_i].text[0] != '#');
}
END_TEST

START_TEST(a_script_that_interprets_itself_ends)
{
	char text[256];

	write_file("", 0, 0755); /* to get its path */
	snprintf(text, sizeof(text), "#!%s\n", path);
	write_file(text, strlen(text), 0755);
	expect(path, PROGRAM_CANNOT_RUN, "names no interpreter");
}
END_TEST

START_TEST(what_is_not_there_is_not_found)
{
	expect("/no/such/program", PROGRAM_NOT_FOUND, "/no/such/program");
	expect("no-such-program-anywhere", PROGRAM_NOT_FOUND, "PATH");
	expect("/etc/passwd/x", PROGRAM_NOT_FOUND, "");
	expect("", PROGRAM_NOT_FOUND, "");
	expect("/", PROGRAM_CANNOT_RUN, "a directory");
	expect("/dev/null", PROGRAM_CANNOT_RUN, "not executable");
}
END_TEST

static const struct {
	const char *args[6]; /* after "record" */
	const char *says;
} refused[] = {
	{ { "-m", "shared", "true" }, "-m shared (COMDET_MODE) needs the" },
	{ { "-sclock", "-mglobal", "true" }, "needs the source emu or instr" },
	{ { "-m", "comm,shared", "true" }, "needs the source emu or instr" },
	{ { "-sinstr", "-mcomm,shared", "--watch=hw", "true" },
	  "needs --watch sw" },
	{ { "-sinstr", "--topology", "x" }, "needs -m shared or global" },
	{ { "-m", "nonsense", "true" }, "there is no 'nonsense'" },
	{ { "-sinstr", "-p", "99", "true" }, "-p must be a whole number" },
	{ { "-sinstr", "-F", "100", "true" }, "needs the source clock" },
	{ { "-sinstr", "--slice", "100", "true" }, "needs the source emu" },
	{ { "-semu", "-p", "99", "true" }, "-p must be a whole number" },
	{ { "-semu", "-F", "100", "true" }, "needs the source clock" },
	{ { "-semu", "--slice", "x", "true" }, "--slice must be a whole" },
	{ { "-semu", "--pmu", "x", "true" }, "--pmu is pebs or ibs" },
	{ { "-semu", "--place", "x", "true" }, "--place is compact" },
	{ { "-semu", "-mreuse", "-p0", "true" }, "needs some, or --exact" },
	{ { "-sinstr", "-mglobal", "-p0", "true" }, "-m global needs some" },
	{ { "-sinstr", "-mreuse", "--exact", "true" },
	  "counts transfers, not reuses" },
	{ { "-sinstr", "-mreuse,shared", "--watch=hw", "true" },
	  "-m reuse,shared (COMDET_MODE) needs --watch sw" },
	{ { "-sinstr", "-mreuse", "--watch=hw", "--slots=9", "true" },
	  "each register has one use" },
	{ { "-sinstr", "-mreuse", "--watch=hw", "--granularity=line", "true" },
	  "a debug register has 8 bytes" },
	{ { "--slice", "100", "true" }, "needs the source emu" },
	{ { "--algorithm", "chain", "true" }, "needs the source emu" },
	{ { "-s", "import", "true" }, "use the verb reusetrack import" },
	{ { "-s", "clock,emu", "true" }, "takes one source" },
	{ { "--ldlat", "30", "true" }, "needs the source pebs" },
	{ { "-e", "loads=81d0", "true" }, "needs the source pebs" },
	{ { "-e", "INST_RETIRED.ANY", "true" }, "counts loads or stores" },
	{ { "-e", "loads=81d0,loads=82d0", "true" }, "one event of loads" },
	{ { "--ldlat", "70000", "true" }, "--ldlat must be a whole number" },
	{ { "-s", "x", "true" }, "there is no 'x'" },
	{ { "-F", "0", "true" }, "-F must be a whole number from 1 to 20000" },
	{ { "--budget", "0", "true" }, "--budget must be a percentage" },
	{ { "--budget", "101", "true" }, "--budget must be a percentage" },
	{ { "--budget", "1%", "true" }, "--budget must be a percentage" },
	{ { "--budget", "1", "-F", "9", "true" }, "give one of them" },
	{ { "--budget", "1", "-m", "reuse", "true" }, "leave out -m reuse" },
	{ { "--budget", "1", "-semu", "true" }, "needs the source clock" },
	{ { "-F", "1e3", "true" }, "-F must be a whole number" },
	{ { "-F", "20001", "true" }, "-F must be a whole number" },
	{ { "-p", "1000", "true" }, "set the rate with -F HZ" },
	{ { "--registers", "5", "true" }, "from 0 to 4" },
	{ { "--registers", "-1", "true" }, "from 0 to 4" },
	{ { "--algorithm", "best", "true" }, "use comdetective" },
	{ { "--topology", "x", "true" }, "needs the source emu" },
	{ { "--exact", "true" }, "needs the source emu or instr" },
	{ { "--watch", "sw", "true" }, "needs the source instr" },
	{ { "--watch", "hw,sw", "true" }, "--watch is hw or sw" },
	{ { "-semu", "--watch", "hw", "true" }, "which emu simulates" },
	{ { "--delay", "-2", "true" }, "--delay must be seconds" },
	{ { "--duration", "nan", "true" }, "--duration must be seconds" },
	{ { "--frob", "true" }, "no option '--frob'" },
	{ { "-Z5", "true" }, "no option '-Z'" },
	{ { "--children=1", "true" }, "'--children' takes no value" },
	{ { "--output=x", "-C5", "true" }, "no option '-C'" },
	{ { "-m", "comm,comm", "true" }, "comm is given twice" },
	{ { "-o" }, "'-o' needs a value" },
	{ { "-o", "", "true" }, "-o needs a value" },
	{ { NULL }, "which program?" },
	{ { "--" }, "which program?" },
};

START_TEST(a_pipe_as_topology_is_refused_without_waiting)
{
	char pipe_path[128];
	struct verb v;

	snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", sandbox);
	ck_assert_int_eq(mkfifo(pipe_path, 0600), 0);
	setenv("COMDET_QEMU_LIB", "/proc/self/exe", 1); /* any that exists */
	for (int i = 0; i < 2; i++) {
		v = VERB(cmd_record, "record", "-semu", "--topology",
			 i ? "/dev/zero" : pipe_path, "true");
		ck_assert_int_eq(v.status, 125);
		ASSERT_SAYS(v.err, "not a regular file");
		verb_free(&v);
	}
}
END_TEST

/* No processor has both sources, and without a PMU there is neither. */
START_TEST(hardware_that_is_not_there_is_refused_with_the_reason)
{
	struct pmu_machine m;
	struct verb v;

	pmu_machine_look(&m, &perf_kernel_linux);
	v = VERB(cmd_record, "record", "-s",
		 m.vendor == PMU_VENDOR_INTEL ? "ibs" : "pebs", "true", NULL);
	ck_assert_int_eq(v.status, 125);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ASSERT_SAYS(v.err, "cannot be used here: ");
	ASSERT_SAYS(v.err, m.vendor == PMU_VENDOR_INTEL ? "no AMD processor"
							: "no Intel processor");
	verb_free(&v);
}
END_TEST

START_TEST(what_cannot_be_is_refused_in_one_line_with_125)
{
	const char *const *a = refused[_i].args;
	struct verb v =
		VERB(cmd_record, "record", a[0], a[1], a[2], a[3], a[4], a[5]);

	ck_assert_int_eq(v.status, 125);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ASSERT_SAYS(v.err, refused[_i].says);
	verb_free(&v);
}
END_TEST

static const struct {
	const char *name, *value;
} bad_twins[] = {
	{ "COMDET_MODE", "shared" }, { "COMDET_SOURCE", "x" },
	{ "COMDET_FREQ", "fast" },   { "COMDET_PERIOD", "5" },
	{ "COMDET_REGISTERS", "9" }, { "COMDET_CHILDREN", "yes" },
	{ "COMDET_DELAY", "soon" },  { "COMDET_DURATION", "-1" },
	{ "COMDET_EXACT", "1" },     { "COMDET_TOPOLOGY", "x" },
	{ "COMDET_WATCH", "sw" },    { "COMDET_ALGORITHM", "x" },
};

START_TEST(a_bad_twin_is_refused_like_its_option)
{
	struct verb v;

	setenv(bad_twins[_i].name, bad_twins[_i].value, 1);
	v = VERB(cmd_record, "record", "true");
	ck_assert_int_eq(v.status, 125);
	ck_assert_int_eq(verb_lines(v.err), 1);
	ASSERT_SAYS(v.err, bad_twins[_i].name);
	verb_free(&v);
}
END_TEST

START_TEST(an_option_becomes_its_twin)
{
	char *argv[] = { "record", "-F",         "100",     "--registers",
			 "2",      "--children", "--delay", "0.5",
			 "-o",     "some where", "--",      "prog",
			 "-F",     "7",          NULL };

	setenv("COMDET_FREQ", "900", 1);
	ck_assert_int_eq(record_options(14, argv, ""), 11);
	ck_assert_str_eq(getenv("COMDET_FREQ"), "100");
	ck_assert_str_eq(getenv("COMDET_REGISTERS"), "2");
	ck_assert_str_eq(getenv("COMDET_CHILDREN"), "1");
	ck_assert_str_eq(getenv("COMDET_DELAY"), "0.5");
	ck_assert_str_eq(getenv("COMDET_OUT"), "some where");
}
END_TEST

/* Options end at the program's name even without "--". */
START_TEST(options_of_the_program_are_the_programs)
{
	char *argv[] = { "record", "prog", "-F", "0", "--exact", NULL };

	ck_assert_int_eq(record_options(5, argv, ""), 1);
	ck_assert_ptr_null(getenv("COMDET_FREQ"));
}
END_TEST

#define LENGTH(array) ((int)(sizeof(array) / sizeof(array[0])))

int main(void)
{
	Suite *suite = suite_create("record");
	TCase *t = tcase_create("record");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_dynamic_program_fits);
	tcase_add_loop_test(t, one_flaw_is_named_and_decides, 0, FLAWS);
	tcase_add_test(t, a_loader_in_a_folder_of_glibcs_name_is_not_glibcs);
	tcase_add_loop_test(t, privilege_is_named, 0, 2);
	tcase_add_loop_test(t, a_script_is_as_good_as_its_interpreter, 0, 7);
	tcase_add_test(t, a_script_that_interprets_itself_ends);
	tcase_add_test(t, what_is_not_there_is_not_found);
	tcase_add_test(t, a_pipe_as_topology_is_refused_without_waiting);
	tcase_add_test(t,
		       hardware_that_is_not_there_is_refused_with_the_reason);
	tcase_add_loop_test(t, what_cannot_be_is_refused_in_one_line_with_125,
			    0, LENGTH(refused));
	tcase_add_loop_test(t, a_bad_twin_is_refused_like_its_option, 0,
			    LENGTH(bad_twins));
	tcase_add_test(t, an_option_becomes_its_twin);
	tcase_add_test(t, options_of_the_program_are_the_programs);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
