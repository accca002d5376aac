/* SPDX-License-Identifier: MIT */
/*
 * board - a model of one slot of the bulletin board (src/engine/board.c)
 *
 * Two publishers write the slot while a reader copies it. The first publisher
 * may be interrupted between any two of its steps by a handler on its own
 * thread that publishes and reads too: until the handler has ended, the
 * publisher does not go on. The words are stored, and loaded, in every order,
 * as relaxed atomics may be between the fences.
 *
 * Claims:
 * - a reader that reports an entry reports all words of one publication, and
 *   one that was complete;
 * - two publishers never write at the same time;
 * - nobody waits: from every state every process runs to its end, which for
 *   the handler means that it does not need the publisher it interrupted.
 *
 * Spin explores interleavings of atomic steps, each seen by all at once. That
 * the steps cannot be seen in another order than (A) to (E) allow is the
 * subject of docs/memory-model.md; the broken variants show what happens where
 * one of them is left out:
 *
 *   NO_RECHECK     the reader does not look at the sequence again
 *   NO_FIRST_LOOK  the reader does not mind an odd sequence
 *   NO_EXCLUSION   a publisher makes the sequence odd without looking
 *   EARLY_EVEN     (C) is missing: the number may overtake a word
 *   LATE_ODD       (B) is missing: a word may overtake the odd number
 *   EARLY_RECHECK  (E) is missing: the second look may overtake a word
 *   WAITS          a publisher that finds the slot busy tries again
 *
 * And two that claim too much, to show that the model gets that far:
 *
 *   NEVER_READ     no reader ever reports an entry
 *   NEVER_BUSY     a handler never finds the slot that it interrupted
 */
#define WORDS 3
#define NONE 0

/* Ids of publications: both publishers, and the handler's. */
#define FIRST 1
#define SECOND 2
#define HANDLER 3

byte sequence = 0;	/* even: whole */
byte word[WORDS];	/* the publication that each word is of */
byte writing = 0;	/* publishers between (A) and (C) */
bool complete[4];	/* publications whose (C) is done */
bool handler_wanted = false, handler_done = false;

/* One word in any order: each not yet done may be next. */
inline store_word(done, id)
{
	if
	:: !(done & 1) -> word[0] = id; done = done | 1
	:: !(done & 2) -> word[1] = id; done = done | 2
	:: !(done & 4) -> word[2] = id; done = done | 4
	fi
}

/*
 * An interruption: the handler runs from its start to its end before the
 * publisher makes another step. It comes once, between any two steps.
 */
inline interruptible(is_interrupted)
{
	if
	:: is_interrupted && !handler_wanted ->
		handler_wanted = true;
		handler_done	/* blocks until the handler has ended */
	:: skip
	fi
}

inline publish(id, is_interrupted)
{
	byte seen = 0, done = 0;
	bool ours = false;

	interruptible(is_interrupted);
#ifdef WAITS
	do
	:: atomic { !(sequence & 1) -> seen = sequence }; break
	od;
#else
	seen = sequence;
#endif
	if
#ifndef NO_EXCLUSION
	:: seen & 1 ->	/* -EBUSY */
#ifdef NEVER_BUSY
		assert(id != HANDLER);
#endif
		skip
	:: !(seen & 1) ->
#else
	:: true ->
#endif
		interruptible(is_interrupted);
#ifdef LATE_ODD
		if
		:: store_word(done, id)
		:: skip
		fi;
#endif
		atomic {	/* (A) */
			if
#ifndef NO_EXCLUSION
			:: sequence != seen -> skip
			:: sequence == seen ->
#else
			:: true ->
#endif
				sequence = seen + 1;
				ours = true;
				writing++;
				assert(writing == 1)
			fi
		}
	fi;
	if
	:: ours ->
		do
		:: done != 7 ->
			interruptible(is_interrupted);
			store_word(done, id)
#ifdef EARLY_EVEN
		:: done != 7 && done != 0 -> break
#endif
		:: done == 7 -> break
		od;
		interruptible(is_interrupted);
		atomic {	/* (C) */
			complete[id] = true;
			writing--;
			sequence = seen + 2
		}
#ifdef EARLY_EVEN
		;
		do
		:: done != 7 -> store_word(done, id)
		:: done == 7 -> break
		od
#endif
	:: !ours -> skip
	fi
}

/* One word in any order. */
inline load_word(done)
{
	if
	:: !(done & 1) -> copy[0] = word[0]; done = done | 1
	:: !(done & 2) -> copy[1] = word[1]; done = done | 2
	:: !(done & 4) -> copy[2] = word[2]; done = done | 4
	fi
}

inline read(before, after, done, unchanged)
{
	done = 0;
	before = sequence;	/* (D) */
	if
#ifndef NO_FIRST_LOOK
	:: before & 1 -> skip	/* -EBUSY */
	:: !(before & 1) ->
#else
	:: true ->
#endif
		after = before;
		do
		:: done != 7 -> load_word(done)
#ifdef EARLY_RECHECK
		:: done != 7 && done != 0 -> break
#endif
		:: done == 7 -> break
		od;
#ifndef NO_RECHECK
		after = sequence;	/* after (E) */
#endif
		unchanged = (before == after);
#ifdef EARLY_RECHECK
		do
		:: done != 7 -> load_word(done)
		:: done == 7 -> break
		od;
#endif
		if
		:: unchanged ->
			assert(copy[0] == copy[1]);
			assert(copy[1] == copy[2]);
			assert(copy[0] == NONE || complete[copy[0]]);
#ifdef NEVER_READ
			assert(copy[0] == NONE);
#endif
			skip
		:: !unchanged -> skip	/* -EBUSY */
		fi
	fi
}

active proctype publisher()
{
	publish(FIRST, true);
	/* If it was not interrupted by now, it will not be. */
	handler_wanted = true
}

active proctype rival()
{
	publish(SECOND, false)
}

active proctype handler()
{
	byte copy[WORDS];
	byte before, after, done_loads;
	bool unchanged;

	handler_wanted;		/* its only wait: for being called */
	publish(HANDLER, false);
	read(before, after, done_loads, unchanged);
	handler_done = true
}

active proctype reader()
{
	byte copy[WORDS];
	byte before, after, done_loads;
	bool unchanged;

	read(before, after, done_loads, unchanged)
}
