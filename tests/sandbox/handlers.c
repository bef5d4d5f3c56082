// Handlers of custom calls, good and bad. The names say what they do.
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "xla/ffi/api/c_api.h"

static bool is_probe(XLA_FFI_CallFrame* frame) {
  if (!frame->extension_start || frame->extension_start->type != XLA_FFI_Extension_Metadata) return false;
  XLA_FFI_Metadata* metadata = ((XLA_FFI_Metadata_Extension*)frame->extension_start)->metadata;
  metadata->api_version.major_version = 0;
  metadata->api_version.minor_version = 1;
  return true;
}

// The attribute `k` (f32) times the first argument.
XLA_FFI_Error* scale(XLA_FFI_CallFrame* frame) {
  if (is_probe(frame)) return 0;
  float k = 1;
  for (int64_t i = 0; i < frame->attrs.size; i++) {
    XLA_FFI_Scalar* scalar = (XLA_FFI_Scalar*)frame->attrs.attrs[i];
    if (frame->attrs.types[i] == XLA_FFI_AttrType_SCALAR && scalar->dtype == XLA_FFI_DataType_F32) k = *(float*)scalar->value;
  }
  XLA_FFI_Buffer* from = (XLA_FFI_Buffer*)frame->args.args[0];
  XLA_FFI_Buffer* to = (XLA_FFI_Buffer*)frame->rets.rets[0];
  int64_t count = 1;
  for (int64_t i = 0; i < from->rank; i++) count *= from->dims[i];
  for (int64_t i = 0; i < count; i++) ((float*)to->data)[i] = k * ((float*)from->data)[i];
  puts("printed by a handler");
  return 0;
}

XLA_FFI_Error* fault(XLA_FFI_CallFrame* frame) {
  if (is_probe(frame)) return 0;
  raise(SIGSEGV);
  return 0;
}

XLA_FFI_Error* hang(XLA_FFI_CallFrame* frame) {
  if (is_probe(frame)) return 0;
  for (;;) pause();
}

XLA_FFI_Error* refuse(XLA_FFI_CallFrame* frame) {
  if (is_probe(frame)) return 0;
  XLA_FFI_Error_Create_Args args = {XLA_FFI_Error_Create_Args_STRUCT_SIZE, 0, "only on Sundays", XLA_FFI_Error_Code_UNIMPLEMENTED};
  return frame->api->XLA_FFI_Error_Create(&args);
}

// No handler at all.
int add(int* a, int* b) { return *a + b[1 << 20]; }
