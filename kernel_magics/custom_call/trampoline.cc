/* Trampolines: addresses that XLA may keep for ever, of code that may be replaced at any time.

   XLA takes a handler once for each target and neither lets it go nor takes another. It is given
   the address of a slot here, and the slot passes each call on. The slot answers for the version,
   too, so that an older host takes handlers that were compiled with newer headers.

   C++ for one reason: an exception that leaves a handler ends the process on plugins that were
   built without exceptions, and nothing but C++ can catch it.

   The structs are the beginnings of those in `xla/ffi/api/c_api.h`, which only grow at their ends;
   the tests compare them with the header. Needs C++11 and POSIX, and nothing else. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <atomic>
#include <exception>

typedef struct { size_t struct_size; void *extension_start; int major, minor; } km_version;
struct km_extension { size_t struct_size; int type; km_extension *next; };
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

enum { KM_SLOTS = 1024, KM_NAME = 256, KM_TEXT = 4096, KM_METADATA = 1 };
enum { KM_UNKNOWN = 2, KM_FAILED_PRECONDITION = 9 };
/* One call in this many is timed once there have been as many: reading the clock takes 40 ns. */
enum { KM_TIMED = 16 };

struct km_slot {
  std::atomic<km_handler *> handler;
  std::atomic<int64_t> calls, timed, ns, errors;
  std::atomic_flag writing;
  char name[KM_NAME];
  char error[KM_TEXT];
};

static km_slot slots[KM_SLOTS];
static std::atomic<int> claimed;

static int64_t now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

static void write_text(km_slot *slot, char *to, size_t room, const char *text) {
  while (slot->writing.test_and_set(std::memory_order_acquire)) {}
  strncpy(to, text ? text : "", room - 1);
  to[room - 1] = 0;
  slot->writing.clear(std::memory_order_release);
}

static void *fail(km_frame *frame, const char *text, int code) {
  km_error_create wanted = {offsetof(km_error_create, code) + sizeof(int), 0, text, code};
  return frame->api->create_error(&wanted);
}

__attribute__((noinline, cold)) static void *missing(km_slot *slot, km_frame *frame) {
  char text[KM_NAME + 128] = "the custom call `";
  strncat(text, slot->name, KM_NAME);
  strcat(text, "` has no handler here any more; register one and call again");
  return fail(frame, text, KM_FAILED_PRECONDITION);
}

/* By itself: its text would be cleared in each call that throws nothing. */
__attribute__((noinline, cold)) static void *thrown(km_frame *frame, const char *what) {
  char text[KM_TEXT] = "the handler threw a C++ exception";
  if (what) {
    strcat(text, ": ");
    strncat(text, what, KM_TEXT - 64);
  }
  return fail(frame, text, KM_UNKNOWN);
}

static void *run(km_handler *handler, km_slot *slot, km_frame *frame) {
  if (!handler) return missing(slot, frame);
  try {
    return handler(frame);
  } catch (const std::exception &error) {
    return thrown(frame, error.what());
  } catch (...) {
    return thrown(frame, nullptr);
  }
}

static void *timed(km_handler *handler, km_slot *slot, km_frame *frame) {
  int64_t began = now_ns();
  void *error = run(handler, slot, frame);
  slot->ns.fetch_add(now_ns() - began, std::memory_order_relaxed);
  slot->timed.fetch_add(1, std::memory_order_relaxed);
  return error;
}

static bool answer_metadata(km_frame *frame) {
  for (km_extension *e = frame->extension_start; e; e = e->next) {
    if (e->type != KM_METADATA) continue;
    km_metadata *metadata = reinterpret_cast<km_metadata_extension *>(e)->metadata;
    metadata->version.major = frame->api->version.major;
    metadata->version.minor = frame->api->version.minor;
    metadata->traits = 0;
    return true;
  }
  return false;
}

static void *dispatch(km_slot *slot, km_frame *frame) {
  if (answer_metadata(frame)) return nullptr;
  km_handler *handler = slot->handler.load(std::memory_order_acquire);
  int64_t count = slot->calls.fetch_add(1, std::memory_order_relaxed);
  bool is_timed = handler && (count < KM_TIMED || count % KM_TIMED == 0);
  void *error = is_timed ? timed(handler, slot, frame) : run(handler, slot, frame);
  if (error) {
    km_error_message asked = {sizeof asked, 0, error, 0, 0};
    frame->api->read_error(&asked);
    write_text(slot, slot->error, KM_TEXT, asked.message);
    slot->errors.fetch_add(1, std::memory_order_relaxed);
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

#define EXPORTED extern "C" __attribute__((visibility("default")))

/* Rises when what is below changes. */
EXPORTED int km_revision(void) { return 1; }

/* A slot for a target, -1 where none is left. Slots are never given back. */
EXPORTED int km_claim(const char *name) {
  int slot = claimed.fetch_add(1);
  if (slot >= KM_SLOTS) return -1;
  write_text(&slots[slot], slots[slot].name, KM_NAME, name);
  return slot;
}

EXPORTED void *km_address(int slot) { return reinterpret_cast<void *>(addresses[slot]); }

EXPORTED void km_switch(int slot, void *handler) {
  slots[slot].handler.store(reinterpret_cast<km_handler *>(handler), std::memory_order_release);
}

/* Calls, calls that were timed, their nanoseconds, calls that failed. */
EXPORTED void km_counts(int slot, int64_t *to) {
  to[0] = slots[slot].calls;
  to[1] = slots[slot].timed;
  to[2] = slots[slot].ns;
  to[3] = slots[slot].errors;
}

/* The text of the last error, into KM_TEXT bytes. */
EXPORTED void km_last_error(int slot, char *to) {
  write_text(&slots[slot], to, KM_TEXT, slots[slot].error);
}
