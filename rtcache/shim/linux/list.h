/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists as the kernel's: circular ones with a head, and those with a head of one pointer. */
#ifndef SHIM_LIST_H
#define SHIM_LIST_H

#include <linux/types.h>

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->next = l->prev = l;
}

static inline void list_add_tail(struct list_head *e, struct list_head *head)
{
	e->next = head;
	e->prev = head->prev;
	head->prev->next = e;
	head->prev = e;
}

static inline void list_del(struct list_head *e)
{
	e->prev->next = e->next;
	e->next->prev = e->prev;
}

static inline void list_move_tail(struct list_head *e, struct list_head *head)
{
	list_del(e);
	list_add_tail(e, head);
}

#define shim_list_entry(node, head, type, member)                                                    \
	((node) == (head) ? NULL : container_of(node, type, member))
#define list_for_each_entry(pos, head, member)                                                       \
	for ((pos) = shim_list_entry((head)->next, head, __typeof__(*(pos)), member); (pos);          \
	     (pos) = shim_list_entry((pos)->member.next, head, __typeof__(*(pos)), member))

#define list_first_entry_or_null(head, type, member) shim_list_entry((head)->next, head, type, member)

static inline void INIT_HLIST_HEAD(struct hlist_head *h)
{
	h->first = NULL;
}

static inline void INIT_HLIST_NODE(struct hlist_node *n)
{
	n->next = NULL;
	n->pprev = NULL;
}

static inline bool hlist_unhashed(const struct hlist_node *n)
{
	return !n->pprev;
}

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	n->pprev = &h->first;
	if (h->first)
		h->first->pprev = &n->next;
	h->first = n;
}

static inline void hlist_del(struct hlist_node *n)
{
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
}

static inline void hlist_del_init(struct hlist_node *n)
{
	hlist_del(n);
	INIT_HLIST_NODE(n);
}

#define shim_hlist_entry(node, type, member) ((node) ? container_of(node, type, member) : NULL)
#define hlist_for_each_entry(pos, head, member)                                                      \
	for ((pos) = shim_hlist_entry((head)->first, __typeof__(*(pos)), member); (pos);              \
	     (pos) = shim_hlist_entry((pos)->member.next, __typeof__(*(pos)), member))

#endif
