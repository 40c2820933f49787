/*
 * daemon/mailbox.c - a locked ring and a wake-up.
 */
#include "daemon/mailbox.h"

#include "base/mem.h"
#include "session/edition.h"

#define MAILBOX_FIRST 64

/* What may be many bytes has a limit of its own. */
static size_t
line_bytes(const struct message *message)
{
    bool is_lines =
        message->kind == MESSAGE_SHOW || message->kind == MESSAGE_SEEN ||
        message->kind == MESSAGE_RELAY;

    return is_lines ? message->text_len : 0;
}

static bool
take_one(struct mailbox *mailbox, struct message *message)
{
    bool some;

    pthread_mutex_lock(&mailbox->lock);
    some = mailbox->count > 0;
    if (some) {
        *message = mailbox->ring[mailbox->head];
        mailbox->head = (mailbox->head + 1) % mailbox->cap;
        mailbox->count--;
        mailbox->line_bytes -= line_bytes(message);
    }
    pthread_mutex_unlock(&mailbox->lock);
    return some;
}

static void
on_wakeup(struct wakeup *wakeup, void *arg)
{
    struct mailbox *mailbox = arg;
    struct message message;

    (void)wakeup;
    while (take_one(mailbox, &message)) {
        mailbox->fn(mailbox->arg, &message);
        mem_free(message.text);
    }
}

void
mailbox_init(struct mailbox *mailbox, struct loop *loop, message_fn fn,
             void *arg)
{
    *mailbox = (struct mailbox){.fn = fn, .arg = arg, .cap = MAILBOX_FIRST};
    pthread_mutex_init(&mailbox->lock, NULL);
    mailbox->ring = mem_array(mailbox->cap, sizeof(struct message));
    wakeup_init(&mailbox->wakeup, loop, on_wakeup, mailbox);
}

void
mailbox_fini(struct mailbox *mailbox)
{
    struct message message;

    wakeup_fini(&mailbox->wakeup);
    while (take_one(mailbox, &message)) {
        mem_free(message.text);
        edition_free(&message.edition);
    }
    mem_free(mailbox->ring);
    pthread_mutex_destroy(&mailbox->lock);
}

static void
grow(struct mailbox *mailbox)
{
    uint32_t cap = mailbox->cap * 2;
    struct message *ring = mem_array(cap, sizeof(*ring));

    for (uint32_t i = 0; i < mailbox->count; i++)
        ring[i] = mailbox->ring[(mailbox->head + i) % mailbox->cap];
    mem_free(mailbox->ring);
    mailbox->ring = ring;
    mailbox->cap = cap;
    mailbox->head = 0;
}

bool
mailbox_post(struct mailbox *mailbox, const struct message *message)
{
    size_t lines = line_bytes(message);
    bool posted = false;

    pthread_mutex_lock(&mailbox->lock);
    if (mailbox->count == mailbox->cap && mailbox->cap < MAILBOX_SIZE)
        grow(mailbox);
    if (mailbox->count < mailbox->cap &&
        (lines == 0 || mailbox->line_bytes + lines <= MAILBOX_LINES)) {
        uint32_t tail = (mailbox->head + mailbox->count) % mailbox->cap;
        mailbox->ring[tail] = *message;
        mailbox->count++;
        mailbox->line_bytes += lines;
        posted = true;
    }
    pthread_mutex_unlock(&mailbox->lock);
    if (posted)
        wakeup_send(&mailbox->wakeup);
    else
        mem_free(message->text);
    return posted;
}
