/* SPDX-License-Identifier: MIT */
/*
 * signal_safe - include last in a file whose code runs in a signal handler
 *
 * The compiler then refuses the names below, which must not be called there.
 * tests/e2e/check_nm.sh checks the symbols of such files against a list.
 */
#ifndef COMDET_BASE_SIGNAL_SAFE_H
#define COMDET_BASE_SIGNAL_SAFE_H

#pragma GCC poison malloc calloc realloc free strdup asprintf
#pragma GCC poison printf fprintf vfprintf sprintf snprintf vsnprintf puts
#pragma GCC poison fopen fclose fread fwrite fgets
#pragma GCC poison pthread_mutex_lock pthread_mutex_unlock pthread_once
#pragma GCC poison dlopen dlsym dl_iterate_phdr getenv setenv
#pragma GCC poison exit abort assert syslog backtrace localtime strerror

#endif
