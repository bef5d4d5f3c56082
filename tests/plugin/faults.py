"""Small plugins in C, each with one fault."""

import shutil
import subprocess
from pathlib import Path

import pytest

TABLE = """
#include <stddef.h>
#include <string.h>
typedef struct { size_t size; void* extension; size_t version_size; void* more; int major, minor;
                 void* functions[139]; } Api;
static Api api;
static Api* table(int major, int minor) {
  memset(&api, 0, sizeof api);
  api.size = sizeof api; api.version_size = 24; api.major = major; api.minor = minor;
  return &api;
}
"""
# The functions of the table begin with Error_Destroy, Error_Message, Error_GetCode,
# Plugin_Initialize; each takes the address of a structure.
REFUSES = (
    TABLE
    + """
static int error;
typedef struct { size_t size; void* extension; void* error; const char* text; size_t length; } Message;
typedef struct { size_t size; void* extension; void* error; int code; } Code;
static void* destroy(void* args) { return NULL; }
static void* message(Message* args) { args->text = WORDS; args->length = strlen(WORDS); return NULL; }
static void* code(Code* args) { args->code = 9; return NULL; }
static void* initialize(void* args) { return &error; }
const void* GetPjrtApi(void) {
  table(0, 90);
  for (int i = 0; i < 139; i++) api.functions[i] = destroy;
  api.functions[1] = message; api.functions[2] = code;
  api.functions[3] = initialize;
  return &api;
}
"""
)

SOURCES = {
    "no_entry": "int x;",
    "null": "const void* GetPjrtApi(void) { return 0; }",
    "aborts": "#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { abort(); }\n"
    "const void* GetPjrtApi(void) { return 0; }",
    "exits": "#include <unistd.h>\n__attribute__((constructor)) static void f(void) { _exit(3); }\n"
    "const void* GetPjrtApi(void) { return 0; }",
    "hangs": "#include <unistd.h>\nconst void* GetPjrtApi(void) { for (;;) pause(); }",
    "zeroed": TABLE + "const void* GetPjrtApi(void) { return table(0, 90); }",
    "other_major": TABLE + "const void* GetPjrtApi(void) { return table(99, 1); }",
    "undefined": "extern int nowhere_to_be_found(void);\n"
    "const void* GetPjrtApi(void) { return (void*)(long)nowhere_to_be_found(); }",
    "no_device": f'#define WORDS "No visible GPU devices."\n{REFUSES}',
    "refuses": f'#define WORDS "The licence has expired"\n{REFUSES}',
}


def compiler() -> str:
    """A C compiler, or the test is skipped."""
    found = shutil.which("cc") or shutil.which("gcc")
    if found is None:
        pytest.skip("no C compiler to build plugins with")
    return found


def build(folder: Path, name: str, *flags: str, text: str | None = None) -> Path:
    """Compiles a plugin; `text` replaces the source of that name."""
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(SOURCES[name] if text is None else text)
    command = [compiler(), "-shared", "-fPIC", "-Wl,-z,now", str(source), "-o", str(library)]
    subprocess.run([*command, *flags], check=True)
    return library


def with_missing_library(folder: Path) -> Path:
    """A plugin that needs a library which is not there any more."""
    gone = build(folder, "gone", text="int gone(void) { return 1; }")
    gone = gone.rename(folder / "libgone_for_good.so")
    text = "extern int gone(void);\nconst void* GetPjrtApi(void) { return (void*)(long)gone(); }"
    made = build(folder, "needs", f"-L{folder}", "-l:libgone_for_good.so", text=text)
    gone.unlink()
    return made
