/* SPDX-License-Identifier: MIT */
/*
 * shared_word - atomic access to words of memory that others lay out
 *
 * Words of the .cdp file and of the kernel's ring are plain integers of a
 * format: _Atomic in these structs would make each copy of one an atomic
 * access, and the kernel's header is not ours. So such words, and only these,
 * are accessed through the compiler's builtins, which take the word's address.
 * Everything else is C11's _Atomic.
 *
 * They are macros because the kernel's 64-bit type is not uint64_t. @at is the
 * address of an aligned word of 4 or 8 bytes. Context: any.
 */
#ifndef COMDET_BASE_SHARED_WORD_H
#define COMDET_BASE_SHARED_WORD_H

#define shared_load(at)         __atomic_load_n(at, __ATOMIC_RELAXED)
#define shared_load_acquire(at) __atomic_load_n(at, __ATOMIC_ACQUIRE)
#define shared_store(at, word)  __atomic_store_n(at, word, __ATOMIC_RELAXED)
#define shared_store_release(at, word)                                         \
	__atomic_store_n(at, word, __ATOMIC_RELEASE)

/* Add @n, where several threads add. Returns the word before. */
#define shared_add(at, n) __atomic_fetch_add(at, n, __ATOMIC_RELAXED)

/*
 * If the word equals *@old, set it to @new with release order and return true.
 * Else copy the word to *@old and return false.
 */
#define shared_swap_release(at, old, new)                                      \
	__atomic_compare_exchange_n(at, old, new, false, __ATOMIC_RELEASE,     \
				    __ATOMIC_RELAXED)

#endif
