/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One error, told once: functions below the boundary return a negative errno and leave the sentence
 * for the user here; only main() prints it. The sentence names the remedy.
 */
#ifndef LIB_ERR_H
#define LIB_ERR_H

struct err {
	char text[384]; /* one line, no newline at the end, never empty after a failure */
};

/*
 * Set the sentence. @code: negative errno. Returns @code, so that callers can write
 * `return err_set(err, -EINVAL, "...")`. @err may be NULL.
 */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Put "fmt: " before the sentence that is there already. Returns @code. */
int err_wrap(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Exit codes of every program here: DESIGN "Results". */
enum { EXIT_OK = 0, EXIT_REQUIRE = 1, EXIT_USAGE = 2, EXIT_RIG = 3 };

#endif
