/*
 * text_known.h - a line that was read before is not read again.
 *
 * Logs repeat themselves: what a line means is remembered with its bytes. A line in which NCCL's
 * header stands is remembered in two parts, the bytes up to the message (who speaks) and those of
 * the message (what it says), so that each rank's first "Connected all rings" is known from
 * another's. Whatever depends on more than these bytes - the speaker's communicator, a traceback
 * that is open - is looked up when the line is taken. What is remembered never changes a row: it
 * only saves the search.
 */
#ifndef HS_PARSERS_TEXT_KNOWN_H
#define HS_PARSERS_TEXT_KNOWN_H

#include "base/limits.h"
#include "parsers/nccl_log.h"

/* What the bytes of a line say of where it may be known: a line that is looked up is looked at
 * before, wherever there is time. */
struct hs_look {
    uint32_t begin, bytes; /* in its chunk, without its \n */
    uint32_t head_bytes;   /* up to the message behind NCCL's header; 0: there is none */
    uint32_t hash, message_hash;
};

struct hs_looks {
    uint32_t count;
    struct hs_look lines[HS_LOOKS_MAX];
};

void hs_known_look(struct hs_str line, struct hs_look *out);

struct hs_known *hs_known_new(void); /* NULL without memory */
void hs_known_free(struct hs_known *known);

/*
 * Take a physical line (without its end) that is known. One that is new is read as ever, with
 * hs_known_note_*() called on the way, and then hs_known_learn().
 */
enum hs_known_line { HS_LINE_NEW, HS_LINE_TAKEN, HS_LINE_FAILED /* no memory */ };
enum hs_known_line hs_known_take(struct hs_text *text, struct hs_str line,
                                 const struct hs_look *look);
void hs_known_learn(struct hs_text *text);

/* What the line is and means, in order. */
void hs_known_note_record(struct hs_text *text, const struct hs_record *record);
void hs_known_note_count(struct hs_text *text);
void hs_known_note_fact(struct hs_text *text, uint32_t name, uint32_t value);
void hs_known_note_event(struct hs_text *text, uint32_t family, uint32_t args);
void hs_known_note_link(struct hs_text *text, const struct hs_said_link *link);

/* A family whose taker does more: it is called again each time. What it does is not noted by
 * itself: true when notes wait for hs_known_go_on(). */
bool hs_known_note_found(struct hs_text *text, const struct hs_found *found);
void hs_known_go_on(struct hs_text *text);

#endif
