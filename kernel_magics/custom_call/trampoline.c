/* Trampolines: addresses that XLA may keep for ever, of code that may be replaced at any time.

   XLA takes a handler once for each target and neither lets it go nor takes another. It is given
   the address of a slot here, and the slot passes each call on. The slot answers for the version,
   too, so that an older host takes handlers that were compiled with newer headers.

   The structs are the beginnings of those in `xla/ffi/api/c_api.h`, which only grow at their ends;
   the tests compare them with the header. Needs C11 and POSIX, and nothing else. */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef struct { size_t struct_size; void *extension_start; int major, minor; } km_version;
typedef struct km_extension { size_t struct_size; int type; struct km_extension *next; } km_extension;
typedef struct { size_t struct_size; km_version version; uint32_t traits; } km_metadata;
typedef struct { km_extension base; km_metadata *metadata; } km_metadata_extension;
typedef struct {
  size_t struct_size; void *extension_start; const char *message; int code;
} km_error_create;
typedef struct {
  size_t struct_size; void *extension_start; void *error; const char *message; int code;
} km_error_message;
typedef struct {
  size_t struct_size; void *extension_start; km_version version; const void *internal_api;
  void *(*create_error)(km_error_create *);
  void (*read_error)(km_error_message *);
} km_api;
typedef struct {
  size_t struct_size; km_extension *extension_start; const km_api *api; void *context; int stage;
} km_frame;
typedef void *km_handler(km_frame *);

enum { KM_SLOTS = 1024, KM_NAME = 256, KM_TEXT = 4096, KM_METADATA = 1, KM_FAILED_PRECONDITION = 9 };
/* One call in this many is timed once there have been as many: reading the clock takes 40 ns. */
enum { KM_TIMED = 16 };

typedef struct {
  _Atomic(km_handler *) handler;
  atomic_llong calls, timed, ns, errors;
  atomic_flag writing;
  char name[KM_NAME];
  char error[KM_TEXT];
} km_slot;

static km_slot slots[KM_SLOTS];
static atomic_int claimed;

static int64_t now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static void write_text(km_slot *slot, char *to, size_t room, const char *text) {
  while (atomic_flag_test_and_set_explicit(&slot->writing, memory_order_acquire)) {}
  strncpy(to, text ? text : "", room - 1);
  to[room - 1] = 0;
  atomic_flag_clear_explicit(&slot->writing, memory_order_release);
}

static void *missing(km_slot *slot, km_frame *frame) {
  char text[KM_NAME + 128];
  strcpy(text, "the custom call `");
  strncat(text, slot->name, KM_NAME - 1);
  strcat(text, "` has no handler here any more; register one and call again");
  write_text(slot, slot->error, KM_TEXT, text);
  km_error_create wanted = {offsetof(km_error_create, code) + sizeof(int), 0, text,
                            KM_FAILED_PRECONDITION};
  return frame->api->create_error(&wanted);
}

static void note_error(km_slot *slot, km_frame *frame, void *error) {
  km_error_message asked = {sizeof asked, 0, error, 0, 0};
  frame->api->read_error(&asked);
  write_text(slot, slot->error, KM_TEXT, asked.message);
}

static void *dispatch(km_slot *slot, km_frame *frame) {
  for (km_extension *e = frame->extension_start; e; e = e->next) {
    if (e->type != KM_METADATA) continue;
    km_metadata *metadata = ((km_metadata_extension *)e)->metadata;
    metadata->version.major = frame->api->version.major;
    metadata->version.minor = frame->api->version.minor;
    metadata->traits = 0;
    return 0;
  }
  km_handler *handler = atomic_load_explicit(&slot->handler, memory_order_acquire);
  long long count = atomic_fetch_add_explicit(&slot->calls, 1, memory_order_relaxed);
  void *error;
  if (!handler) {
    error = missing(slot, frame);
    atomic_fetch_add_explicit(&slot->errors, 1, memory_order_relaxed);
    return error;
  }
  if (count < KM_TIMED || count % KM_TIMED == 0) {
    int64_t began = now_ns();
    error = handler(frame);
    atomic_fetch_add_explicit(&slot->ns, now_ns() - began, memory_order_relaxed);
    atomic_fetch_add_explicit(&slot->timed, 1, memory_order_relaxed);
  } else {
    error = handler(frame);
  }
  if (error) {
    note_error(slot, frame, error);
    atomic_fetch_add_explicit(&slot->errors, 1, memory_order_relaxed);
  }
  return error;
}

#define ONE(n) static void *slot_##n(km_frame *frame) { return dispatch(&slots[0x##n], frame); }
#define SIXTEEN(M, n) M(n##0) M(n##1) M(n##2) M(n##3) M(n##4) M(n##5) M(n##6) M(n##7) \
  M(n##8) M(n##9) M(n##a) M(n##b) M(n##c) M(n##d) M(n##e) M(n##f)
#define ROW(M, n) SIXTEEN(M, n##0) SIXTEEN(M, n##1) SIXTEEN(M, n##2) SIXTEEN(M, n##3) \
  SIXTEEN(M, n##4) SIXTEEN(M, n##5) SIXTEEN(M, n##6) SIXTEEN(M, n##7) \
  SIXTEEN(M, n##8) SIXTEEN(M, n##9) SIXTEEN(M, n##a) SIXTEEN(M, n##b) \
  SIXTEEN(M, n##c) SIXTEEN(M, n##d) SIXTEEN(M, n##e) SIXTEEN(M, n##f)
#define ALL(M) ROW(M, 0) ROW(M, 1) ROW(M, 2) ROW(M, 3)
#define ADDRESS(n) slot_##n,
ALL(ONE)
static km_handler *const addresses[KM_SLOTS] = {ALL(ADDRESS)};

#define EXPORTED __attribute__((visibility("default")))

/* Rises when what is below changes. */
EXPORTED int km_revision(void) { return 1; }

/* A slot for a target, -1 where none is left. Slots are never given back. */
EXPORTED int km_claim(const char *name) {
  int slot = atomic_fetch_add(&claimed, 1);
  if (slot >= KM_SLOTS) return -1;
  write_text(&slots[slot], slots[slot].name, KM_NAME, name);
  return slot;
}

EXPORTED void *km_address(int slot) { return (void *)addresses[slot]; }

EXPORTED void km_switch(int slot, void *handler) {
  atomic_store_explicit(&slots[slot].handler, (km_handler *)handler, memory_order_release);
}

/* Calls, calls that were timed, their nanoseconds, calls that failed. */
EXPORTED void km_counts(int slot, int64_t *to) {
  to[0] = atomic_load(&slots[slot].calls);
  to[1] = atomic_load(&slots[slot].timed);
  to[2] = atomic_load(&slots[slot].ns);
  to[3] = atomic_load(&slots[slot].errors);
}

/* The text of the last error, into KM_TEXT bytes. */
EXPORTED void km_last_error(int slot, char *to) {
  write_text(&slots[slot], to, KM_TEXT, slots[slot].error);
}
