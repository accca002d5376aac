/* SPDX-License-Identifier: MIT */
/*
 * library_code - tell the user's source files from those of libraries
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "library_code.h"

/* Where systems and language distributions keep their sources. */
static const char *const starts[] = {
	"/usr/include/",   "/usr/lib/",      "/usr/lib64/",
	"/usr/local/lib/", "/usr/local/go/", "/usr/local/include/",
	"/usr/share/go-",  "/usr/src/",      "/lib/",
	"/lib64/",         "/rustc/",        "/opt/rh/",
	"/gnu/store/",     "/nix/store/",    "/snap/",
	"/rust/deps/", /* what Rust's standard library depends on */
};

/* The same below a home directory or a prefix of the user's choice. */
static const char *const parts[] = {
	"/.cargo/registry/", "/.cargo/git/", "/.rustup/toolchains/",
	"/lib/rustlib/src/", "/pkg/mod/",    "/include/c++/",
	"/lib/gcc/",         "/lib/clang/",
};

/* The same where the user's environment says that they are. */
static const struct {
	const char *variable, *below;
} homes[] = {
	{ "GOROOT", "" },          { "CARGO_HOME", "/registry/" },
	{ "CARGO_HOME", "/git/" }, { "RUSTUP_HOME", "/toolchains/" },
	{ "GOMODCACHE", "" },
};

static bool is_below_home(const char *file)
{
	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
		const char *home = getenv(homes[i].variable);
		size_t n = home ? strlen(home) : 0;

		while (n && home[n - 1] == '/')
			n--;
		if (n && !strncmp(file, home, n) && file[n] == '/' &&
		    !strncmp(file + n, homes[i].below, strlen(homes[i].below)))
			return true;
	}
	return false;
}

/* Take "DIR/.." out of a path: clang writes /usr/bin/../lib/gcc/... */
static void fold_path(const char *file, char *out, size_t size)
{
	size_t n = 0;

	while (*file && n + 1 < size) {
		if (!strncmp(file, "/../", 4)) {
			while (n && out[--n] != '/')
				;
			file += 3;
		} else {
			out[n++] = *file++;
		}
	}
	out[n] = '\0';
}

bool is_library_code(const char *path)
{
	char file[4096];

	if (!path)
		return false;
	fold_path(path, file, sizeof(file));
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(file, starts[i], strlen(starts[i])))
			return true;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(file, parts[i]))
			return true;
	return is_below_home(file);
}

bool is_library_place(const struct place *p)
{
	static const char *const modules[] = {
		"libc.so",      "libc-",        "ld-linux-x86-64.so",
		"libpthread",   "libm.so",      "libgomp.so",
		"libomp.so",    "libiomp5.so",  "libtbb",
		"libstdc++.so", "libc++.so",    "libgcc_s.so",
		"libatomic.so", "libjemalloc.", "libtcmalloc",
		"libmimalloc.", "libcomdet",    "[vdso]"
	};
	const char *slash = p->module ? strrchr(p->module, '/') : NULL;
	const char *module = slash ? slash + 1 : p->module ? p->module : "";

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (!strncmp(module, modules[i], strlen(modules[i])))
			return true;
	return is_library_code(p->file);
}
