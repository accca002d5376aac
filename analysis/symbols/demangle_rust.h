/* SPDX-License-Identifier: MIT */
/*
 * demangle_rust - names of Rust's mangling scheme v0, RFC 2603
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_DEMANGLE_RUST_H
#define COMDET_ANALYSIS_SYMBOLS_DEMANGLE_RUST_H

/*
 * @name, which begins with "_R", as a path of Rust without the hashes of
 * crates: "core::ptr::write::<u8>". NULL if it is not of this scheme, or longer
 * than such a name should be. The caller frees it.
 */
char *demangle_rust(const char *name);

#endif
