/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A flood driven over a control socket: gen's side of docs/protocol.md. */
#ifndef GEN_AGENT_H
#define GEN_AGENT_H

struct err;
struct options;

/*
 * Listen on o->control and do what the controller says, until it says "quit". The socket is gone
 * afterwards. *@code: the exit code. Returns 0, or negative errno with a sentence: the controller
 * went away or fell silent, a signal came, the flood failed.
 */
int agent_run(const struct options *o, int *code, struct err *err);

#endif
